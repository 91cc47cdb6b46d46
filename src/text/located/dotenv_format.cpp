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

bool is_of_name(char c) noexcept { return ascii::is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-'; }

bool is_quote(char c) noexcept { return c == '"' || c == '\'' || c == '`'; }

class dotenv_lines {
 public:
  explicit dotenv_lines(reading& from) : from_(from), text_(from.text()), table_(from.at(0, text_.size())) {}

  result<node> all() {
    for (std::size_t begin = 0; begin < text_.size();) {
      const auto line = trimmed(text_, line_from(text_, begin));
      begin = behind(text_, line);
      if (line.empty() || text_[line.begin] == '#') continue;
      HONDANA_TRY(auto end, take(line));
      if (end > line.end) begin = behind(text_, {end, end});
    }
    return table_.take();
  }

 private:
  /// The name before `=`; moves `at` past the `=`. No value if there is no name or no `=`.
  [[nodiscard]] std::optional<stretch> name_in(stretch line, std::size_t& at) const {
    constexpr std::string_view exported = "export";
    at = line.begin;
    const auto after = line.begin + exported.size();
    if (line.of(text_).starts_with(exported) && after < line.end && is_blank(text_[after])) {
      auto begin = after;
      while (begin < line.end && is_blank(text_[begin])) ++begin;
      // `export = 1` sets a variable named export.
      if (begin < line.end && is_of_name(text_[begin])) at = begin;
    }
    stretch name{at, at};
    while (name.end < line.end && is_of_name(text_[name.end])) ++name.end;
    if (name.empty()) return std::nullopt;
    at = name.end;
    if (at < line.end && text_[at] == ':') {
      ++at;
      // `NAME:value` is not an assignment.
      return at < text_.size() && (at >= line.end || is_blank(text_[at])) ? std::optional(name) : std::nullopt;
    }
    while (at < line.end && is_blank(text_[at])) ++at;
    if (at >= line.end || text_[at] != '=') return std::nullopt;
    ++at;
    return name;
  }

  /// Whether only blanks and a comment follow until the end of the line.
  [[nodiscard]] bool ends_at(std::size_t at) const noexcept {
    while (at < text_.size() && is_blank(text_[at])) ++at;
    return at >= text_.size() || text_[at] == '\n' || text_[at] == '#';
  }

  /// The position of the first quote after `begin` without a backslash before it; the end of the text if there is none.
  [[nodiscard]] std::size_t closing_of(std::size_t begin) {
    auto& known = closings_[text_[begin]];
    // Cached, so that the same text is not scanned again for each line with an opening quote.
    if (begin >= known.begin && begin + 1 < known.end) return known.end;
    auto at = begin + 1;
    while (at < text_.size() && (text_[at] != text_[begin] || (text_[at - 1] == '\\' && at - 1 > begin))) ++at;
    known = {begin, at};
    return at;
  }

  /// The position after the quote at `closing`, if nothing follows it. Otherwise the position after an earlier escaped quote
  /// that ends the same line. 0: neither exists.
  [[nodiscard]] std::size_t end_of_quoted(stretch value, std::size_t closing) const {
    if (closing < text_.size() && ends_at(closing + 1)) return closing + 1;
    const auto last = value.of(text_).find_last_not_of(" \t");
    if (last == std::string_view::npos || last < 2 || value.begin + last >= closing) return 0;
    const auto at = value.begin + last;
    return text_[at] == text_[value.begin] ? at + 1 : 0;
  }

  result<std::size_t> take(stretch line) {
    std::size_t at = 0;
    const auto name = name_in(line, at);
    if (!name) {
      from_.remark(line.begin, "not a comment or NAME=value; ignored");
      return line.end;
    }
    auto value = trimmed(text_, {at, line.end});
    bool is_quoted = false;
    if (!value.empty() && is_quote(text_[value.begin])) {
      const auto closing = closing_of(value.begin);
      const auto end = end_of_quoted(value, closing);
      is_quoted = end != 0;
      if (is_quoted) {
        value.end = end;
      } else if (closing >= value.end) {
        return from_.wrong(value.begin, "the opening quote of the value of " + shown(name->of(text_)) +
                                            " is never closed; is the file half-written?");
      } else {
        from_.remark(value.begin, "unexpected text after the closing quote; the quotes are read as part of the value");
      }
    }
    if (!is_quoted) value = unquoted(value);
    HONDANA_TRY(from_.count(line.begin));
    put(*name, value);
    return value.end;
  }

  /// The value up to a comment. A `#` begins a comment anywhere.
  [[nodiscard]] stretch unquoted(stretch value) const {
    const auto comment = value.of(text_).find('#');
    if (comment != std::string_view::npos) value.end = value.begin + comment;
    return trimmed(text_, value);
  }

  void put(stretch name, stretch value) {
    const auto written = value.of(text_);
    auto meant = normalised(written);
    if (!written.empty() && is_quote(written.front())) {
      if (written.size() > 1 && written.back() == written.front()) meant = meant.substr(1, meant.size() - 2);
      if (written.front() == '"') meant = unescaped(meant);
    }
    const auto key = name.of(text_);
    auto made = text_node(std::move(meant), from_.at(value.begin, value.end));
    if (!table_.put(std::string(key), from_.at(name.begin, name.end), std::move(made))) from_.remark_duplicate(name.begin, key);
  }

  /// The text with CR LF and CR replaced by LF.
  static std::string normalised(std::string_view written) {
    std::string out;
    out.reserve(written.size());
    for (std::size_t i = 0; i < written.size(); ++i) {
      if (written[i] != '\r') {
        out += written[i];
      } else if (i + 1 == written.size() || written[i + 1] != '\n') {
        out += '\n';
      }
    }
    return out;
  }

  /// Decodes `\n` and `\r`, the only escapes.
  static std::string unescaped(const std::string& text) {
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

  reading& from_;
  std::string_view text_;
  growing_table table_;
  std::map<char, stretch> closings_;  // by quote: the start of the last scan and the closing quote that it found
};

}  // namespace

result<node> read_dotenv(reading& from) { return dotenv_lines(from).all(); }

}  // namespace hondana::located
