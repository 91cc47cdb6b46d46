/// Reads blocks of Markdown.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ascii/ascii.hpp"
#include "text/markup/characters.hpp"
#include "text/markup/html.hpp"
#include "text/markup/inlines.hpp"
#include "text/markup/pieces.hpp"

namespace hondana::markup {

/// A position within a line, in bytes and in columns. A tab extends to the next multiple of four columns.
class line_cursor {
 public:
  /// `text`: one line.
  explicit line_cursor(std::string_view text) noexcept : text_(text) {}

  /// Columns of white space from here on.
  [[nodiscard]] std::size_t indent() const noexcept;
  /// Skips up to this many columns of white space.
  void skip_columns(std::size_t columns) noexcept;
  void skip(std::size_t bytes) noexcept;
  [[nodiscard]] std::string_view rest() const noexcept { return text_.substr(at_); }
  /// The rest of the line without its indentation.
  [[nodiscard]] std::string_view content() const noexcept;
  [[nodiscard]] std::size_t at() const noexcept { return at_; }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t column_ = 0;
  std::size_t left_of_tab_ = 0;  ///< Columns of the tab before `at_` that have not been skipped yet.
};

// All of these take a line without its indentation.

/// The level, 1 to 6, of `## Heading ##`; sets `heading` to its text. 0: not a heading.
[[nodiscard]] int atx_level(std::string_view content, std::string_view& heading) noexcept;
/// 1 or 2 if the line underlines a heading; 0 if not.
[[nodiscard]] int underline_level(std::string_view content) noexcept;
[[nodiscard]] bool is_rule(std::string_view content) noexcept;
/// The number of ticks or tildes that open a code block; 0: none.
[[nodiscard]] std::size_t fence_length(std::string_view content) noexcept;
[[nodiscard]] bool closes_fence(std::string_view content, char mark, std::size_t length) noexcept;
/// Bytes of a list item's mark, without the space after it; 0: not a list item. `is_first`: a bullet, or the number 1.
[[nodiscard]] std::size_t item_mark(std::string_view content, bool& is_first) noexcept;
/// `| --- | :-: |`
[[nodiscard]] bool is_table_rule(std::string_view content) noexcept;

/// HTML blocks in the order of CommonMark 4.6; `none` is 0.
enum class html_block : std::uint8_t { none, raw, comment, instruction, declaration, cdata, element, other };
[[nodiscard]] html_block html_block_of(std::string_view content);
[[nodiscard]] bool ends_html_block(html_block what, std::string_view line);

/// Removes `{#id .class}` from the end of a heading, and returns the id; empty: none.
[[nodiscard]] std::string take_attributes(std::string_view& heading);

namespace {

/// Sorted.
constexpr std::array<std::string_view, 62> elements{
    "address",  "article",    "aside",  "base",    "basefont", "blockquote", "body",     "caption",  "center",
    "col",      "colgroup",   "dd",     "details", "dialog",   "dir",        "div",      "dl",       "dt",
    "fieldset", "figcaption", "figure", "footer",  "form",     "frame",      "frameset", "h1",       "h2",
    "h3",       "h4",         "h5",     "h6",      "head",     "header",     "hr",       "html",     "iframe",
    "legend",   "li",         "link",   "main",    "menu",     "menuitem",   "nav",      "noframes", "ol",
    "optgroup", "option",     "p",      "param",   "section",  "source",     "summary",  "table",    "tbody",
    "td",       "tfoot",      "th",     "thead",   "title",    "tr",         "track",    "ul"};
static_assert(std::is_sorted(elements.begin(), elements.end()));

constexpr std::array<std::string_view, 4> raw_elements{"pre", "script", "style", "textarea"};

std::string_view name_at(std::string_view text) noexcept {
  std::size_t end = 0;
  while (end < text.size() && end < 16 && (ascii::is_letter(text[end]) || ascii::is_digit(text[end]))) ++end;
  return text.substr(0, end);
}

bool only_spaces_from(std::string_view text, std::size_t at) noexcept {
  return is_blank(text.substr(std::min(at, text.size())));
}

}  // namespace

std::size_t line_cursor::indent() const noexcept {
  std::size_t columns = left_of_tab_;
  for (auto at = at_; at < text_.size() && (text_[at] == ' ' || text_[at] == '\t'); ++at)
    columns += text_[at] == ' ' ? 1 : 4 - (column_ + columns) % 4;
  return columns;
}

void line_cursor::skip_columns(std::size_t columns) noexcept {
  while (columns > 0) {
    if (left_of_tab_ == 0) {
      if (at_ >= text_.size() || (text_[at_] != ' ' && text_[at_] != '\t')) return;
      left_of_tab_ = text_[at_] == ' ' ? 1 : 4 - column_ % 4;
      ++at_;
    }
    const auto passed = std::min(columns, left_of_tab_);
    left_of_tab_ -= passed;
    column_ += passed;
    columns -= passed;
  }
}

void line_cursor::skip(std::size_t bytes) noexcept {
  at_ = std::min(at_ + bytes, text_.size());
  column_ += bytes;
}

std::string_view line_cursor::content() const noexcept {
  const auto left = text_.find_first_not_of(" \t", at_);
  return left == std::string_view::npos ? std::string_view() : text_.substr(left);
}

int atx_level(std::string_view content, std::string_view& heading) noexcept {
  std::size_t level = 0;
  while (level < content.size() && content[level] == '#') ++level;
  if (level == 0 || level > 6 || (level < content.size() && content[level] != ' ' && content[level] != '\t')) return 0;
  heading = trimmed(content.substr(level));
  auto end = heading.size();
  while (end > 0 && heading[end - 1] == '#') --end;
  if (end == 0 || ascii::is_space(heading[end - 1])) heading = trimmed(heading.substr(0, end));
  return static_cast<int>(level);
}

int underline_level(std::string_view content) noexcept {
  if (content.empty() || (content.front() != '=' && content.front() != '-')) return 0;
  const auto end = content.find_first_not_of(content.front());
  if (end != std::string_view::npos && !only_spaces_from(content, end)) return 0;
  return content.front() == '=' ? 1 : 2;
}

bool is_rule(std::string_view content) noexcept {
  if (content.empty() || (content.front() != '*' && content.front() != '-' && content.front() != '_')) return false;
  std::size_t marks = 0;
  for (const char c : content) {
    if (c == content.front())
      ++marks;
    else if (!ascii::is_space(c))
      return false;
  }
  return marks >= 3;
}

std::size_t fence_length(std::string_view content) noexcept {
  if (content.empty() || (content.front() != '`' && content.front() != '~')) return 0;
  const auto end = std::min(content.find_first_not_of(content.front()), content.size());
  if (end < 3 || (content.front() == '`' && content.find('`', end) != std::string_view::npos)) return 0;
  return end;
}

bool closes_fence(std::string_view content, char mark, std::size_t length) noexcept {
  const auto end = std::min(content.find_first_not_of(mark), content.size());
  return end >= length && only_spaces_from(content, end);
}

std::size_t item_mark(std::string_view content, bool& is_first) noexcept {
  if (content.empty()) return 0;
  std::size_t end = 0;
  if (content.front() == '-' || content.front() == '+' || content.front() == '*') {
    end = 1;
    is_first = true;
  } else {
    while (end < content.size() && end < 9 && ascii::is_digit(content[end])) ++end;
    if (end == 0 || end >= content.size() || (content[end] != '.' && content[end] != ')')) return 0;
    is_first = content.substr(0, end) == "1";
    ++end;
  }
  return end == content.size() || content[end] == ' ' || content[end] == '\t' ? end : 0;
}

bool is_table_rule(std::string_view content) noexcept {
  content = trimmed(content);
  if (content.find_first_not_of("|-: \t") != std::string_view::npos || content.find('-') == std::string_view::npos)
    return false;
  if (content.front() == '|') content.remove_prefix(1);
  if (!content.empty() && content.back() == '|') content.remove_suffix(1);
  // Each cell consists of dashes, with an optional colon at each end.
  while (true) {
    const auto bar = content.find('|');
    auto cell = trimmed(content.substr(0, bar));
    if (cell.starts_with(':')) cell.remove_prefix(1);
    if (cell.ends_with(':')) cell.remove_suffix(1);
    if (cell.empty() || cell.find_first_not_of('-') != std::string_view::npos) return false;
    if (bar == std::string_view::npos) return true;
    content.remove_prefix(bar + 1);
  }
}

html_block html_block_of(std::string_view content) {
  if (!content.starts_with('<') || content.size() < 2) return html_block::none;
  if (content.starts_with("<!--")) return html_block::comment;
  if (content.starts_with("<?")) return html_block::instruction;
  if (content.starts_with("<![CDATA[")) return html_block::cdata;
  if (content[1] == '!') return content.size() > 2 && ascii::is_letter(content[2]) ? html_block::declaration : html_block::none;
  const bool is_end = content[1] == '/';
  const auto name = name_at(content.substr(is_end ? 2 : 1));
  if (name.empty()) return html_block::none;
  const auto lower = ascii::in_lower_case(name);
  const auto behind = content.substr((is_end ? 2 : 1) + name.size());
  const bool is_whole = behind.empty() || ascii::is_space(behind.front()) || behind.front() == '>';
  if (!is_end && is_whole && std::find(raw_elements.begin(), raw_elements.end(), lower) != raw_elements.end())
    return html_block::raw;
  if ((is_whole || behind.starts_with("/>")) && std::binary_search(elements.begin(), elements.end(), std::string_view(lower)))
    return html_block::element;
  tag one;
  if (read_tag(content, 0, one) && only_spaces_from(content, one.end)) return html_block::other;
  return html_block::none;
}

bool ends_html_block(html_block what, std::string_view line) {
  const auto has = [line](std::string_view mark) { return line.find(mark) != std::string_view::npos; };
  switch (what) {
    case html_block::raw: {
      // Find the end tag anywhere in the line, with time linear in the length of the line.
      for (auto at = line.find("</"); at != std::string_view::npos; at = line.find("</", at + 2)) {
        const auto name = name_at(line.substr(at + 2));
        const bool is_raw = std::any_of(raw_elements.begin(), raw_elements.end(),
                                        [name](std::string_view one) { return ascii::is_same(name, one); });
        if (is_raw && line.substr(at + 2 + name.size()).starts_with('>')) return true;
      }
      return false;
    }
    case html_block::comment:
      return has("-->");
    case html_block::instruction:
      return has("?>");
    case html_block::declaration:
      return has(">");
    case html_block::cdata:
      return has("]]>");
    default:
      return is_blank(line);
  }
}

std::string take_attributes(std::string_view& heading) {
  if (!heading.ends_with('}')) return {};
  const auto open = heading.rfind('{');
  if (open == std::string_view::npos || heading.size() - open > 200) return {};
  auto inside = heading.substr(open + 1, heading.size() - open - 2);
  if (inside.starts_with(':')) inside.remove_prefix(1);
  std::string id;
  for (inside = trimmed(inside); !inside.empty(); inside = trimmed(inside)) {
    const auto end = std::min(inside.find_first_of(" \t"), inside.size());
    const auto one = inside.substr(0, end);
    const bool is_id = one.front() == '#' && one.size() > 1;
    if (!is_id && one.front() != '.' && one.find('=') == std::string_view::npos) return {};
    if (is_id) id = one.substr(1);
    inside.remove_prefix(end);
  }
  if (!id.empty()) heading = trimmed(heading.substr(0, open));
  return id;
}

namespace {

constexpr std::size_t most_containers = 32;
constexpr std::size_t most_definitions = 10'000;
/// In bytes. Beyond it, links of a paragraph are not searched.
constexpr std::size_t longest_paragraph = 1 << 20;

class markdown_reader {
 public:
  markdown_reader(std::string_view text, hearer& to, definitions& defined) : text_(text), to_(to), defined_(defined) {}

  void read() {
    line_reader lines(text_);
    line one;
    if (auto front = front_matter_of(text_)) {
      lines = line_reader(text_, front->end, front->last_line + 1);
      if (!to_.take(std::move(*front))) return;
    } else if (text_.starts_with("\xEF\xBB\xBF")) {
      lines = line_reader(text_, 3);
    }
    while (is_wanted_ && lines.read(one)) take(one);
    close_leaf();
  }

 private:
  enum class leaf : std::uint8_t { none, paragraph, fence, html, indented, table };
  struct container {
    bool is_quote = false;
    std::size_t indent = 0;  ///< Columns before the content of a list item.
  };

  [[nodiscard]] std::string_view in(const line& one) const noexcept { return text_.substr(one.begin, one.end - one.begin); }

  void take(const line& one) {
    line_cursor cursor(in(one));
    const auto matched = match(cursor);
    const bool is_all = matched == containers_.size();
    if (!is_all && leaf_ != leaf::paragraph) close_leaf();
    if (leaf_ == leaf::fence) return in_fence(one, cursor);
    if (leaf_ == leaf::html && html_ < html_block::element) return in_html(one);
    begin_blocks(one, cursor, matched);
  }

  /// Skips the markers of containers that continue on this line; returns their number.
  std::size_t match(line_cursor& cursor) const noexcept {
    std::size_t matched = 0;
    for (const auto& one : containers_) {
      if (one.is_quote) {
        if (cursor.indent() > 3 || !cursor.content().starts_with('>')) break;
        pass_quote(cursor);
      } else if (cursor.indent() >= one.indent) {
        cursor.skip_columns(one.indent);
      } else if (!cursor.content().empty()) {
        break;
      }
      ++matched;
    }
    return matched;
  }

  static void pass_quote(line_cursor& cursor) noexcept {
    cursor.skip_columns(cursor.indent());
    cursor.skip(1);
    cursor.skip_columns(1);
  }

  /// Opens new containers, and then the block inside them.
  void begin_blocks(const line& one, line_cursor& cursor, std::size_t matched) {
    bool is_in_paragraph = leaf_ == leaf::paragraph;
    const bool is_lazy = is_in_paragraph && matched < containers_.size();
    bool has_new = false;
    while (true) {
      const auto content = cursor.content();
      if (content.empty() || cursor.indent() > 3) break;
      bool is_first = false;
      if (content.front() == '>') {
        if (!open_container({true, 0}, matched, has_new)) break;
        pass_quote(cursor);
      } else if (const bool is_underline = is_in_paragraph && !is_lazy && !has_new && underline_level(content) != 0;
                 is_underline || is_rule(content)) {
        break;
      } else if (const auto mark = item_mark(content, is_first); mark != 0) {
        const bool is_empty = is_blank(content.substr(mark));
        if (is_in_paragraph && !is_lazy && !has_new && (is_empty || !is_first)) break;
        const auto before = cursor.indent();
        line_cursor behind = cursor;
        behind.skip_columns(before);
        behind.skip(mark);
        const auto spaces = behind.indent();
        const std::size_t padding = is_empty || spaces > 4 ? 1 : spaces;
        if (!open_container({false, before + mark + padding}, matched, has_new)) break;
        behind.skip_columns(padding);
        cursor = behind;
      } else {
        break;
      }
      is_in_paragraph = false;
    }
    if (cursor.content().empty()) return blank(one, matched, has_new);
    const bool goes_on = is_lazy && !has_new;
    if (goes_on && !begins_leaf(cursor)) return extend(one);
    if (goes_on) close_leaf();
    if (goes_on || !has_new) containers_.resize(matched);
    leaf_line(one, cursor);
  }

  bool open_container(container what, std::size_t& matched, bool& has_new) {
    if (matched >= most_containers) return false;
    close_leaf();
    containers_.resize(matched++);
    containers_.push_back(what);
    has_new = true;
    return true;
  }

  void blank(const line& one, std::size_t matched, bool has_new) {
    if (leaf_ == leaf::paragraph || leaf_ == leaf::table || leaf_ == leaf::html) close_leaf();
    if (has_new) return extend_as(leaf::none, one);
    // A blank line ends quotes, but not list items.
    std::size_t stays = matched;
    while (stays < containers_.size() && !containers_[stays].is_quote) ++stays;
    containers_.resize(stays);
  }

  /// Whether a line without the markers of its containers begins a block other than a paragraph.
  [[nodiscard]] bool begins_leaf(const line_cursor& cursor) const {
    if (cursor.indent() > 3) return false;
    const auto content = cursor.content();
    std::string_view heading;
    const auto html = html_block_of(content);
    return atx_level(content, heading) != 0 || fence_length(content) != 0 || is_rule(content) ||
           (html != html_block::none && html != html_block::other);
  }

  void leaf_line(const line& one, const line_cursor& cursor) {
    const auto content = cursor.content();
    if (leaf_ == leaf::html) return extend(one);
    if (cursor.indent() > 3 && leaf_ != leaf::paragraph && leaf_ != leaf::table) {
      if (leaf_ != leaf::indented) extend_as(leaf::indented, one);
      return extend(one);
    }
    if (leaf_ == leaf::indented) close_leaf();
    if (cursor.indent() > 3) return extend(one);
    if (leaf_ == leaf::paragraph && underline(one, content)) return;
    std::string_view heading;
    if (const int level = atx_level(content, heading); level != 0) {
      close_leaf();
      return this->heading(one.begin, one.end, one.number, one.number, level, heading);
    }
    if (const auto length = fence_length(content); length != 0) {
      extend_as(leaf::fence, one);
      fence_mark_ = content.front();
      fence_length_ = length;
      return emit(part::mark, one);
    }
    if (is_rule(content)) {
      close_leaf();
      return emit(part::mark, one);
    }
    const auto html = html_block_of(content);
    if (html != html_block::none && (html != html_block::other || leaf_ != leaf::paragraph)) {
      extend_as(leaf::html, one);
      html_ = html;
      return html < html_block::element ? in_html(one) : extend(one);
    }
    if (leaf_ != leaf::paragraph && leaf_ != leaf::table && definition(one, content)) return;
    if (leaf_ == leaf::paragraph && is_table_rule(content) && begin_table(one, content)) return;
    if (leaf_ == leaf::none) extend_as(leaf::paragraph, one);
    extend(one);
  }

  /// Closes the open block and begins another one. `extend` is then called for each of its lines.
  void extend_as(leaf what, const line& one) {
    close_leaf();
    leaf_ = what;
    first_ = last_ = one;
    has_lines_ = false;
  }
  void extend(const line& one) {
    if (!has_lines_) first_ = one;
    has_lines_ = true;
    before_last_ = last_;
    last_ = one;
  }

  void in_fence(const line& one, const line_cursor& cursor) {
    if (cursor.indent() > 3 || !closes_fence(cursor.content(), fence_mark_, fence_length_)) return extend(one);
    close_leaf();
    emit(part::mark, one);
  }

  void in_html(const line& one) {
    extend(one);
    if (ends_html_block(html_, in(one))) close_leaf();
  }

  bool underline(const line& one, std::string_view content) {
    const int level = underline_level(content);
    if (level == 0 || !has_lines_) return false;
    const auto raw = text_.substr(first_.begin, last_.end - first_.begin);
    const auto first = first_;
    leaf_ = leaf::none;
    heading(first.begin, one.end, first.number, one.number, level, trimmed(raw));
    return true;
  }

  bool definition(const line& one, std::string_view content) {
    std::string label;
    std::string target;
    if (!read_definition(content, label, target)) return false;
    close_leaf();
    if (defined_.size() < most_definitions) defined_.emplace(std::move(label), std::move(target));
    emit(part::mark, one);
    return true;
  }

  /// Begins a table if the last line of the paragraph has the same number of cells; that line is the header. The lines before
  /// it stay a paragraph.
  bool begin_table(const line& rule, std::string_view content) {
    const auto header = in(last_);
    const auto bars = [](std::string_view row) {
      row = trimmed(row);
      if (row.starts_with('|')) row.remove_prefix(1);
      if (row.ends_with('|') && !row.ends_with("\\|")) row.remove_suffix(1);
      std::size_t count = 0;
      for (std::size_t at = 0; at < row.size(); ++at)
        if (row[at] == '|' && (at == 0 || row[at - 1] != '\\')) ++count;
      return count;
    };
    const bool has_bars = header.find('|') != std::string_view::npos || content.find('|') != std::string_view::npos;
    if (!has_bars || bars(header) != bars(content)) return false;
    const auto first = last_;
    if (first_.begin == first.begin) {
      leaf_ = leaf::none;
    } else {
      last_ = before_last_;
      close_leaf();
    }
    extend_as(leaf::table, first);
    extend(first);
    extend(rule);
    return true;
  }

  void heading(std::size_t begin, std::size_t end, std::size_t first_line, std::size_t last_line, int level,
               std::string_view raw) {
    piece one{part::heading, begin, end, first_line, last_line, level, {}, {}};
    if (!containers_.empty()) {
      // A heading inside a quote or a list does not begin a section of the document.
      one.what = part::prose;
      one.level = 0;
    } else {
      one.id = take_attributes(raw);
    }
    auto made = read_inline(raw.substr(0, longest_paragraph), first_line, defined_);
    if (made.text.size() > longest_heading) made.text.resize(boundary_before(made.text, longest_heading));
    if (one.what == part::heading) one.heading = std::move(made.text);
    is_wanted_ = is_wanted_ && to_.take(std::move(one));
    refer(std::move(made.links));
  }

  void close_leaf() {
    const auto what = leaf_;
    leaf_ = leaf::none;
    if (what == leaf::none || !has_lines_) return;
    piece one{part::prose, first_.begin, last_.end, first_.number, last_.number, 0, {}, {}};
    has_lines_ = false;
    if (what == leaf::fence || what == leaf::indented) {
      one.what = part::code;
    } else if (what == leaf::table) {
      one.what = part::table;
    } else if (what == leaf::html && html_ != html_block::raw && html_ < html_block::element) {
      one.what = part::mark;
    }
    const bool has_links = one.what == part::prose || one.what == part::table;
    const auto raw = text_.substr(one.begin, std::min(one.end - one.begin, longest_paragraph));
    const auto line_number = one.first_line;
    is_wanted_ = is_wanted_ && to_.take(std::move(one));
    if (has_links && to_.wants_links()) refer(read_inline(raw, line_number, defined_).links);
  }

  void emit(part what, const line& one) {
    is_wanted_ = is_wanted_ && to_.take({what, one.begin, one.end, one.number, one.number, 0, {}, {}});
  }

  void refer(std::vector<link> links) {
    if (!to_.wants_links()) return;
    for (auto& one : links) to_.refer(std::move(one));
  }

  std::string_view text_;
  hearer& to_;
  definitions& defined_;
  bool is_wanted_ = true;
  std::vector<container> containers_{};
  leaf leaf_ = leaf::none;
  html_block html_ = html_block::none;
  char fence_mark_ = '`';
  std::size_t fence_length_ = 0;
  bool has_lines_ = false;
  line first_{};
  line last_{};
  line before_last_{};
};

/// Ignores all output. A first pass with it collects link definitions, because they may follow their uses.
class deaf final : public hearer {
 public:
  bool take(piece) override { return true; }
  void refer(link) override {}
  [[nodiscard]] bool wants_links() const noexcept override { return false; }
};

}  // namespace

void read_markdown(std::string_view text, hearer& to) {
  definitions defined;
  if (text.find("]:") != std::string_view::npos) {
    deaf nobody;
    markdown_reader(text, nobody, defined).read();
  }
  markdown_reader(text, to, defined).read();
}

}  // namespace hondana::markup
