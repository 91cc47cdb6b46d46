/// Units of systemd. Source: systemd.syntax(7).
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/located/growing_table.hpp"
#include "text/located/lines.hpp"
#include "text/located/reading.hpp"
#include "text/located/texts.hpp"

namespace hondana::located {
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
    // Until the sections are finished, their places in the root say which they are.
    current_ = sections_.size();
    node mark;
    mark.at.begin = *current_;
    root_.put(std::string(name.of(text_)), at, std::move(mark));
    sections_.emplace_back(from_.at(line.begin, line.end));
    return {};
  }

  /// Whether a backslash ends the line that `end` is the end of, and none before takes its meaning.
  [[nodiscard]] bool goes_on(stretch line) const noexcept {
    std::size_t count = 0;
    while (line.end - count > line.begin && text_[line.end - count - 1] == '\\') ++count;
    return count % 2 == 1;
  }

  /// A value: lines that end with a backslash go on in the next that is no comment, with a blank for the backslash.
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

  /// Says whether there is a line behind the comments.
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
