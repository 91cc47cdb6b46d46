/// Reads INI files and systemd units.

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "text/located/format_reader.hpp"

// INI-like files of git, PHP, MySQL, Python's configparser, EditorConfig and desktop entries. These dialects differ, so this
// reader follows the majority.
// * A comment begins with `;` or `#` at the beginning of a line or after a blank.
// * A key without a value is null.
// * `key[]` is a list.
// * A line with deeper indentation than the key before it continues that key's value.

namespace hondana::located {
namespace {

bool begins_comment(char c) noexcept { return c == ';' || c == '#'; }

class ini_reader {
 public:
  explicit ini_reader(parse_context& context) : context_(context), text_(context.text()) {
    tables_.emplace_back(context.range_of(0, text_.size()));
  }

  result<node> read() {
    for (std::size_t begin = 0; begin < text_.size();) {
      const auto raw_line = line_from(text_, begin);
      begin = next_line_begin(text_, raw_line);
      const auto line = trim(text_, raw_line);
      if (line.empty() || begins_comment(text_[line.begin])) continue;
      HONDANA_TRY(read_line(raw_line, line));
    }
    finish_value();
    auto& root = tables_.front().table();
    for (auto& section : root.members) {
      const auto number = section_numbers_.find(section.key_range.begin);
      if (number != section_numbers_.end()) section.value = tables_[number->second].release();
    }
    return tables_.front().release();
  }

 private:
  /// A key whose value may continue on the next line.
  struct open_key {
    text_span key;
    std::size_t indent = 0;
    bool has_value = false;
    std::vector<text_span> lines{};
    bool is_joined = false;  ///< The previous line ended with a backslash.
  };

  result<void> read_line(text_span raw_line, text_span line) {
    const auto indent = line.begin - raw_line.begin;
    if (open_ && open_->is_joined) return continue_value(line);
    if (open_ && open_->has_value && indent > open_->indent) return continue_value(line);
    finish_value();
    if (text_[line.begin] == '[') return read_section(line);
    return read_key(line, indent);
  }

  result<void> continue_value(text_span line) {
    add_line(line);
    return {};
  }

  void add_line(text_span line) {
    const auto content = strip_comment(line);
    if (content.empty()) {
      open_->is_joined = false;
      return;
    }
    const auto raw = content.slice(text_);
    open_->is_joined = raw == "\\" || (raw.ends_with('\\') && raw.size() > 1 && is_blank(raw[raw.size() - 2]));
    open_->lines.push_back(content);
  }

  result<void> read_section(text_span line) {
    const auto closing = end_of_header(line);
    if (closing == std::string_view::npos) return context_.error_at(line.begin, "a section without a closing bracket");
    const auto trailing = trim(text_, {closing + 1, line.end});
    if (!trailing.empty() && !begins_comment(text_[trailing.begin])) {
      return context_.error_at(trailing.begin, "unexpected text after the name of a section");
    }
    const auto name = trim(text_, {line.begin + 1, closing});
    const auto key = name.slice(text_);
    auto& root = tables_.front();
    const auto* existing = root.find(key);
    if (existing != nullptr && existing->kind == node_kind::table) {
      current_table_ = section_numbers_.at(existing->range.begin);
      context_.warn(line.begin, "the section " + display_key(key) + " is repeated; both are merged");
      return {};
    }
    HONDANA_TRY(context_.count_values(line.begin));
    if (existing != nullptr) context_.warn_duplicate(line.begin, key);
    current_table_ = tables_.size();
    section_numbers_[name.begin] = current_table_;
    const auto range = context_.range_of(name.begin, name.end);
    root.put(std::string(key), range, empty_node(node_kind::table, range));
    tables_.emplace_back(context_.range_of(line.begin, closing + 1));
    return {};
  }

  /// The end of a section header. Ignores brackets in quotes, as in git's files, and in names, as in EditorConfig's.
  [[nodiscard]] std::size_t end_of_header(text_span line) const noexcept {
    bool is_quoted = false;
    std::size_t end = std::string_view::npos;
    for (auto position = line.begin; position < line.end; ++position) {
      const char c = text_[position];
      if (c == '"') is_quoted = !is_quoted;
      if (is_quoted) continue;
      if (begins_comment(c) && is_blank(text_[position - 1]) && end != std::string_view::npos) break;
      if (c == ']') end = position;
    }
    return end;
  }

  result<void> read_key(text_span line, std::size_t indent) {
    const auto separator = find_separator(line);
    const auto end = separator.value_or(line.end);
    auto key = trim(text_, {line.begin, end});
    if (!separator) key = strip_comment(key);
    if (key.empty()) return context_.error_at(line.begin, "a value without a key");
    HONDANA_TRY(context_.count_values(line.begin));
    open_ = open_key{key, indent, separator.has_value()};
    if (separator) add_line(trim(text_, {*separator + 1, line.end}));
    return {};
  }

  /// The first `=`, or a `:` before a blank. In `//host/:_authToken = x`, it is the `=`.
  [[nodiscard]] std::optional<std::size_t> find_separator(text_span line) const noexcept {
    std::optional<std::size_t> colon;
    for (auto position = line.begin; position < line.end; ++position) {
      const char c = text_[position];
      if (c == '=') return position;
      if (c != ':') continue;
      if (position + 1 == line.end || is_blank(text_[position + 1])) return position;
      if (!colon) colon = position;
    }
    return colon;
  }

  /// The value up to a comment that begins after a blank and outside quotes.
  [[nodiscard]] text_span strip_comment(text_span value) const noexcept {
    if (value.empty()) return value;
    const auto closing = end_of_quoted(value);
    for (auto position = std::max(value.begin, closing); position < value.end; ++position) {
      if (begins_comment(text_[position]) && position > 0 && (is_blank(text_[position - 1]) || position == closing)) {
        value.end = position;
        break;
      }
    }
    return trim(text_, value);
  }

  /// The position after the quote that closes the one at the beginning of the value; 0: none.
  [[nodiscard]] std::size_t end_of_quoted(text_span value) const noexcept {
    const char quote = text_[value.begin];
    if (quote != '"' && quote != '\'') return 0;
    for (auto position = value.begin + 1; position < value.end; ++position) {
      if (text_[position] == '\\' && quote == '"') {
        ++position;
      } else if (text_[position] == quote) {
        return position + 1;
      }
    }
    return 0;
  }

  void finish_value() {
    if (!open_) return;
    const auto finished = std::move(*open_);
    open_.reset();
    const auto& lines = finished.lines;
    const auto end = lines.empty() ? finished.key.end : lines.back().end;
    const auto range = context_.range_of(lines.empty() ? end : lines.front().begin, end);
    add_value(finished.key, finished.has_value ? text_node(join_lines(lines), range) : null_node(range));
  }

  [[nodiscard]] std::string join_lines(const std::vector<text_span>& lines) const {
    std::string out;
    bool is_joined = false;
    for (const auto line : lines) {
      if (!out.empty()) out += is_joined ? ' ' : '\n';
      auto raw = line.slice(text_);
      is_joined = raw.ends_with('\\') && (raw.size() == 1 || is_blank(raw[raw.size() - 2]));
      if (is_joined) raw = trim(raw, {0, raw.size() - 1}).slice(raw);
      out += lines.size() == 1 ? unquote(line) : std::string(raw);
    }
    return out;
  }

  /// The value without surrounding quotes. In double quotes, `\"` and `\\` are escapes.
  [[nodiscard]] std::string unquote(text_span value) const {
    const auto raw = value.slice(text_);
    if (raw.size() < 2 || end_of_quoted(value) != value.end) return std::string(raw);
    const auto inner = raw.substr(1, raw.size() - 2);
    if (raw.front() == '\'') return std::string(inner);
    std::string out;
    for (std::size_t i = 0; i < inner.size(); ++i) {
      if (inner[i] == '\\' && i + 1 < inner.size() && (inner[i + 1] == '"' || inner[i + 1] == '\\')) ++i;
      out += inner[i];
    }
    return out;
  }

  void add_value(text_span key, node value) {
    auto& table = tables_[current_table_];
    auto name = key.slice(text_);
    const auto range = context_.range_of(key.begin, key.end);
    if (name.size() > 2 && name.ends_with("[]")) {
      name = trim(name, {0, name.size() - 2}).slice(name);
      auto* existing = table.find(name);
      if (existing == nullptr || existing->kind != node_kind::list) {
        if (!table.put(std::string(name), range, empty_node(node_kind::list, value.range)))
          context_.warn_duplicate(key.begin, name);
        existing = table.find(name);
      }
      existing->range.end = value.range.end;
      existing->items.push_back(std::move(value));
      return;
    }
    if (!table.put(std::string(name), range, std::move(value))) context_.warn_duplicate(key.begin, name);
  }

  parse_context& context_;
  std::string_view text_;
  std::vector<table_builder> tables_;  // the first is the root
  std::size_t current_table_ = 0;
  std::unordered_map<std::size_t, std::size_t> section_numbers_;  // by the position of their names
  std::optional<open_key> open_;
};

}  // namespace

result<node> read_ini(parse_context& context) { return ini_reader(context).read(); }

namespace {

class unit_reader {
 public:
  explicit unit_reader(parse_context& context)
      : context_(context), text_(context.text()), root_(context.range_of(0, text_.size())) {}

  result<node> read() {
    for (std::size_t begin = 0; begin < text_.size();) {
      const auto line = trim(text_, line_from(text_, begin));
      begin = next_line_begin(text_, line);
      if (line.empty() || is_comment(line)) continue;
      HONDANA_TRY(text_[line.begin] == '[' ? read_section(line) : read_setting(line, begin));
    }
    for (std::size_t i = 0; i < sections_.size(); ++i) root_.table().members[i].value = sections_[i].release();
    return root_.release();
  }

 private:
  [[nodiscard]] bool is_comment(text_span line) const noexcept { return text_[line.begin] == '#' || text_[line.begin] == ';'; }

  result<void> read_section(text_span line) {
    if (text_[line.end - 1] != ']') return context_.error_at(line.begin, "a section without a closing bracket");
    const text_span name{line.begin + 1, line.end - 1};
    const auto range = context_.range_of(name.begin, name.end);
    if (const auto* existing = root_.find(name.slice(text_)); existing != nullptr) {
      current_section_ = static_cast<std::size_t>(existing->range.begin);
      return {};
    }
    HONDANA_TRY(context_.count_values(line.begin));
    // Until the sections are finished, the value in the root holds the section's index.
    current_section_ = sections_.size();
    node placeholder;
    placeholder.range.begin = *current_section_;
    root_.put(std::string(name.slice(text_)), range, std::move(placeholder));
    sections_.emplace_back(context_.range_of(line.begin, line.end));
    return {};
  }

  /// Whether the line ends with a backslash that is not escaped.
  [[nodiscard]] bool is_continued(text_span line) const noexcept {
    std::size_t count = 0;
    while (line.end - count > line.begin && text_[line.end - count - 1] == '\\') ++count;
    return count % 2 == 1;
  }

  /// Reads a value. A line that ends with a backslash continues on the next line that is not a comment, with a blank instead of
  /// the backslash.
  std::string read_value(text_span line, std::size_t& next, std::size_t& end) {
    std::string value;
    for (;;) {
      const bool continues = is_continued(line);
      value += text_.substr(line.begin, line.end - line.begin - (continues ? 1 : 0));
      end = trim(text_, line).end;
      if (!continues) break;
      value += ' ';
      if (!skip_comments(next)) break;
      line = line_from(text_, next);
      next = next_line_begin(text_, line);
      while (!line.empty() && is_blank(text_[line.begin])) ++line.begin;
    }
    return std::string(trim(value, {0, value.size()}).slice(value));
  }

  /// Skips comments; returns whether another line follows.
  bool skip_comments(std::size_t& next) const {
    while (next < text_.size()) {
      const auto line = trim(text_, line_from(text_, next));
      if (line.empty() || !is_comment(line)) return true;
      next = next_line_begin(text_, line);
    }
    return false;
  }

  result<void> read_setting(text_span line, std::size_t& next) {
    const auto equals = line.slice(text_).find('=');
    if (equals == std::string_view::npos || equals == 0 || !current_section_) {
      context_.warn(line.begin, current_section_ ? "not a comment, a section or a setting with \"=\"; ignored"
                                                 : "a setting before the first section; ignored");
      return {};
    }
    HONDANA_TRY(context_.count_values(line.begin));
    const auto key = trim(text_, {line.begin, line.begin + equals});
    text_span value_span{line.begin + equals + 1, line_from(text_, line.begin).end};
    while (!value_span.empty() && is_blank(text_[value_span.begin])) ++value_span.begin;
    auto end = value_span.end;
    auto value = read_value(value_span, next, end);
    add_value(key, text_node(std::move(value), context_.range_of(value_span.begin, end)));
    return {};
  }

  void add_value(text_span key, node value) {
    auto& section = sections_[*current_section_];
    const auto name = key.slice(text_);
    const auto range = context_.range_of(key.begin, key.end);
    auto* existing = section.find(name);
    const bool is_replacement =
        existing == nullptr || value.text.empty() || (existing->kind == node_kind::text && existing->text.empty());
    if (is_replacement) {
      section.put(std::string(name), range, std::move(value));
      return;
    }
    if (existing->kind == node_kind::text) {
      auto list = empty_node(node_kind::list, existing->range);
      list.items.push_back(std::move(*existing));
      *existing = std::move(list);
    }
    existing->range.end = value.range.end;
    existing->items.push_back(std::move(value));
  }

  parse_context& context_;
  std::string_view text_;
  table_builder root_;
  std::vector<table_builder> sections_;
  std::optional<std::size_t> current_section_;
};

}  // namespace

result<node> read_systemd(parse_context& context) { return unit_reader(context).read(); }

}  // namespace hondana::located
