/// Reads HTML as text, with its outline.
#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/ascii/ascii.hpp"
#include "text/markup/characters.hpp"
#include "text/markup/html.hpp"
#include "text/markup/html_table.hpp"
#include "text/markup/html_tree.hpp"
#include "text/markup/html_writer.hpp"
#include "text/markup/math_text.hpp"
#include "text/markup/outline.hpp"
#include "text/markup/pieces.hpp"

namespace hondana::markup {
namespace {

/// Elements whose content is not shown, or is not text of the document.
bool is_dropped(GumboTag tag) noexcept {
  switch (tag) {
    case GUMBO_TAG_AUDIO:
    case GUMBO_TAG_CANVAS:
    case GUMBO_TAG_DATALIST:
    case GUMBO_TAG_IFRAME:
    case GUMBO_TAG_NOEMBED:
    case GUMBO_TAG_NOFRAMES:
    case GUMBO_TAG_NOSCRIPT:
    case GUMBO_TAG_OBJECT:
    case GUMBO_TAG_RP:
    case GUMBO_TAG_SCRIPT:
    case GUMBO_TAG_SELECT:
    case GUMBO_TAG_STYLE:
    case GUMBO_TAG_TEXTAREA:
    case GUMBO_TAG_VIDEO:
      return true;
    default:
      return false;
  }
}

bool is_preformatted(GumboTag tag) noexcept {
  return tag == GUMBO_TAG_PRE || tag == GUMBO_TAG_LISTING || tag == GUMBO_TAG_XMP || tag == GUMBO_TAG_PLAINTEXT;
}

bool is_list(GumboTag tag) noexcept {
  return tag == GUMBO_TAG_OL || tag == GUMBO_TAG_UL || tag == GUMBO_TAG_MENU || tag == GUMBO_TAG_DIR;
}

/// Elements that begin and end with a line break. 2: with a blank line. 0: other elements.
int line_breaks(const GumboElement& element) {
  switch (element.tag) {
    case GUMBO_TAG_DD:
    case GUMBO_TAG_DT:
    case GUMBO_TAG_LI:
    case GUMBO_TAG_OPTGROUP:
    case GUMBO_TAG_OPTION:
    case GUMBO_TAG_TD:
    case GUMBO_TAG_TH:
    case GUMBO_TAG_TR:
      return 1;
    case GUMBO_TAG_ADDRESS:
    case GUMBO_TAG_ARTICLE:
    case GUMBO_TAG_ASIDE:
    case GUMBO_TAG_BLOCKQUOTE:
    case GUMBO_TAG_BODY:
    case GUMBO_TAG_CAPTION:
    case GUMBO_TAG_CENTER:
    case GUMBO_TAG_DETAILS:
    case GUMBO_TAG_DIV:
    case GUMBO_TAG_DL:
    case GUMBO_TAG_FIELDSET:
    case GUMBO_TAG_FIGCAPTION:
    case GUMBO_TAG_FIGURE:
    case GUMBO_TAG_FOOTER:
    case GUMBO_TAG_FORM:
    case GUMBO_TAG_HEADER:
    case GUMBO_TAG_HGROUP:
    case GUMBO_TAG_HR:
    case GUMBO_TAG_HTML:
    case GUMBO_TAG_LEGEND:
    case GUMBO_TAG_MAIN:
    case GUMBO_TAG_NAV:
    case GUMBO_TAG_P:
    case GUMBO_TAG_SECTION:
    case GUMBO_TAG_SUMMARY:
    case GUMBO_TAG_TABLE:
      return 2;
    case GUMBO_TAG_UNKNOWN: {
      const auto name = name_of(element);
      return name == "dialog" || name == "search" ? 2 : 0;
    }
    default:
      return 0;
  }
}

int heading_level(GumboTag tag) noexcept {
  return tag >= GUMBO_TAG_H1 && tag <= GUMBO_TAG_H6 ? static_cast<int>(tag) - static_cast<int>(GUMBO_TAG_H1) + 1 : 0;
}

/// The `style` attribute in lower case, without white space.
std::string style_of(const GumboElement& element) {
  std::string style;
  if (const auto* value = find_attribute(element, "style")) {
    for (const char c : std::string_view(value))
      if (!ascii::is_space(c)) style += ascii::to_lower(c);
  }
  return style;
}

bool is_hidden(const GumboElement& element) {
  const auto* hidden = find_attribute(element, "hidden");
  if (hidden != nullptr && !ascii::equals_ignore_case(hidden, "until-found")) return true;
  const auto style = style_of(element);
  if (style.find("display:none") != std::string::npos || style.find("visibility:hidden") != std::string::npos) return true;
  if (element.tag == GUMBO_TAG_UNKNOWN && name_of(element) == "dialog") return find_attribute(element, "open") == nullptr;
  // The sign at the end of a heading that links to itself.
  const auto* classes = find_attribute(element, "class");
  return element.tag == GUMBO_TAG_A && classes != nullptr &&
         std::string_view(classes).find("headerlink") != std::string_view::npos;
}

/// Whether people see an element or template.
bool is_displayed(const GumboNode& node) {
  const auto& element = node.v.element;
  if (node.type != GUMBO_NODE_ELEMENT) return false;  // a template
  if (element.tag_namespace != GUMBO_NAMESPACE_HTML) return element.tag_namespace == GUMBO_NAMESPACE_MATHML;
  if (element.tag == GUMBO_TAG_HTML || element.tag == GUMBO_TAG_BODY) return true;
  return !is_dropped(element.tag) && !is_hidden(element);
}

std::string alphabetic_number(int number) {
  std::string out;
  for (; number > 0; number = (number - 1) / 26) out.insert(out.begin(), static_cast<char>('a' + (number - 1) % 26));
  return out;
}

std::string roman_number(int number) {
  constexpr std::array<std::pair<int, std::string_view>, 13> numerals{{{1000, "m"},
                                                                       {900, "cm"},
                                                                       {500, "d"},
                                                                       {400, "cd"},
                                                                       {100, "c"},
                                                                       {90, "xc"},
                                                                       {50, "l"},
                                                                       {40, "xl"},
                                                                       {10, "x"},
                                                                       {9, "ix"},
                                                                       {5, "v"},
                                                                       {4, "iv"},
                                                                       {1, "i"}}};
  std::string out;
  for (const auto& [value, letters] : numerals)
    for (; number >= value; number -= value) out += letters;
  return out;
}

/// An open list.
struct list_state {
  char type = '\0';  ///< `1`, `a`, `A`, `i` or `I`; NUL: without numbers.
  int next = 1;
  int step = 1;
  std::size_t marker_width = 2;

  /// Returns the marker of the next item. `value`: the number that the item sets.
  std::string take_marker(std::optional<int> value) {
    std::string marker = "- ";
    if (type != '\0') {
      const auto number = value.value_or(next);
      next = number + step;
      const bool is_alphabetic = ascii::to_lower(type) == 'a' && number > 0;
      const bool is_roman = ascii::to_lower(type) == 'i' && number > 0 && number < 4000;
      marker = is_alphabetic ? alphabetic_number(number) : is_roman ? roman_number(number) : std::to_string(number);
      if (type == 'A' || type == 'I')
        for (auto& c : marker) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
      marker += ". ";
    }
    marker_width = std::min(marker.size(), max_marker_width);
    return marker;
  }

 private:
  static constexpr std::size_t max_marker_width = 5;
};

/// Resolves a link target against the first `base` element. Source: RFC 3986, 5.2; the base may be relative, too.
std::string resolve_target(std::string_view base, std::string_view target) {
  const auto has_scheme = [](std::string_view uri) {
    const auto end = uri.find_first_of(":/?#");
    return end != std::string_view::npos && end > 0 && uri[end] == ':';
  };
  base = base.substr(0, base.find('#'));
  if (base.empty() || target.empty() || has_scheme(target)) return std::string(target);
  if (target.front() == '#') return std::string(base).append(target);
  base = base.substr(0, base.find('?'));
  if (target.front() == '?') return std::string(base).append(target);
  const auto scheme_end = has_scheme(base) ? base.find(':') + 1 : 0;
  if (target.starts_with("//")) return std::string(base.substr(0, scheme_end)).append(target);
  auto path_begin = scheme_end;
  if (base.substr(scheme_end).starts_with("//")) path_begin = std::min(base.find('/', scheme_end + 2), base.size());
  if (target.front() == '/') return std::string(base.substr(0, path_begin)).append(target);
  auto folder = base.substr(path_begin);
  folder = folder.substr(0, folder.rfind('/') + 1);
  const bool is_rooted = folder.starts_with('/') || path_begin > scheme_end;
  while (target.starts_with("./") || target.starts_with("../")) {
    const bool is_up = target.starts_with("../");
    const auto parent = folder.substr(0, folder.size() - std::min<std::size_t>(folder.size(), 1)).rfind('/') + 1;
    if (is_up && (folder.empty() || folder.substr(parent) == "../") && !is_rooted) break;
    if (is_up && folder.size() > 1) folder = folder.substr(0, parent);
    target.remove_prefix(is_up ? 3 : 2);
  }
  std::string out(base.substr(0, path_begin));
  if (folder.empty() && path_begin > scheme_end) out += '/';
  return out.append(folder).append(target);
}

/// What a cell has; later values need more space.
enum class cell_content : unsigned char { inline_text, blocks, headings_or_tables };

class html_reader {
 public:
  explicit html_reader(std::string_view html) : html_(html), tree_(html) {
    line_starts_.push_back(0);
    for (auto end = html.find('\n'); end != std::string_view::npos; end = html.find('\n', end + 1))
      line_starts_.push_back(end + 1);
  }

  html_text read() {
    survey();
    visit(tree_.document());
    auto result = writer_.finish(html_.size(), count_lines(html_));
    if (!title_.empty()) result.text_outline.title = result.source_outline.title = title_;
    if (base_) {
      for (auto* links : {&result.text_outline.links, &result.source_outline.links})
        for (auto& link : *links) link.target = resolve_target(*base_, link.target);
    }
    result.description = std::move(description_);
    result.language = std::move(language_);
    result.is_truncated = tree_.is_truncated();
    return result;
  }

 private:
  struct script {
    const GumboNode* node;
    std::optional<std::string> (*convert)(std::string_view);  ///< Null: marks surround the text.
    std::string_view mark;
  };

  [[nodiscard]] std::size_t line_at(std::size_t position) const noexcept {
    return static_cast<std::size_t>(std::upper_bound(line_starts_.begin(), line_starts_.end(), position) -
                                    line_starts_.begin());
  }

  /// Finds the base of links, and the cells that cannot be shown on one line.
  void survey() {
    std::vector<const GumboNode*> cells;
    const auto mark_cell = [&](cell_content content) {
      if (cells.empty()) return;
      auto& known = cell_contents_[cells.back()];
      known = std::max(known, content);
    };
    visit_nodes(
        tree_.document(),
        [&](const GumboNode& node) {
          if (node.type == GUMBO_NODE_DOCUMENT) return next_node::inside;
          if (node.type != GUMBO_NODE_ELEMENT || !is_displayed(node)) return next_node::after;
          const auto tag = node.v.element.tag;
          if (node.v.element.tag_namespace != GUMBO_NAMESPACE_HTML) return next_node::after;
          if (tag == GUMBO_TAG_BASE && !base_) {
            const auto* target = find_attribute(node.v.element, "href");
            if (target != nullptr && std::strlen(target) <= max_target_bytes) base_ = trim(target);
          }
          if (heading_level(tag) != 0 || tag == GUMBO_TAG_TABLE)
            mark_cell(cell_content::headings_or_tables);
          else if (is_preformatted(tag) && trim(text_below(node, max_survey_bytes)).find('\n') != std::string_view::npos)
            mark_cell(cell_content::headings_or_tables);
          else if (tag == GUMBO_TAG_P || tag == GUMBO_TAG_DIV || tag == GUMBO_TAG_DL || is_list(tag))
            mark_cell(cell_content::blocks);
          if (tag == GUMBO_TAG_TD || tag == GUMBO_TAG_TH) cells.push_back(&node);
          return next_node::inside;
        },
        [&](const GumboNode& node) {
          if (!cells.empty() && cells.back() == &node) cells.pop_back();
        });
  }

  void visit(const GumboNode& top) {
    visit_nodes(
        top, [this](const GumboNode& node) { return enter(node) ? next_node::inside : next_node::after; },
        [this](const GumboNode& node) { leave(node); });
  }
  void visit_children(const GumboNode& node) {
    const auto& children = children_of(node);
    for (unsigned int i = 0; i < children.length; ++i) visit(*static_cast<const GumboNode*>(children.data[i]));
  }

  /// Returns whether to visit the nodes below, and then to leave the node.
  bool enter(const GumboNode& node) {
    if (node.type == GUMBO_NODE_DOCUMENT) return true;
    if (is_text(node)) {
      write_text(node.v.text);
      return false;
    }
    if (node.type != GUMBO_NODE_ELEMENT || !is_displayed(node)) return false;
    const auto& element = node.v.element;
    // A copy of an element, of which a part of the document has a second one, has the tag of the first.
    constexpr auto copied = GUMBO_INSERTION_RECONSTRUCTED_FORMATTING_ELEMENT | GUMBO_INSERTION_ADOPTION_AGENCY_CLONED;
    if ((node.parse_flags & copied) == 0) set_position(element.original_tag);
    if (element.tag_namespace == GUMBO_NAMESPACE_MATHML) {
      write_math(node);
      return false;
    }
    return enter_element(node);
  }

  bool enter_element(const GumboNode& node) {
    const auto& element = node.v.element;
    const auto* id = find_attribute(element, "id");
    if (id != nullptr && (*id == '\0' || std::strlen(id) > max_heading_bytes)) id = nullptr;
    if (const int level = heading_level(element.tag); level != 0) {
      writer_.begin_heading(level, id == nullptr ? section_id_ : id);
      section_id_.clear();
      return true;
    }
    if (is_list(element.tag)) {
      begin_list(node);
      return true;
    }
    if (is_preformatted(element.tag)) {
      writer_.begin_preformatted();
      return true;
    }
    switch (element.tag) {
      case GUMBO_TAG_HTML:
        for (const auto* name : {"xml:lang", "lang"})
          if (const auto* language = find_attribute(element, name); language != nullptr && std::strlen(language) <= 64)
            language_ = language;
        break;
      case GUMBO_TAG_TITLE:
        if (title_.empty()) title_ = html_writer::to_single_line(text_below(node, 4 * max_heading_bytes));
        return false;
      case GUMBO_TAG_META:
        if (description_.empty() && ascii::equals_ignore_case(text_of_attribute(element, "name"), "description"))
          description_ = html_writer::to_single_line(text_of_attribute(element, "content"));
        break;
      case GUMBO_TAG_SECTION:
      case GUMBO_TAG_DIV:
      case GUMBO_TAG_ARTICLE:
      case GUMBO_TAG_SPAN:
      case GUMBO_TAG_A:
        if (id != nullptr) section_id_ = id;
        if (const auto* target = element.tag == GUMBO_TAG_A ? find_attribute(element, "href") : nullptr)
          writer_.begin_link(std::string(trim(target)));
        break;
      case GUMBO_TAG_AREA:
        if (const auto* target = find_attribute(element, "href"))
          writer_.add_link(std::string(trim(target)), text_of_attribute(element, "alt"));
        break;
      case GUMBO_TAG_IMG:
        writer_.add_image(std::string(trim(text_of_attribute(element, "src"))), text_of_attribute(element, "alt"));
        break;
      case GUMBO_TAG_BR:
        writer_.break_line(1);
        break;
      case GUMBO_TAG_LI:
        begin_item(element);
        return true;
      case GUMBO_TAG_DD:
        writer_.begin_item(indentation(lists_.size()), ": ");
        return true;
      case GUMBO_TAG_Q:
        writer_.add_text("\"", 0);
        break;
      case GUMBO_TAG_SUB:
      case GUMBO_TAG_SUP:
        begin_script(node);
        break;
      case GUMBO_TAG_RUBY:
        if (write_ruby(node)) return false;
        break;
      case GUMBO_TAG_TABLE:
        if (write_table(node)) return false;
        break;
      default:
        break;
    }
    if (const auto lines = line_breaks(element); lines != 0) writer_.break_line(lines);
    return true;
  }

  void leave(const GumboNode& node) {
    if (node.type != GUMBO_NODE_ELEMENT) return;
    const auto& element = node.v.element;
    if (heading_level(element.tag) != 0) {
      writer_.end_heading();
    } else if (is_list(element.tag)) {
      lists_.pop_back();
      writer_.break_line(lists_.empty() ? 2 : 1);
    } else if (is_preformatted(element.tag)) {
      writer_.end_preformatted();
    } else if (element.tag == GUMBO_TAG_A) {
      if (find_attribute(element, "href") != nullptr) writer_.end_link();
    } else if (element.tag == GUMBO_TAG_Q) {
      writer_.add_mark("\"");
    } else if (!scripts_.empty() && scripts_.back().node == &node) {
      if (scripts_.back().convert == nullptr) writer_.add_mark(scripts_.back().mark);
      scripts_.pop_back();
    } else if (const auto lines = line_breaks(element); lines != 0) {
      writer_.break_line(lines);
    }
  }

  static std::string_view text_of_attribute(const GumboElement& element, const char* name) noexcept {
    const auto* value = find_attribute(element, name);
    return value == nullptr ? std::string_view() : value;
  }

  void set_position(const GumboStringPiece& part) {
    if (const auto position = tree_.offset_of(part)) writer_.set_source_position(*position, line_at(*position));
  }

  void write_text(const GumboText& text) {
    set_position(text.original_text);
    const std::string_view characters = text.text;
    if (!is_blank(characters)) section_id_.clear();
    const auto begin = tree_.offset_of(text.original_text);
    const auto last_line = begin ? line_at(*begin + text.original_text.length) : 0;
    if (scripts_.empty() || scripts_.back().convert == nullptr) return writer_.add_text(characters, last_line);
    const auto converted = scripts_.back().convert(trim(characters));
    writer_.add_text(converted ? *converted : characters, last_line);
  }

  void write_math(const GumboNode& node) {
    const bool is_block = ascii::equals_ignore_case(text_of_attribute(node.v.element, "display"), "block");
    if (is_block) writer_.break_line(2);
    writer_.add_text(math_text(node), 0);
    if (is_block) writer_.break_line(2);
  }

  void begin_list(const GumboNode& node) {
    const auto& element = node.v.element;
    writer_.break_line(lists_.empty() ? 2 : 1);
    auto& list = lists_.emplace_back();
    const auto style = style_of(element);
    if (element.tag != GUMBO_TAG_OL || style.find("list-style:none") != std::string::npos ||
        style.find("list-style-type:none") != std::string::npos)
      return;
    const auto type = text_of_attribute(element, "type");
    list.type = type.size() == 1 && std::string_view("1aAiI").find(type.front()) != std::string_view::npos ? type.front() : '1';
    const auto start = parse_html_integer(text_of_attribute(element, "start"));
    if (find_attribute(element, "reversed") != nullptr) {
      list.step = -1;
      list.next = start ? *start : count_items(node);
    } else if (start) {
      list.next = *start;
    }
  }

  static int count_items(const GumboNode& list) {
    int count = 0;
    const auto& children = children_of(list);
    for (unsigned int i = 0; i < children.length; ++i) {
      const auto& child = *static_cast<const GumboNode*>(children.data[i]);
      if (is_element(child, GUMBO_TAG_LI) && is_displayed(child)) ++count;
    }
    return count;
  }

  void begin_item(const GumboElement& element) {
    if (lists_.empty()) return writer_.begin_item(0, "- ");
    const auto marker = lists_.back().take_marker(parse_html_integer(text_of_attribute(element, "value")));
    writer_.begin_item(indentation(lists_.size() - 1), marker);
  }

  /// The columns of the markers of the outer `depth` lists.
  [[nodiscard]] std::size_t indentation(std::size_t depth) const noexcept {
    std::size_t columns = 0;
    for (std::size_t i = 0; i < std::min(depth, max_indented_lists); ++i) columns += lists_[i].marker_width;
    return columns;
  }

  /// Text of digits and signs becomes superscript characters. Other text gets the marks of Pandoc, if it has letters or digits:
  /// `x^k^`.
  void begin_script(const GumboNode& node) {
    const bool is_super = node.v.element.tag == GUMBO_TAG_SUP;
    std::string text;
    bool is_simple = true;
    visit_nodes(
        node,
        [&](const GumboNode& inner) {
          const auto tag = inner.type == GUMBO_NODE_ELEMENT ? inner.v.element.tag : GUMBO_TAG_UNKNOWN;
          if (is_text(inner)) text += inner.v.text.text;
          is_simple = text.size() <= max_script_bytes && tag != GUMBO_TAG_IMG && tag != GUMBO_TAG_MATH &&
                      (&inner == &node || (tag != GUMBO_TAG_SUP && tag != GUMBO_TAG_SUB));
          return is_simple ? next_node::inside : next_node::none;
        },
        [](const GumboNode&) {});
    const auto content = trim(text);
    const auto convert = is_super ? &to_superscript : &to_subscript;
    if (is_simple && !content.empty() && convert(content)) return scripts_.push_back({&node, convert, {}});
    const auto lower = ascii::to_lower(content);
    const bool is_ordinal = is_super && (lower == "st" || lower == "nd" || lower == "rd" || lower == "th");
    bool has_word = false;
    for (std::size_t i = 0; i < content.size() && !has_word; i += character_at(content, i).bytes)
      has_word = is_word_character(character_at(content, i).point);
    if (is_simple && (is_ordinal || !has_word || content.starts_with('['))) return;
    scripts_.push_back({&node, nullptr, is_super ? "^" : "~"});
    writer_.add_text(scripts_.back().mark, 0);
  }

  /// Writes `base(reading)`. Returns false if it does nothing, because too many elements are nested.
  bool write_ruby(const GumboNode& node) {
    if (nesting_ == max_nesting) return false;
    ++nesting_;
    const auto is_reading = [](const GumboNode& child) {
      return is_element(child, GUMBO_TAG_RT) || is_element(child, GUMBO_TAG_RTC);
    };
    const auto& children = children_of(node);
    bool has_reading = false;
    for (unsigned int i = 0; i < children.length; ++i) {
      const auto& child = *static_cast<const GumboNode*>(children.data[i]);
      if (!is_reading(child))
        visit(child);
      else
        has_reading = has_reading || !is_blank(text_below(child, max_survey_bytes));
    }
    if (has_reading) {
      writer_.add_mark("(");
      for (unsigned int i = 0; i < children.length; ++i) {
        const auto& child = *static_cast<const GumboNode*>(children.data[i]);
        if (is_reading(child)) visit(child);
      }
      writer_.add_mark(")");
    }
    --nesting_;
    return true;
  }

  /// Writes the table. Returns false if it does nothing, because too many elements are nested.
  bool write_table(const GumboNode& node) {
    if (nesting_ == max_nesting) return false;
    ++nesting_;
    const auto table = form_table(node, is_displayed);
    for (const auto* caption : table.captions) visit(*caption);
    bool is_open = false;
    for (const auto& row : table.rows) {
      const bool is_grid = fits_in_line(row, table.columns);
      if (is_grid != is_open) is_grid ? writer_.begin_table() : writer_.end_table();
      is_open = is_grid;
      is_grid ? write_row(row) : write_blocks(row);
    }
    if (is_open) writer_.end_table();
    writer_.break_line(2);
    --nesting_;
    return true;
  }

  [[nodiscard]] bool fits_in_line(const std::vector<html_cell>& row, std::size_t columns) const {
    const auto limit = columns == 1 ? cell_content::inline_text : cell_content::blocks;
    return std::all_of(row.begin(), row.end(), [&](const html_cell& cell) {
      const auto content = cell_contents_.find(cell.node);
      return content == cell_contents_.end() || content->second <= limit;
    });
  }

  void write_row(const std::vector<html_cell>& row) {
    if (std::all_of(row.begin(), row.end(), [](const html_cell& cell) { return is_empty_cell(*cell.node); })) return;
    writer_.begin_row();
    std::size_t column = 0;
    for (const auto& cell : row) {
      // Bars for many empty columns would make a small table a large text.
      const auto skipped = cell.column - std::min(cell.column, column);
      column = skipped <= empty_cells_left() ? cell.column : column + 1;
      empty_cells_ += skipped;
      writer_.begin_cell(column);
      set_position(cell.node->v.element.original_tag);
      visit_children(*cell.node);
      column = column + 1;
    }
    writer_.end_row();
  }
  [[nodiscard]] std::size_t empty_cells_left() const noexcept {
    const auto limit = max_survey_bytes + html_.size();
    return limit - std::min(limit, empty_cells_);
  }

  static bool is_empty_cell(const GumboNode& cell) {
    bool is_empty = true;
    visit_nodes(
        cell,
        [&](const GumboNode& node) {
          if (is_text(node))
            is_empty = is_blank(node.v.text.text);
          else if (node.type == GUMBO_NODE_ELEMENT && node.v.element.tag == GUMBO_TAG_IMG)
            is_empty = is_blank(text_of_attribute(node.v.element, "alt"));
          return is_empty ? next_node::inside : next_node::none;
        },
        [](const GumboNode&) {});
    return is_empty;
  }

  void write_blocks(const std::vector<html_cell>& row) {
    for (const auto& cell : row) {
      writer_.break_line(2);
      set_position(cell.node->v.element.original_tag);
      visit_children(*cell.node);
    }
    writer_.break_line(2);
  }

  static constexpr std::size_t max_nesting = 64;
  static constexpr std::size_t max_indented_lists = 15;
  static constexpr std::size_t max_script_bytes = 256;
  static constexpr std::size_t max_survey_bytes = 1024;

  std::string_view html_;
  html_tree tree_;
  std::vector<std::size_t> line_starts_{};
  std::optional<std::string> base_{};
  std::unordered_map<const GumboNode*, cell_content> cell_contents_{};
  std::vector<list_state> lists_{};
  std::vector<script> scripts_{};
  std::size_t nesting_ = 0;  ///< Number of open tables and ruby elements.
  std::size_t empty_cells_ = 0;
  std::string section_id_{};
  std::string title_{};
  std::string description_{};
  std::string language_{};
  html_writer writer_{};
};

}  // namespace

namespace {

/// Texts of scripts and comments may have tags, too, which are removed once.
void append_all_text(std::string& out, std::string_view html, bool is_inner) {
  const html_tree tree(html);
  const auto separate = [&out](const GumboNode& node) {
    if (node.type != GUMBO_NODE_ELEMENT && node.type != GUMBO_NODE_TEMPLATE) return;
    const auto& element = node.v.element;
    if (element.tag == GUMBO_TAG_HTML || element.tag == GUMBO_TAG_BODY) return;
    if (line_breaks(element) != 0 || heading_level(element.tag) != 0 || is_list(element.tag) || is_preformatted(element.tag) ||
        is_dropped(element.tag) || element.tag == GUMBO_TAG_BR || element.tag == GUMBO_TAG_TITLE)
      out += '\n';
  };
  const auto append = [&out, is_inner](std::string_view text) {
    if (is_inner || text.find('<') == std::string_view::npos)
      out += text;
    else
      append_all_text(out, text, true);
  };
  visit_nodes(
      tree.document(),
      [&](const GumboNode& node) {
        separate(node);
        if (is_text(node)) append(node.v.text.text);
        // Blank comments replace tags if the tree is flat.
        if (node.type == GUMBO_NODE_COMMENT && !is_blank(node.v.text.text)) {
          out += '\n';
          append(node.v.text.text);
          out += '\n';
        }
        return next_node::inside;
      },
      separate);
}

}  // namespace

std::string all_text_of_html(std::string_view html) {
  std::string text;
  append_all_text(text, html, false);
  return text;
}

html_text read_html(std::string_view html) { return html_reader(html).read(); }

outline outline_of_html(std::string_view html) { return read_html(html).source_outline; }

rendered_html render_html(std::string_view html) {
  auto result = read_html(html);
  return {std::move(result.text), std::move(result.text_outline), std::move(result.first_source_lines),
          std::move(result.language), result.is_truncated};
}

}  // namespace hondana::markup
