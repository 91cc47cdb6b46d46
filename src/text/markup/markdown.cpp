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
  [[nodiscard]] std::string_view remaining() const noexcept { return text_.substr(position_); }
  /// The rest of the line without its indentation.
  [[nodiscard]] std::string_view content() const noexcept;
  [[nodiscard]] std::size_t position() const noexcept { return position_; }

 private:
  std::string_view text_;
  std::size_t position_ = 0;
  std::size_t column_ = 0;
  std::size_t remaining_tab_columns_ = 0;  ///< Columns of the tab before `position_` that have not been skipped yet.
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
/// Bytes of a list item's marker, without the space after it; 0: not a list item. `is_first`: a bullet, or the number 1.
[[nodiscard]] std::size_t item_marker_length(std::string_view content, bool& is_first) noexcept;
/// `| --- | :-: |`
[[nodiscard]] bool is_table_rule(std::string_view content) noexcept;

/// HTML blocks in the order of CommonMark 4.6; `none` is 0.
enum class html_block : std::uint8_t { none, raw, comment, instruction, declaration, cdata, element, other };
[[nodiscard]] html_block html_block_of(std::string_view content);
[[nodiscard]] bool ends_html_block(html_block kind, std::string_view line);

/// Removes `{#id .class}` from the end of a heading, and returns the id; empty: none.
[[nodiscard]] std::string extract_attributes(std::string_view& heading);

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

bool only_spaces_from(std::string_view text, std::size_t position) noexcept {
  return is_blank(text.substr(std::min(position, text.size())));
}

}  // namespace

std::size_t line_cursor::indent() const noexcept {
  std::size_t columns = remaining_tab_columns_;
  for (auto position = position_; position < text_.size() && (text_[position] == ' ' || text_[position] == '\t'); ++position)
    columns += text_[position] == ' ' ? 1 : 4 - (column_ + columns) % 4;
  return columns;
}

void line_cursor::skip_columns(std::size_t columns) noexcept {
  while (columns > 0) {
    if (remaining_tab_columns_ == 0) {
      if (position_ >= text_.size() || (text_[position_] != ' ' && text_[position_] != '\t')) return;
      remaining_tab_columns_ = text_[position_] == ' ' ? 1 : 4 - column_ % 4;
      ++position_;
    }
    const auto skipped = std::min(columns, remaining_tab_columns_);
    remaining_tab_columns_ -= skipped;
    column_ += skipped;
    columns -= skipped;
  }
}

void line_cursor::skip(std::size_t bytes) noexcept {
  position_ = std::min(position_ + bytes, text_.size());
  column_ += bytes;
}

std::string_view line_cursor::content() const noexcept {
  const auto begin = text_.find_first_not_of(" \t", position_);
  return begin == std::string_view::npos ? std::string_view() : text_.substr(begin);
}

int atx_level(std::string_view content, std::string_view& heading) noexcept {
  std::size_t level = 0;
  while (level < content.size() && content[level] == '#') ++level;
  if (level == 0 || level > 6 || (level < content.size() && content[level] != ' ' && content[level] != '\t')) return 0;
  heading = trim(content.substr(level));
  auto end = heading.size();
  while (end > 0 && heading[end - 1] == '#') --end;
  if (end == 0 || ascii::is_space(heading[end - 1])) heading = trim(heading.substr(0, end));
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

std::size_t item_marker_length(std::string_view content, bool& is_first) noexcept {
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
  content = trim(content);
  if (content.find_first_not_of("|-: \t") != std::string_view::npos || content.find('-') == std::string_view::npos)
    return false;
  if (content.front() == '|') content.remove_prefix(1);
  if (!content.empty() && content.back() == '|') content.remove_suffix(1);
  // Each cell consists of dashes, with an optional colon at each end.
  while (true) {
    const auto bar = content.find('|');
    auto cell = trim(content.substr(0, bar));
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
  const auto lower = ascii::to_lower(name);
  const auto tail = content.substr((is_end ? 2 : 1) + name.size());
  const bool is_complete = tail.empty() || ascii::is_space(tail.front()) || tail.front() == '>';
  if (!is_end && is_complete && std::find(raw_elements.begin(), raw_elements.end(), lower) != raw_elements.end())
    return html_block::raw;
  if ((is_complete || tail.starts_with("/>")) && std::binary_search(elements.begin(), elements.end(), std::string_view(lower)))
    return html_block::element;
  html_tag tag;
  if (read_tag(content, 0, tag) && only_spaces_from(content, tag.end)) return html_block::other;
  return html_block::none;
}

bool ends_html_block(html_block kind, std::string_view line) {
  const auto contains = [line](std::string_view mark) { return line.find(mark) != std::string_view::npos; };
  switch (kind) {
    case html_block::raw: {
      // Find the end tag anywhere in the line, with time linear in the length of the line.
      for (auto position = line.find("</"); position != std::string_view::npos; position = line.find("</", position + 2)) {
        const auto name = name_at(line.substr(position + 2));
        const bool is_raw = std::any_of(raw_elements.begin(), raw_elements.end(),
                                        [name](std::string_view element) { return ascii::equals_ignore_case(name, element); });
        if (is_raw && line.substr(position + 2 + name.size()).starts_with('>')) return true;
      }
      return false;
    }
    case html_block::comment:
      return contains("-->");
    case html_block::instruction:
      return contains("?>");
    case html_block::declaration:
      return contains(">");
    case html_block::cdata:
      return contains("]]>");
    default:
      return is_blank(line);
  }
}

std::string extract_attributes(std::string_view& heading) {
  if (!heading.ends_with('}')) return {};
  const auto open = heading.rfind('{');
  if (open == std::string_view::npos || heading.size() - open > 200) return {};
  auto content = heading.substr(open + 1, heading.size() - open - 2);
  if (content.starts_with(':')) content.remove_prefix(1);
  std::string id;
  for (content = trim(content); !content.empty(); content = trim(content)) {
    const auto end = std::min(content.find_first_of(" \t"), content.size());
    const auto attribute = content.substr(0, end);
    const bool is_id = attribute.front() == '#' && attribute.size() > 1;
    if (!is_id && attribute.front() != '.' && attribute.find('=') == std::string_view::npos) return {};
    if (is_id) id = attribute.substr(1);
    content.remove_prefix(end);
  }
  if (!id.empty()) heading = trim(heading.substr(0, open));
  return id;
}

namespace {

constexpr std::size_t max_containers = 32;
constexpr std::size_t max_definitions = 10'000;
/// In bytes. Beyond it, links of a paragraph are not searched.
constexpr std::size_t max_paragraph_bytes = 1 << 20;

class markdown_reader {
 public:
  markdown_reader(std::string_view text, markup_listener& listener, link_definitions& definitions)
      : text_(text), listener_(listener), definitions_(definitions) {}

  void read() {
    line_reader lines(text_);
    text_line line;
    if (auto front_matter = find_front_matter(text_)) {
      lines = line_reader(text_, front_matter->end, front_matter->last_line + 1);
      if (!listener_.on_piece(std::move(*front_matter))) return;
    } else if (text_.starts_with("\xEF\xBB\xBF")) {
      lines = line_reader(text_, 3);
    }
    while (accepts_more_ && lines.read(line)) read_line(line);
    close_leaf();
  }

 private:
  enum class leaf_kind : std::uint8_t { none, paragraph, fence, html, indented, table };
  struct block_container {
    bool is_quote = false;
    std::size_t indent = 0;  ///< Columns before the content of a list item.
  };

  [[nodiscard]] std::string_view content_of(const text_line& line) const noexcept {
    return text_.substr(line.begin, line.end - line.begin);
  }

  void read_line(const text_line& line) {
    line_cursor cursor(content_of(line));
    const auto matched = match_containers(cursor);
    const bool matches_all = matched == containers_.size();
    if (!matches_all && leaf_ != leaf_kind::paragraph) close_leaf();
    if (leaf_ == leaf_kind::fence) return read_fence_line(line, cursor);
    if (leaf_ == leaf_kind::html && html_ < html_block::element) return read_html_line(line);
    begin_blocks(line, cursor, matched);
  }

  /// Skips the markers of containers that continue on this line; returns their number.
  std::size_t match_containers(line_cursor& cursor) const noexcept {
    std::size_t matched = 0;
    for (const auto& container : containers_) {
      if (container.is_quote) {
        if (cursor.indent() > 3 || !cursor.content().starts_with('>')) break;
        skip_quote_marker(cursor);
      } else if (cursor.indent() >= container.indent) {
        cursor.skip_columns(container.indent);
      } else if (!cursor.content().empty()) {
        break;
      }
      ++matched;
    }
    return matched;
  }

  static void skip_quote_marker(line_cursor& cursor) noexcept {
    cursor.skip_columns(cursor.indent());
    cursor.skip(1);
    cursor.skip_columns(1);
  }

  /// Opens new containers, and then the block inside them.
  void begin_blocks(const text_line& line, line_cursor& cursor, std::size_t matched) {
    bool is_in_paragraph = leaf_ == leaf_kind::paragraph;
    const bool is_lazy = is_in_paragraph && matched < containers_.size();
    bool has_new_container = false;
    while (true) {
      const auto content = cursor.content();
      if (content.empty() || cursor.indent() > 3) break;
      bool is_first = false;
      if (content.front() == '>') {
        if (!open_container({true, 0}, matched, has_new_container)) break;
        skip_quote_marker(cursor);
      } else if (const bool is_underline = is_in_paragraph && !is_lazy && !has_new_container && underline_level(content) != 0;
                 is_underline || is_rule(content)) {
        break;
      } else if (const auto marker_length = item_marker_length(content, is_first); marker_length != 0) {
        const bool is_empty = is_blank(content.substr(marker_length));
        if (is_in_paragraph && !is_lazy && !has_new_container && (is_empty || !is_first)) break;
        const auto marker_indent = cursor.indent();
        line_cursor item_cursor = cursor;
        item_cursor.skip_columns(marker_indent);
        item_cursor.skip(marker_length);
        const auto spaces = item_cursor.indent();
        const std::size_t padding = is_empty || spaces > 4 ? 1 : spaces;
        if (!open_container({false, marker_indent + marker_length + padding}, matched, has_new_container)) break;
        item_cursor.skip_columns(padding);
        cursor = item_cursor;
      } else {
        break;
      }
      is_in_paragraph = false;
    }
    if (cursor.content().empty()) return read_blank_line(line, matched, has_new_container);
    const bool is_continuation = is_lazy && !has_new_container;
    if (is_continuation && !begins_leaf(cursor)) return extend(line);
    if (is_continuation) close_leaf();
    if (is_continuation || !has_new_container) containers_.resize(matched);
    read_leaf_line(line, cursor);
  }

  bool open_container(block_container container, std::size_t& matched, bool& has_new_container) {
    if (matched >= max_containers) return false;
    close_leaf();
    containers_.resize(matched++);
    containers_.push_back(container);
    has_new_container = true;
    return true;
  }

  void read_blank_line(const text_line& line, std::size_t matched, bool has_new_container) {
    if (leaf_ == leaf_kind::paragraph || leaf_ == leaf_kind::table || leaf_ == leaf_kind::html) close_leaf();
    if (has_new_container) return open_leaf(leaf_kind::none, line);
    // A blank line ends quotes, but not list items.
    std::size_t remaining = matched;
    while (remaining < containers_.size() && !containers_[remaining].is_quote) ++remaining;
    containers_.resize(remaining);
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

  void read_leaf_line(const text_line& line, const line_cursor& cursor) {
    const auto content = cursor.content();
    if (leaf_ == leaf_kind::html) return extend(line);
    if (cursor.indent() > 3 && leaf_ != leaf_kind::paragraph && leaf_ != leaf_kind::table) {
      if (leaf_ != leaf_kind::indented) open_leaf(leaf_kind::indented, line);
      return extend(line);
    }
    if (leaf_ == leaf_kind::indented) close_leaf();
    if (cursor.indent() > 3) return extend(line);
    if (leaf_ == leaf_kind::paragraph && read_underline(line, content)) return;
    std::string_view heading;
    if (const int level = atx_level(content, heading); level != 0) {
      close_leaf();
      return this->emit_heading(line.begin, line.end, line.number, line.number, level, heading);
    }
    if (const auto length = fence_length(content); length != 0) {
      open_leaf(leaf_kind::fence, line);
      fence_mark_ = content.front();
      fence_length_ = length;
      return emit(piece_kind::mark, line);
    }
    if (is_rule(content)) {
      close_leaf();
      return emit(piece_kind::mark, line);
    }
    const auto html = html_block_of(content);
    if (html != html_block::none && (html != html_block::other || leaf_ != leaf_kind::paragraph)) {
      open_leaf(leaf_kind::html, line);
      html_ = html;
      return html < html_block::element ? read_html_line(line) : extend(line);
    }
    if (leaf_ != leaf_kind::paragraph && leaf_ != leaf_kind::table && add_definition(line, content)) return;
    if (leaf_ == leaf_kind::paragraph && is_table_rule(content) && begin_table(line, content)) return;
    if (leaf_ == leaf_kind::none) open_leaf(leaf_kind::paragraph, line);
    extend(line);
  }

  /// Closes the open block and begins another one. `extend` is then called for each of its lines.
  void open_leaf(leaf_kind kind, const text_line& line) {
    close_leaf();
    leaf_ = kind;
    first_line_ = last_line_ = line;
    has_lines_ = false;
  }
  void extend(const text_line& line) {
    if (!has_lines_) first_line_ = line;
    has_lines_ = true;
    previous_line_ = last_line_;
    last_line_ = line;
  }

  void read_fence_line(const text_line& line, const line_cursor& cursor) {
    if (cursor.indent() > 3 || !closes_fence(cursor.content(), fence_mark_, fence_length_)) return extend(line);
    close_leaf();
    emit(piece_kind::mark, line);
  }

  void read_html_line(const text_line& line) {
    extend(line);
    if (ends_html_block(html_, content_of(line))) close_leaf();
  }

  bool read_underline(const text_line& line, std::string_view content) {
    const int level = underline_level(content);
    if (level == 0 || !has_lines_) return false;
    const auto raw = text_.substr(first_line_.begin, last_line_.end - first_line_.begin);
    const auto first = first_line_;
    leaf_ = leaf_kind::none;
    emit_heading(first.begin, line.end, first.number, line.number, level, trim(raw));
    return true;
  }

  bool add_definition(const text_line& line, std::string_view content) {
    std::string label;
    std::string target;
    if (!read_definition(content, label, target)) return false;
    close_leaf();
    if (definitions_.size() < max_definitions) definitions_.emplace(std::move(label), std::move(target));
    emit(piece_kind::mark, line);
    return true;
  }

  /// Begins a table if the last line of the paragraph has the same number of cells; that line is the header. The lines before
  /// it stay a paragraph.
  bool begin_table(const text_line& rule, std::string_view content) {
    const auto header = content_of(last_line_);
    const auto count_bars = [](std::string_view row) {
      row = trim(row);
      if (row.starts_with('|')) row.remove_prefix(1);
      if (row.ends_with('|') && !row.ends_with("\\|")) row.remove_suffix(1);
      std::size_t count = 0;
      for (std::size_t position = 0; position < row.size(); ++position)
        if (row[position] == '|' && (position == 0 || row[position - 1] != '\\')) ++count;
      return count;
    };
    const bool has_bars = header.find('|') != std::string_view::npos || content.find('|') != std::string_view::npos;
    if (!has_bars || count_bars(header) != count_bars(content)) return false;
    const auto first = last_line_;
    if (first_line_.begin == first.begin) {
      leaf_ = leaf_kind::none;
    } else {
      last_line_ = previous_line_;
      close_leaf();
    }
    open_leaf(leaf_kind::table, first);
    extend(first);
    extend(rule);
    return true;
  }

  void emit_heading(std::size_t begin, std::size_t end, std::size_t first_line, std::size_t last_line, int level,
                    std::string_view raw) {
    piece piece{piece_kind::heading, begin, end, first_line, last_line, level, {}, {}};
    if (!containers_.empty()) {
      // A heading inside a quote or a list does not begin a section of the document.
      piece.kind = piece_kind::prose;
      piece.level = 0;
    } else {
      piece.id = extract_attributes(raw);
    }
    auto content = read_inline(raw.substr(0, max_paragraph_bytes), first_line, definitions_);
    if (content.text.size() > max_heading_bytes) content.text.resize(boundary_before(content.text, max_heading_bytes));
    if (piece.kind == piece_kind::heading) piece.heading = std::move(content.text);
    accepts_more_ = accepts_more_ && listener_.on_piece(std::move(piece));
    emit_links(std::move(content.links));
  }

  void close_leaf() {
    const auto kind = leaf_;
    leaf_ = leaf_kind::none;
    if (kind == leaf_kind::none || !has_lines_) return;
    piece piece{piece_kind::prose, first_line_.begin, last_line_.end, first_line_.number, last_line_.number, 0, {}, {}};
    has_lines_ = false;
    if (kind == leaf_kind::fence || kind == leaf_kind::indented) {
      piece.kind = piece_kind::code;
    } else if (kind == leaf_kind::table) {
      piece.kind = piece_kind::table;
    } else if (kind == leaf_kind::html && html_ != html_block::raw && html_ < html_block::element) {
      piece.kind = piece_kind::mark;
    }
    const bool has_links = piece.kind == piece_kind::prose || piece.kind == piece_kind::table;
    const auto raw = text_.substr(piece.begin, std::min(piece.end - piece.begin, max_paragraph_bytes));
    const auto line_number = piece.first_line;
    accepts_more_ = accepts_more_ && listener_.on_piece(std::move(piece));
    if (has_links && listener_.wants_links()) emit_links(read_inline(raw, line_number, definitions_).links);
  }

  void emit(piece_kind kind, const text_line& line) {
    accepts_more_ = accepts_more_ && listener_.on_piece({kind, line.begin, line.end, line.number, line.number, 0, {}, {}});
  }

  void emit_links(std::vector<link> links) {
    if (!listener_.wants_links()) return;
    for (auto& link : links) listener_.on_link(std::move(link));
  }

  std::string_view text_;
  markup_listener& listener_;
  link_definitions& definitions_;
  bool accepts_more_ = true;
  std::vector<block_container> containers_{};
  leaf_kind leaf_ = leaf_kind::none;
  html_block html_ = html_block::none;
  char fence_mark_ = '`';
  std::size_t fence_length_ = 0;
  bool has_lines_ = false;
  text_line first_line_{};
  text_line last_line_{};
  text_line previous_line_{};
};

/// Ignores all output. A first pass with it collects link definitions, because they may follow their uses.
class null_listener final : public markup_listener {
 public:
  bool on_piece(piece) override { return true; }
  void on_link(link) override {}
  [[nodiscard]] bool wants_links() const noexcept override { return false; }
};

}  // namespace

void read_markdown(std::string_view text, markup_listener& listener) {
  link_definitions definitions;
  if (text.find("]:") != std::string_view::npos) {
    null_listener ignored;
    markdown_reader(text, ignored, definitions).read();
  }
  markdown_reader(text, listener, definitions).read();
}

}  // namespace hondana::markup
