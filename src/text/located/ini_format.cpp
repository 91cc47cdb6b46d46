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

class sections_reader {
 public:
  explicit sections_reader(reading& from) : from_(from), text_(from.text()) { tables_.emplace_back(from.at(0, text_.size())); }

  result<node> all() {
    for (std::size_t begin = 0; begin < text_.size();) {
      const auto whole = line_from(text_, begin);
      begin = behind(text_, whole);
      const auto line = trimmed(text_, whole);
      if (line.empty() || begins_comment(text_[line.begin])) continue;
      HONDANA_TRY(take(whole, line));
    }
    finish_value();
    auto& root = tables_.front().table();
    for (auto& one : root.members) {
      const auto which = section_numbers_.find(one.key_at.begin);
      if (which != section_numbers_.end()) one.value = tables_[which->second].take();
    }
    return tables_.front().take();
  }

 private:
  /// A key whose value may continue on the next line.
  struct open_key {
    stretch key;
    std::size_t indent = 0;
    bool has_value = false;
    std::vector<stretch> lines{};
    bool is_joined = false;  ///< The previous line ended with a backslash.
  };

  result<void> take(stretch whole, stretch line) {
    const auto indent = line.begin - whole.begin;
    if (open_ && open_->is_joined) return go_on(line);
    if (open_ && open_->has_value && indent > open_->indent) return go_on(line);
    finish_value();
    if (text_[line.begin] == '[') return take_section(line);
    return take_key(line, indent);
  }

  result<void> go_on(stretch line) {
    add_line(line);
    return {};
  }

  void add_line(stretch line) {
    const auto kept = without_comment(line);
    if (kept.empty()) {
      open_->is_joined = false;
      return;
    }
    const auto written = kept.of(text_);
    open_->is_joined =
        written == "\\" || (written.ends_with('\\') && written.size() > 1 && is_blank(written[written.size() - 2]));
    open_->lines.push_back(kept);
  }

  result<void> take_section(stretch line) {
    const auto closing = end_of_header(line);
    if (closing == std::string_view::npos) return from_.wrong(line.begin, "a section without a closing bracket");
    const auto rest = trimmed(text_, {closing + 1, line.end});
    if (!rest.empty() && !begins_comment(text_[rest.begin])) {
      return from_.wrong(rest.begin, "unexpected text after the name of a section");
    }
    const auto name = trimmed(text_, {line.begin + 1, closing});
    const auto key = name.of(text_);
    auto& root = tables_.front();
    const auto* known = root.find(key);
    if (known != nullptr && known->is == kind::table) {
      current_ = section_numbers_.at(known->at.begin);
      from_.remark(line.begin, "the section " + shown(key) + " is repeated; both are merged");
      return {};
    }
    HONDANA_TRY(from_.count(line.begin));
    if (known != nullptr) from_.remark_duplicate(line.begin, key);
    current_ = tables_.size();
    section_numbers_[name.begin] = current_;
    const auto at = from_.at(name.begin, name.end);
    root.put(std::string(key), at, empty_node(kind::table, at));
    tables_.emplace_back(from_.at(line.begin, closing + 1));
    return {};
  }

  /// The end of a section header. Ignores brackets in quotes, as in git's files, and in names, as in EditorConfig's.
  [[nodiscard]] std::size_t end_of_header(stretch line) const noexcept {
    bool is_quoted = false;
    std::size_t end = std::string_view::npos;
    for (auto at = line.begin; at < line.end; ++at) {
      const char c = text_[at];
      if (c == '"') is_quoted = !is_quoted;
      if (is_quoted) continue;
      if (begins_comment(c) && is_blank(text_[at - 1]) && end != std::string_view::npos) break;
      if (c == ']') end = at;
    }
    return end;
  }

  result<void> take_key(stretch line, std::size_t indent) {
    const auto separator = separator_in(line);
    const auto end = separator.value_or(line.end);
    auto key = trimmed(text_, {line.begin, end});
    if (!separator) key = without_comment(key);
    if (key.empty()) return from_.wrong(line.begin, "a value without a key");
    HONDANA_TRY(from_.count(line.begin));
    open_ = open_key{key, indent, separator.has_value()};
    if (separator) add_line(trimmed(text_, {*separator + 1, line.end}));
    return {};
  }

  /// The first `=`, or a `:` before a blank. In `//host/:_authToken = x`, it is the `=`.
  [[nodiscard]] std::optional<std::size_t> separator_in(stretch line) const noexcept {
    std::optional<std::size_t> colon;
    for (auto at = line.begin; at < line.end; ++at) {
      const char c = text_[at];
      if (c == '=') return at;
      if (c != ':') continue;
      if (at + 1 == line.end || is_blank(text_[at + 1])) return at;
      if (!colon) colon = at;
    }
    return colon;
  }

  /// The value up to a comment that begins after a blank and outside quotes.
  [[nodiscard]] stretch without_comment(stretch value) const noexcept {
    if (value.empty()) return value;
    const auto closing = end_of_quoted(value);
    for (auto at = std::max(value.begin, closing); at < value.end; ++at) {
      if (begins_comment(text_[at]) && at > 0 && (is_blank(text_[at - 1]) || at == closing)) {
        value.end = at;
        break;
      }
    }
    return trimmed(text_, value);
  }

  /// The position after the quote that closes the one at the beginning of the value; 0: none.
  [[nodiscard]] std::size_t end_of_quoted(stretch value) const noexcept {
    const char quote = text_[value.begin];
    if (quote != '"' && quote != '\'') return 0;
    for (auto at = value.begin + 1; at < value.end; ++at) {
      if (text_[at] == '\\' && quote == '"') {
        ++at;
      } else if (text_[at] == quote) {
        return at + 1;
      }
    }
    return 0;
  }

  void finish_value() {
    if (!open_) return;
    const auto done = std::move(*open_);
    open_.reset();
    const auto& lines = done.lines;
    const auto end = lines.empty() ? done.key.end : lines.back().end;
    const auto at = from_.at(lines.empty() ? end : lines.front().begin, end);
    put(done.key, done.has_value ? text_node(joined(lines), at) : null_node(at));
  }

  [[nodiscard]] std::string joined(const std::vector<stretch>& lines) const {
    std::string out;
    bool is_joined = false;
    for (const auto line : lines) {
      if (!out.empty()) out += is_joined ? ' ' : '\n';
      auto written = line.of(text_);
      is_joined = written.ends_with('\\') && (written.size() == 1 || is_blank(written[written.size() - 2]));
      if (is_joined) written = trimmed(written, {0, written.size() - 1}).of(written);
      out += lines.size() == 1 ? meaning(line) : std::string(written);
    }
    return out;
  }

  /// The value without surrounding quotes. In double quotes, `\"` and `\\` are escapes.
  [[nodiscard]] std::string meaning(stretch value) const {
    const auto written = value.of(text_);
    if (written.size() < 2 || end_of_quoted(value) != value.end) return std::string(written);
    const auto inner = written.substr(1, written.size() - 2);
    if (written.front() == '\'') return std::string(inner);
    std::string out;
    for (std::size_t i = 0; i < inner.size(); ++i) {
      if (inner[i] == '\\' && i + 1 < inner.size() && (inner[i + 1] == '"' || inner[i + 1] == '\\')) ++i;
      out += inner[i];
    }
    return out;
  }

  void put(stretch key, node value) {
    auto& table = tables_[current_];
    auto name = key.of(text_);
    const auto at = from_.at(key.begin, key.end);
    if (name.size() > 2 && name.ends_with("[]")) {
      name = trimmed(name, {0, name.size() - 2}).of(name);
      auto* known = table.find(name);
      if (known == nullptr || known->is != kind::list) {
        if (!table.put(std::string(name), at, empty_node(kind::list, value.at))) from_.remark_duplicate(key.begin, name);
        known = table.find(name);
      }
      known->at.end = value.at.end;
      known->items.push_back(std::move(value));
      return;
    }
    if (!table.put(std::string(name), at, std::move(value))) from_.remark_duplicate(key.begin, name);
  }

  reading& from_;
  std::string_view text_;
  std::vector<growing_table> tables_;  // the first is the root
  std::size_t current_ = 0;
  std::unordered_map<std::size_t, std::size_t> section_numbers_;  // by the position of their names
  std::optional<open_key> open_;
};

}  // namespace

result<node> read_ini(reading& from) { return sections_reader(from).all(); }

namespace {

class unit_reader {
 public:
  explicit unit_reader(reading& from) : from_(from), text_(from.text()), root_(from.at(0, text_.size())) {}

  result<node> all() {
    for (std::size_t begin = 0; begin < text_.size();) {
      const auto line = trimmed(text_, line_from(text_, begin));
      begin = behind(text_, line);
      if (line.empty() || is_comment(line)) continue;
      HONDANA_TRY(text_[line.begin] == '[' ? take_section(line) : take_setting(line, begin));
    }
    for (std::size_t i = 0; i < sections_.size(); ++i) root_.table().members[i].value = sections_[i].take();
    return root_.take();
  }

 private:
  [[nodiscard]] bool is_comment(stretch line) const noexcept { return text_[line.begin] == '#' || text_[line.begin] == ';'; }

  result<void> take_section(stretch line) {
    if (text_[line.end - 1] != ']') return from_.wrong(line.begin, "a section without a closing bracket");
    const stretch name{line.begin + 1, line.end - 1};
    const auto at = from_.at(name.begin, name.end);
    if (const auto* known = root_.find(name.of(text_)); known != nullptr) {
      current_ = static_cast<std::size_t>(known->at.begin);
      return {};
    }
    HONDANA_TRY(from_.count(line.begin));
    // Until the sections are finished, the value in the root holds the section's index.
    current_ = sections_.size();
    node mark;
    mark.at.begin = *current_;
    root_.put(std::string(name.of(text_)), at, std::move(mark));
    sections_.emplace_back(from_.at(line.begin, line.end));
    return {};
  }

  /// Whether the line ends with a backslash that is not escaped.
  [[nodiscard]] bool goes_on(stretch line) const noexcept {
    std::size_t count = 0;
    while (line.end - count > line.begin && text_[line.end - count - 1] == '\\') ++count;
    return count % 2 == 1;
  }

  /// Reads a value. A line that ends with a backslash continues on the next line that is not a comment, with a blank instead of
  /// the backslash.
  std::string take_value(stretch line, std::size_t& next, std::size_t& end) {
    std::string value;
    for (;;) {
      const bool more = goes_on(line);
      value += text_.substr(line.begin, line.end - line.begin - (more ? 1 : 0));
      end = trimmed(text_, line).end;
      if (!more) break;
      value += ' ';
      if (!skip_comments(next)) break;
      line = line_from(text_, next);
      next = behind(text_, line);
      while (!line.empty() && is_blank(text_[line.begin])) ++line.begin;
    }
    return std::string(trimmed(value, {0, value.size()}).of(value));
  }

  /// Skips comments; returns whether another line follows.
  bool skip_comments(std::size_t& next) const {
    while (next < text_.size()) {
      const auto line = trimmed(text_, line_from(text_, next));
      if (line.empty() || !is_comment(line)) return true;
      next = behind(text_, line);
    }
    return false;
  }

  result<void> take_setting(stretch line, std::size_t& next) {
    const auto equals = line.of(text_).find('=');
    if (equals == std::string_view::npos || equals == 0 || !current_) {
      from_.remark(line.begin, current_ ? "not a comment, a section or a setting with \"=\"; ignored"
                                        : "a setting before the first section; ignored");
      return {};
    }
    HONDANA_TRY(from_.count(line.begin));
    const auto key = trimmed(text_, {line.begin, line.begin + equals});
    stretch first{line.begin + equals + 1, line_from(text_, line.begin).end};
    while (!first.empty() && is_blank(text_[first.begin])) ++first.begin;
    auto end = first.end;
    auto value = take_value(first, next, end);
    put(key, text_node(std::move(value), from_.at(first.begin, end)));
    return {};
  }

  void put(stretch key, node value) {
    auto& section = sections_[*current_];
    const auto name = key.of(text_);
    const auto at = from_.at(key.begin, key.end);
    auto* known = section.find(name);
    const bool is_anew = known == nullptr || value.text.empty() || (known->is == kind::text && known->text.empty());
    if (is_anew) {
      section.put(std::string(name), at, std::move(value));
      return;
    }
    if (known->is == kind::text) {
      auto list = empty_node(kind::list, known->at);
      list.items.push_back(std::move(*known));
      *known = std::move(list);
    }
    known->at.end = value.at.end;
    known->items.push_back(std::move(value));
  }

  reading& from_;
  std::string_view text_;
  growing_table root_;
  std::vector<growing_table> sections_;
  std::optional<std::size_t> current_;
};

}  // namespace

result<node> read_systemd(reading& from) { return unit_reader(from).all(); }

}  // namespace hondana::located
