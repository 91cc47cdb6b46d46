/// Recognises lines of Markdown. Source: spec.commonmark.org, section 4.
#include "text/markup/markdown_lines.hpp"

#include <algorithm>
#include <array>

#include "base/ascii/characters.hpp"
#include "text/markup/lines.hpp"
#include "text/markup/tags.hpp"

namespace hondana::markup {
namespace {

/// In order.
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
  // Each cell is dashes with a colon at either end.
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
      // Where its end tag could stand, however long the line is.
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

}  // namespace hondana::markup
