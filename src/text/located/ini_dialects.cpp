/// Reads the formats that look like INI but have a specification of their own: git configuration, EditorConfig, desktop entries
/// and files of Python's configparser.

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/ascii/ascii.hpp"
#include "text/located/format_reader.hpp"

namespace hondana::located {
namespace {

/// A root table with sections under construction. A section that occurs again continues the earlier one.
class section_builder {
 public:
  explicit section_builder(parse_context& context) : context_(context) {
    tables_.emplace_back(context.range_of(0, context.text().size()));
  }

  /// Begins the section `key`, whose name is at `name` and whose header is at `header`.
  result<void> begin_section(const std::string& key, text_span name, text_span header, bool warns_again) {
    if (const auto known = numbers_.find(key); known != numbers_.end()) {
      current_ = known->second;
      if (warns_again) context_.warn(header.begin, "the section " + display_key(key) + " is repeated; both are merged");
      return {};
    }
    HONDANA_TRY(context_.count_values(header.begin));
    const auto range = context_.range_of(name.begin, name.end);
    if (!tables_.front().put(key, range, empty_node(node_kind::table, range))) context_.warn_duplicate(header.begin, key);
    current_ = tables_.size();
    numbers_[key] = current_;
    tables_.emplace_back(context_.range_of(header.begin, header.end));
    return {};
  }

  [[nodiscard]] bool is_in_section() const noexcept { return current_ != 0; }
  [[nodiscard]] table_builder& current() noexcept { return tables_[current_]; }

  node release() {
    for (auto& entry : tables_.front().table().members) {
      const auto number = numbers_.find(entry.key);
      if (number != numbers_.end()) entry.value = tables_[number->second].release();
    }
    return tables_.front().release();
  }

 private:
  parse_context& context_;
  std::vector<table_builder> tables_;  // the first is the root
  std::unordered_map<std::string, std::size_t> numbers_;
  std::size_t current_ = 0;
};

/// Git configuration. Names of sections and variables are case-insensitive; the first spelling of a variable is used. A
/// variable that occurs again becomes a list. One without `=` is true. Source: git-config(1), SYNTAX.
class gitconfig_reader {
 public:
  explicit gitconfig_reader(parse_context& context) : context_(context), text_(context.text()), sections_(context) {}

  result<node> read() {
    while (position_ < text_.size()) {
      const char c = text_[position_];
      if (c == '#' || c == ';') {
        position_ = std::min(text_.find('\n', position_), text_.size());
      } else if (c == '\n' || is_blank(c)) {
        ++position_;
      } else if (c == '[') {
        HONDANA_TRY(read_section());
      } else {
        HONDANA_TRY(read_variable());
      }
    }
    return sections_.release();
  }

 private:
  static bool is_name_character(char c) noexcept { return ascii::is_letter(c) || ascii::is_digit(c) || c == '-'; }
  [[nodiscard]] char peek() const noexcept { return position_ < text_.size() ? text_[position_] : '\n'; }
  void skip_blanks() noexcept {
    while (is_blank(peek())) ++position_;
  }
  [[nodiscard]] bool is_at_end_of_line() const noexcept {
    return peek() == '\n' || text_.substr(position_).starts_with("\r\n");
  }

  result<void> read_section() {
    const auto header = position_++;
    text_span name{position_, position_};
    while (is_name_character(peek()) || peek() == '.') ++position_;
    name.end = position_;
    auto key = ascii::to_lower(name.slice(text_));
    if (!name.empty() && is_blank(peek())) {
      skip_blanks();
      const auto quote = position_;
      if (peek() != '"') return context_.error_at(header, "the name of a section needs quotes after its blank");
      do {
        if (peek() == '\\') ++position_;
        if (peek() == '\n') return context_.error_at(header, "the name of a section is never closed");
        ++position_;
      } while (peek() != '"');
      name.end = ++position_;
      (key += ' ') += text_.substr(quote, name.end - quote);
    }
    if (name.empty() || peek() != ']') return context_.error_at(header, "a section without a name or a closing bracket");
    ++position_;
    return sections_.begin_section(key, name, {header, position_}, false);
  }

  result<void> read_variable() {
    text_span name{position_, position_};
    while (is_name_character(peek())) ++position_;
    name.end = position_;
    if (name.empty() || !ascii::is_letter(text_[name.begin]) || !sections_.is_in_section()) {
      return context_.error_at(name.begin, "not a comment, a section or a variable of a section");
    }
    HONDANA_TRY(context_.count_values(name.begin));
    while (peek() == ' ' || peek() == '\t') ++position_;
    if (is_at_end_of_line()) {
      return add_value(name, boolean_node(true, context_.range_of(name.end, name.end)));
    }
    if (peek() != '=') return context_.error_at(name.begin, "a variable without \"=\" is followed by text");
    ++position_;
    HONDANA_TRY(auto value, read_value());
    return add_value(name, std::move(value));
  }

  /// Reads until the end of a line that does not end with a backslash.
  result<node> read_value() {
    while (!is_at_end_of_line() && is_blank(peek())) ++position_;
    text_span span{position_, position_};
    std::string value;
    std::size_t blank_begin = 0;  // in the value: of the blanks at its end so far
    bool is_quoted = false;
    for (; !is_at_end_of_line(); ++position_) {
      char c = peek();
      if (!is_quoted && (c == '#' || c == ';')) {
        position_ = std::min(text_.find('\n', position_), text_.size());
        break;
      }
      if (!is_quoted && is_blank(c)) {
        value += c;
        continue;
      }
      if (c == '\\') {
        ++position_;
        if (is_at_end_of_line()) {
          position_ = std::min(text_.find('\n', position_), text_.size());
          blank_begin = value.size();
          if (position_ == text_.size()) break;
          continue;
        }
        c = decode_escape(peek());
        if (c == '\0') return context_.error_at(position_, "an escape that git does not know");
        value += c;
      } else if (c == '"') {
        is_quoted = !is_quoted;
      } else {
        value += c;
      }
      blank_begin = value.size();
      span.end = position_ + 1;
    }
    if (is_quoted) return context_.error_at(span.begin, "the opening quote of a value is never closed");
    value.resize(blank_begin);
    return text_node(std::move(value), context_.range_of(span.begin, span.end));
  }

  static char decode_escape(char c) noexcept {
    constexpr std::string_view names = "\\\"ntb";
    const auto index = names.find(c);
    return index == std::string_view::npos ? '\0' : "\\\"\n\t\b"[index];
  }

  result<void> add_value(text_span span, node value) {
    auto& section = sections_.current();
    const auto range = context_.range_of(span.begin, span.end);
    const auto lower = ascii::to_lower(span.slice(text_));
    auto& spelling = spellings_[std::to_string(section.table().range.begin) + '.' + lower];
    if (spelling.empty()) spelling = span.slice(text_);
    auto* existing = section.find(spelling);
    if (existing == nullptr) {
      section.put(spelling, range, std::move(value));
      return {};
    }
    if (existing->kind != node_kind::list) {
      HONDANA_TRY(context_.count_values(span.begin));
      auto list = empty_node(node_kind::list, existing->range);
      list.items.push_back(std::move(*existing));
      *existing = std::move(list);
    }
    existing->range.end = value.range.end;
    existing->items.push_back(std::move(value));
    return {};
  }

  parse_context& context_;
  std::string_view text_;
  section_builder sections_;
  std::size_t position_ = 0;
  std::unordered_map<std::string, std::string> spellings_;  // of variables, by the position of their section and lower case
};

/// What distinguishes formats in which each line is a comment, a header or KEY=VALUE.
struct line_rules {
  std::string_view comments;        ///< Characters that begin a comment at the beginning of a line.
  bool allows_keys_before = false;  ///< Before the first section.
  bool has_lower_case_keys = false;
  bool has_escapes = false;  ///< `\s`, `\n`, `\t`, `\r` and `\\`.
};

class line_reader {
 public:
  line_reader(parse_context& context, const line_rules& rules)
      : context_(context), text_(context.text()), rules_(rules), sections_(context) {}

  result<node> read() {
    for (std::size_t begin = 0; begin < text_.size();) {
      const auto raw_line = line_from(text_, begin);
      begin = next_line_begin(text_, raw_line);
      const auto line = trim(text_, raw_line);
      if (line.empty() || rules_.comments.find(text_[line.begin]) != std::string_view::npos) continue;
      HONDANA_TRY(text_[line.begin] == '[' ? read_section(line) : read_key(line));
    }
    return sections_.release();
  }

 private:
  result<void> read_section(text_span line) {
    const auto closing = line.slice(text_).rfind(']');
    if (closing == std::string_view::npos) return context_.error_at(line.begin, "a section without a closing bracket");
    const text_span header{line.begin, line.begin + closing + 1};
    if (header.end != line.end) context_.warn(header.end, "text after the name of a section is ignored");
    const auto name = trim(text_, {header.begin + 1, header.end - 1});
    return sections_.begin_section(std::string(name.slice(text_)), name, header, true);
  }

  result<void> read_key(text_span line) {
    const auto equals = line.slice(text_).find('=');
    if (equals == std::string_view::npos || equals == 0) {
      context_.warn(line.begin, "not a comment, a section or a key with \"=\"; ignored");
      return {};
    }
    if (!rules_.allows_keys_before && !sections_.is_in_section()) {
      context_.warn(line.begin, "a key before the first section; ignored");
      return {};
    }
    HONDANA_TRY(context_.count_values(line.begin));
    const auto span = trim(text_, {line.begin, line.begin + equals});
    const auto value = trim(text_, {line.begin + equals + 1, line.end});
    auto key = rules_.has_lower_case_keys ? ascii::to_lower(span.slice(text_)) : std::string(span.slice(text_));
    auto text = rules_.has_escapes ? decode(value.slice(text_)) : std::string(value.slice(text_));
    auto leaf = text_node(std::move(text), context_.range_of(value.begin, value.end));
    if (!sections_.current().put(key, context_.range_of(span.begin, span.end), std::move(leaf)))
      context_.warn_duplicate(span.begin, key);
    return {};
  }

  static std::string decode(std::string_view raw) {
    constexpr std::string_view names = "sntr\\";
    std::string out;
    for (std::size_t i = 0; i < raw.size(); ++i) {
      const auto index = raw[i] == '\\' && i + 1 < raw.size() ? names.find(raw[i + 1]) : std::string_view::npos;
      out += index == std::string_view::npos ? raw[i] : " \n\t\r\\"[index];
      if (index != std::string_view::npos) ++i;
    }
    return out;
  }

  parse_context& context_;
  std::string_view text_;
  line_rules rules_;
  section_builder sections_;
};

/// The default format of Python's configparser: no comments after values, `=` or `:` after keys, and values that continue on
/// lines with deeper indentation than their key, each after a line ending.
/// Source: docs.python.org/3/library/configparser.html, "Supported INI File Structure".
class configparser_reader {
 public:
  explicit configparser_reader(parse_context& context) : context_(context), text_(context.text()), sections_(context) {}

  result<node> read() {
    for (std::size_t begin = 0; begin < text_.size();) {
      const auto raw_line = line_from(text_, begin);
      begin = next_line_begin(text_, raw_line);
      const auto line = trim(text_, raw_line);
      if (!line.empty() && (text_[line.begin] == '#' || text_[line.begin] == ';')) continue;
      if (line.empty()) {
        if (open_) ++open_->blank_lines;
        continue;
      }
      const auto indent = line.begin - raw_line.begin;
      if (open_ && indent > open_->indent) {
        add_line(line);
        continue;
      }
      finish_value();
      HONDANA_TRY(text_[line.begin] == '[' ? read_section(line) : read_key(line, indent));
    }
    finish_value();
    return sections_.release();
  }

 private:
  /// A key whose value may continue on the next line.
  struct open_key {
    text_span key;
    std::size_t indent = 0;
    text_span value;
    std::string text{};
    std::size_t blank_lines = 0;  ///< At the end of the value so far.
  };

  void add_line(text_span line) {
    if (open_->value.empty()) open_->value.begin = line.begin;
    open_->value.end = line.end;
    open_->text.append(open_->blank_lines + 1, '\n').append(line.slice(text_));
    open_->blank_lines = 0;
  }

  void finish_value() {
    if (!open_) return;
    const auto finished = std::move(*open_);
    open_.reset();
    const auto key = finished.key.slice(text_);
    auto leaf = text_node(finished.text, context_.range_of(finished.value.begin, finished.value.end));
    if (!sections_.current().put(std::string(key), context_.range_of(finished.key.begin, finished.key.end), std::move(leaf)))
      context_.warn_duplicate(finished.key.begin, key);
  }

  result<void> read_section(text_span line) {
    const auto closing = line.slice(text_).rfind(']');
    if (closing == std::string_view::npos || closing == 1)
      return context_.error_at(line.begin, "a section without a name or a closing bracket");
    const text_span name{line.begin + 1, line.begin + closing};
    if (name.end + 1 != line.end) context_.warn(name.end + 1, "text after the name of a section is ignored");
    return sections_.begin_section(std::string(name.slice(text_)), name, {line.begin, name.end + 1}, true);
  }

  result<void> read_key(text_span line, std::size_t indent) {
    if (!sections_.is_in_section()) return context_.error_at(line.begin, "a key before the first section");
    const auto separator = line.slice(text_).find_first_of("=:");
    if (separator == std::string_view::npos) return context_.error_at(line.begin, "a key without \"=\" or \":\"");
    if (separator == 0) return context_.error_at(line.begin, "a value without a key");
    HONDANA_TRY(context_.count_values(line.begin));
    const auto value = trim(text_, {line.begin + separator + 1, line.end});
    open_ = open_key{trim(text_, {line.begin, line.begin + separator}), indent, value, std::string(value.slice(text_))};
    return {};
  }

  parse_context& context_;
  std::string_view text_;
  section_builder sections_;
  std::optional<open_key> open_;
};

}  // namespace

result<node> read_gitconfig(parse_context& context) { return gitconfig_reader(context).read(); }

// Source: spec.editorconfig.org, "File Format" (0.15 and later).
result<node> read_editorconfig(parse_context& context) {
  return line_reader(context, {.comments = "#;", .allows_keys_before = true, .has_lower_case_keys = true}).read();
}

// Source: specifications.freedesktop.org/desktop-entry-spec, "Basic format of the file" and "Possible value types".
result<node> read_desktop(parse_context& context) {
  return line_reader(context, {.comments = "#", .has_escapes = true}).read();
}

result<node> read_configparser(parse_context& context) { return configparser_reader(context).read(); }

}  // namespace hondana::located
