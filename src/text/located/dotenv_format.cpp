/// Reads dotenv files.

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ascii/ascii.hpp"
#include "text/located/format_reader.hpp"

namespace hondana::located {
namespace {

bool is_name_character(char c) noexcept {
  return ascii::is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
}

/// The rules of the npm package `dotenv`, or those of Compose.
enum class env_dialect : bool { npm, compose };

class dotenv_reader {
 public:
  dotenv_reader(parse_context& context, env_dialect dialect)
      : context_(context),
        text_(context.text()),
        is_compose_(dialect == env_dialect::compose),
        table_(context.range_of(0, text_.size())) {}

  result<node> read() {
    for (std::size_t begin = 0; begin < text_.size();) {
      const auto line = trim(text_, line_from(text_, begin));
      begin = next_line_begin(text_, line);
      if (line.empty() || text_[line.begin] == '#') continue;
      HONDANA_TRY(auto end, parse_line(line));
      if (end > line.end) begin = next_line_begin(text_, {end, end});
    }
    return table_.release();
  }

 private:
  [[nodiscard]] bool is_quote(char c) const noexcept { return c == '"' || c == '\'' || (c == '`' && !is_compose_); }

  /// The name before `=`; moves `position` past the `=`. No value if there is no name or no `=`.
  [[nodiscard]] std::optional<text_span> parse_name(text_span line, std::size_t& position) const {
    constexpr std::string_view keyword = "export";
    position = line.begin;
    const auto keyword_end = line.begin + keyword.size();
    if (line.slice(text_).starts_with(keyword) && keyword_end < line.end && is_blank(text_[keyword_end])) {
      auto begin = keyword_end;
      while (begin < line.end && is_blank(text_[begin])) ++begin;
      // `export = 1` sets a variable named export.
      if (begin < line.end && is_name_character(text_[begin])) position = begin;
    }
    text_span name{position, position};
    while (name.end < line.end && is_name_character(text_[name.end])) ++name.end;
    if (name.empty()) return std::nullopt;
    position = name.end;
    if (position < line.end && text_[position] == ':') {
      ++position;
      // `NAME:value` is not an assignment.
      return position < text_.size() && (position >= line.end || is_blank(text_[position])) ? std::optional(name)
                                                                                            : std::nullopt;
    }
    while (position < line.end && is_blank(text_[position])) ++position;
    if (position >= line.end || text_[position] != '=') return std::nullopt;
    ++position;
    return name;
  }

  /// Whether only blanks and a comment follow until the end of the line.
  [[nodiscard]] bool is_end_of_line(std::size_t position) const noexcept {
    while (position < text_.size() && is_blank(text_[position])) ++position;
    return position >= text_.size() || text_[position] == '\n' || text_[position] == '#';
  }

  /// The position of the first quote after `begin` without a backslash before it; the end of the text if there is none.
  [[nodiscard]] std::size_t find_closing_quote(std::size_t begin) {
    auto& cached = closing_quotes_[text_[begin]];
    // Cached, so that the same text is not scanned again for each line with an opening quote.
    if (begin >= cached.begin && begin + 1 < cached.end) return cached.end;
    auto position = begin + 1;
    while (position < text_.size() &&
           (text_[position] != text_[begin] || (text_[position - 1] == '\\' && position - 1 > begin)))
      ++position;
    cached = {begin, position};
    return position;
  }

  /// The position after the quote at `closing`, if nothing follows it. Otherwise the position after an earlier escaped quote
  /// that ends the same line. 0: neither exists.
  [[nodiscard]] std::size_t end_of_quoted(text_span value, std::size_t closing) const {
    if (closing < text_.size() && is_end_of_line(closing + 1)) return closing + 1;
    const auto last = value.slice(text_).find_last_not_of(" \t");
    if (last == std::string_view::npos || last < 2 || value.begin + last >= closing) return 0;
    const auto position = value.begin + last;
    return text_[position] == text_[value.begin] ? position + 1 : 0;
  }

  result<std::size_t> parse_line(text_span line) {
    std::size_t position = 0;
    const auto name = parse_name(line, position);
    if (!name) {
      context_.warn(line.begin, "not a comment or NAME=value; ignored");
      return line.end;
    }
    auto value = trim(text_, {position, line.end});
    if (is_compose_) return parse_compose_value(*name, value);
    bool is_quoted = false;
    if (!value.empty() && is_quote(text_[value.begin])) {
      const auto closing = find_closing_quote(value.begin);
      const auto end = end_of_quoted(value, closing);
      is_quoted = end != 0;
      if (is_quoted) {
        value.end = end;
      } else if (closing >= value.end) {
        return context_.error_at(value.begin, "the opening quote of the value of " + display_key(name->slice(text_)) +
                                                  " is never closed; is the file half-written?");
      } else {
        context_.warn(value.begin, "unexpected text after the closing quote; the quotes are read as part of the value");
      }
    }
    if (!is_quoted) value = strip_comment(value);
    HONDANA_TRY(context_.count_values(line.begin));
    add_entry(*name, value);
    return value.end;
  }

  /// Reads a value as Compose does: a comment begins with ` #`, and a backslash escapes a quote. References to other variables
  /// are not expanded. Returns the end of the value.
  /// Source: docs.docker.com/compose/how-tos/environment-variables/variable-interpolation, ".env file syntax".
  result<std::size_t> parse_compose_value(text_span name, text_span value) {
    HONDANA_TRY(context_.count_values(name.begin));
    if (value.empty() || !is_quote(text_[value.begin])) {
      const auto comment = value.slice(text_).find(" #");
      if (comment != std::string_view::npos) value = trim(text_, {value.begin, value.begin + comment});
      put(name, value, std::string(value.slice(text_)));
      return value.end;
    }
    const char quote = text_[value.begin];
    auto closing = value.begin + 1;
    while (closing < text_.size() && text_[closing] != quote) closing += text_[closing] == '\\' ? 2 : 1;
    if (closing >= text_.size()) {
      return context_.error_at(value.begin, "the opening quote of the value of " + display_key(name.slice(text_)) +
                                                " is never closed; is the file half-written?");
    }
    if (!is_end_of_line(closing + 1)) return context_.error_at(closing, "unexpected text after the closing quote");
    value.end = closing + 1;
    put(name, value, unescape_compose(normalize_newlines(text_.substr(value.begin + 1, closing - value.begin - 1)), quote));
    return value.end;
  }

  /// In single quotes, only the quote is escaped.
  static std::string unescape_compose(const std::string& text, char quote) {
    constexpr std::string_view names = "abfnrtv\\\"$";
    constexpr std::string_view characters = "\a\b\f\n\r\t\v\\\"$";
    std::string out;
    out.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
      const char next = text[i] == '\\' && i + 1 < text.size() ? text[i + 1] : '\0';
      const auto index = quote == '"' && next != '\0' ? names.find(next) : std::string_view::npos;
      if (next == quote || index != std::string_view::npos) ++i;
      out += index != std::string_view::npos ? characters[index] : text[i];
    }
    return out;
  }

  /// The value up to a comment. A `#` begins a comment anywhere.
  [[nodiscard]] text_span strip_comment(text_span value) const {
    const auto comment = value.slice(text_).find('#');
    if (comment != std::string_view::npos) value.end = value.begin + comment;
    return trim(text_, value);
  }

  void add_entry(text_span name, text_span value) {
    const auto raw = value.slice(text_);
    auto decoded = normalize_newlines(raw);
    if (!raw.empty() && is_quote(raw.front())) {
      if (raw.size() > 1 && raw.back() == raw.front()) decoded = decoded.substr(1, decoded.size() - 2);
      if (raw.front() == '"') decoded = unescape(decoded);
    }
    put(name, value, std::move(decoded));
  }

  void put(text_span name, text_span value, std::string decoded) {
    const auto key = name.slice(text_);
    auto leaf = text_node(std::move(decoded), context_.range_of(value.begin, value.end));
    if (!table_.put(std::string(key), context_.range_of(name.begin, name.end), std::move(leaf)))
      context_.warn_duplicate(name.begin, key);
  }

  /// The text with CR LF and CR replaced by LF.
  static std::string normalize_newlines(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] != '\r') {
        out += text[i];
      } else if (i + 1 == text.size() || text[i + 1] != '\n') {
        out += '\n';
      }
    }
    return out;
  }

  /// Decodes `\n` and `\r`, the only escapes.
  static std::string unescape(const std::string& text) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
      const char next = text[i] == '\\' && i + 1 < text.size() ? text[i + 1] : '\0';
      if (next == 'n' || next == 'r') {
        out += next == 'n' ? '\n' : '\r';
        ++i;
      } else {
        out += text[i];
      }
    }
    return out;
  }

  parse_context& context_;
  std::string_view text_;
  bool is_compose_;
  table_builder table_;
  std::map<char, text_span> closing_quotes_;  // by quote: the start of the last scan and the closing quote that it found
};

}  // namespace

result<node> read_dotenv(parse_context& context) { return dotenv_reader(context, env_dialect::npm).read(); }

result<node> read_compose_env(parse_context& context) { return dotenv_reader(context, env_dialect::compose).read(); }

}  // namespace hondana::located
