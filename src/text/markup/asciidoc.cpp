/// Reads blocks of AsciiDoc.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ascii/ascii.hpp"
#include "text/markup/asciidoc_attributes.hpp"
#include "text/markup/asciidoc_inlines.hpp"
#include "text/markup/characters.hpp"
#include "text/markup/pieces.hpp"

namespace hondana::markup {
namespace {

/// Delimited blocks that are open at once. Delimiters of further ones are text.
constexpr std::size_t max_open_blocks = 64;

/// `verbatim`: the content has no blocks. `compound`: the content consists of blocks, but not of sections.
enum class content_model : std::uint8_t { compound, verbatim, comment };

/// A delimited block: a listing, an example, a table, …
struct delimited_block {
  std::string_view terminator{};
  piece_kind kind = piece_kind::prose;  ///< Of its lines.
  content_model model = content_model::compound;
  bool is_attached = false;  ///< To a list item.
};

/// Reads the line that opens a delimited block.
std::optional<delimited_block> read_delimiter(std::string_view line) noexcept {
  if (line == "--") return delimited_block{line, piece_kind::prose, content_model::compound};
  if (line.starts_with("```")) {
    if (line.substr(3).starts_with('`')) return std::nullopt;
    return delimited_block{line.substr(0, 3), piece_kind::code, content_model::verbatim};
  }
  if (line.size() < 4) return std::nullopt;
  const bool is_table = std::string_view("|,:!").find(line.front()) != std::string_view::npos && line[1] == '=';
  if (line.find_first_not_of(line[1], 1) != std::string_view::npos || (!is_table && line.front() != line[1]))
    return std::nullopt;
  if (is_table) return delimited_block{line, piece_kind::table, content_model::verbatim};
  switch (line.front()) {
    case '-':
    case '.':
      return delimited_block{line, piece_kind::code, content_model::verbatim};
    case '/':
      return delimited_block{line, piece_kind::mark, content_model::comment};
    case '+':
      return delimited_block{line, piece_kind::mark, content_model::verbatim};
    case '=':
    case '*':
    case '_':
      return delimited_block{line, piece_kind::prose, content_model::compound};
    default:
      return std::nullopt;
  }
}

/// A title in one line (`== Title`) or two.
struct section_title {
  std::string_view text{};
  int level = 0;  ///< 0: the title of the document or of a part.
  bool has_underline = false;
};

std::optional<section_title> read_one_line_title(std::string_view line) noexcept {
  if (line.empty() || (line.front() != '=' && line.front() != '#')) return std::nullopt;
  const auto marks = std::min(line.find_first_not_of(line.front()), line.size());
  if (marks > 6 || marks == line.size() || !ascii::is_blank(line[marks])) return std::nullopt;
  auto text = trim(line.substr(marks));
  // `== Title ==`
  if (text.size() > marks + 1 && text.ends_with(line.substr(0, marks)) && ascii::is_blank(text[text.size() - marks - 1]))
    text = trim(text.substr(0, text.size() - marks));
  return section_title{text, static_cast<int>(marks) - 1, false};
}

std::size_t count_characters(std::string_view text) noexcept {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::optional<section_title> read_two_line_title(std::string_view line, std::string_view underline) noexcept {
  constexpr std::string_view marks = "=-~^+";
  if (underline.empty() || line.starts_with('.')) return std::nullopt;
  const auto level = marks.find(underline.front());
  if (level == std::string_view::npos || underline.find_first_not_of(underline.front()) != std::string_view::npos)
    return std::nullopt;
  const auto length = count_characters(line);
  if (length > underline.size() + 1 || underline.size() > length + 1) return std::nullopt;
  const bool has_word = std::any_of(line.begin(), line.end(),
                                    [](char c) { return ascii::is_alphanumeric(c) || static_cast<unsigned char>(c) >= 0x80; });
  if (!has_word) return std::nullopt;
  return section_title{trim(line), static_cast<int>(level), true};
}

std::string_view trim_end_of(std::string_view line) noexcept {
  while (!line.empty() && ascii::is_space(line.back())) line.remove_suffix(1);
  return line;
}

bool is_line_comment(std::string_view line) noexcept { return line.starts_with("//") && !line.starts_with("///"); }

/// `.Title` of a block.
bool is_block_title(std::string_view line) noexcept {
  if (!line.starts_with('.')) return false;
  line.remove_prefix(line.substr(1).starts_with('.') ? 2 : 1);
  return !line.empty() && line.front() != '.' && !ascii::is_blank(line.front());
}

/// `[[id]]`, `[style#id.role%option,name=value]`
bool is_attribute_line(std::string_view line) noexcept {
  if (!line.starts_with('[') || !line.ends_with(']') || line.size() < 2) return false;
  if (line.starts_with("[[")) return line.ends_with("]]");
  const char first = line[1];
  return first == ']' || ascii::is_alphanumeric(first) || static_cast<unsigned char>(first) >= 0x80 ||
         std::string_view("_.#%{,\"'").find(first) != std::string_view::npos;
}

/// `'''`, `<<<`, `---`, `* * *`
bool is_break(std::string_view line) noexcept {
  if (line.size() < 3) return false;
  const char mark = line.front();
  if (mark == '\'' || mark == '<') return line.find_first_not_of(mark) == std::string_view::npos;
  if (mark != '-' && mark != '*' && mark != '_') return false;
  return std::count(line.begin(), line.end(), mark) == 3 &&
         std::all_of(line.begin(), line.end(), [mark](char c) { return c == mark || c == ' '; });
}

/// `image::target[]`, and other blocks of one line.
bool is_block_macro(std::string_view line) noexcept {
  if (!line.ends_with(']')) return false;
  constexpr std::array<std::string_view, 4> names{"image::", "video::", "audio::", "toc::"};
  return std::any_of(names.begin(), names.end(), [line](std::string_view name) { return line.starts_with(name); });
}

enum class list_item : std::uint8_t { none, simple, term, term_without_text };

/// The length of a marker such as `**`, `1.`, `iv)` or `<1>`, without the space after it; 0: none.
std::size_t list_marker_length(std::string_view content) noexcept {
  const char first = content.front();
  std::size_t end = 0;
  if (first == '*' || first == '.') return std::min(content.find_first_not_of(first), content.size());
  if (first == '-') return 1;
  if (content.starts_with("•")) return std::string_view("•").size();
  if (first == '<') {
    end = std::min(content.find_first_not_of(".0123456789", 1), content.size());
    return end > 1 && content.substr(end).starts_with('>') ? end + 1 : 0;
  }
  while (end < content.size() && ascii::is_digit(content[end])) ++end;
  if (end == 0 && ascii::is_letter(first) && content.substr(1).starts_with('.')) return 2;
  if (end > 0) return content.substr(end).starts_with('.') ? end + 1 : 0;
  end = std::min(content.find_first_not_of("IVXivx"), content.size());
  return end > 0 && content.substr(end).starts_with(')') ? end + 1 : 0;
}

/// The kind of list item that a line begins. `term`: of a description list.
list_item list_item_of(std::string_view line) noexcept {
  const auto content = line.substr(std::min(line.find_first_not_of(" \t"), line.size()));
  if (content.empty()) return list_item::none;
  const auto end = list_marker_length(content);
  if (end > 0 && end < content.size() && ascii::is_blank(content[end])) return list_item::simple;
  if (is_line_comment(line)) return list_item::none;
  for (auto marks = content.find_first_of(":;", 1); marks != std::string_view::npos;
       marks = content.find_first_of(":;", marks)) {
    const auto after = std::min(content.find_first_not_of(content[marks], marks), content.size());
    const auto count = after - marks;
    const bool is_term = content[marks] == ':' ? count >= 2 && count <= 4 : count == 2;
    if (is_term && after == content.size()) return list_item::term_without_text;
    if (is_term && ascii::is_blank(content[after])) return list_item::term;
    marks = after;
  }
  return list_item::none;
}

/// The style and the id of the lines `[…]` above a block.
struct block_attributes {
  std::string style{};
  std::string id{};
};

/// The value of `id=value` or `id="value"` in a list of attributes.
std::string_view find_id(std::string_view attributes) noexcept {
  for (auto position = attributes.find("id="); position != std::string_view::npos;
       position = attributes.find("id=", position + 3)) {
    if (position > 0 && attributes[position - 1] != ',' && attributes[position - 1] != ' ') continue;
    auto value = attributes.substr(position + 3);
    if (value.starts_with('"') || value.starts_with('\'')) return value.substr(1, value.substr(1).find(value.front()));
    return value.substr(0, value.find_first_of(", "));
  }
  return {};
}

void read_attribute_line(std::string_view line, block_attributes& attributes) {
  constexpr std::size_t max_style_bytes = 64;
  auto content = line.substr(1, line.size() - 2);
  if (content.starts_with('[') && content.ends_with(']')) {
    content = content.substr(1, content.size() - 2);
    attributes.id = utf8_prefix(content.substr(0, content.find(',')), max_heading_bytes);
    return;
  }
  const auto first = content.substr(0, content.find(','));
  if (const auto id = find_id(content); !id.empty()) attributes.id = utf8_prefix(id, max_heading_bytes);
  if (first.find('=') != std::string_view::npos) return;
  const auto end = std::min(first.find_first_of("#.%"), first.size());
  if (end > 0) attributes.style = trim(first.substr(0, std::min(end, max_style_bytes)));
  const auto sign = first.find('#');
  if (sign != std::string_view::npos)
    attributes.id = utf8_prefix(first.substr(sign + 1, first.find_first_of(".%#", sign + 1) - sign - 1), max_heading_bytes);
}

/// Whether blocks of this style are verbatim; sets the kind of their lines.
bool is_verbatim_style(std::string_view style, piece_kind& kind) noexcept {
  const bool is_code = style == "source" || style == "listing" || style == "literal";
  const bool is_hidden =
      style == "comment" || style == "pass" || style == "stem" || style == "latexmath" || style == "asciimath";
  kind = is_code ? piece_kind::code : is_hidden ? piece_kind::mark : piece_kind::prose;
  return is_code || is_hidden || style == "verse";
}

class asciidoc_reader {
 public:
  asciidoc_reader(std::string_view text, markup_listener& listener) : collector_(text, listener), lines_(text) {}

  void read() {
    if (auto front_matter = find_front_matter(collector_.text())) {
      lines_ = line_reader(collector_.text(), front_matter->end, front_matter->last_line + 1);
      collector_.emit(std::move(*front_matter));
    } else if (collector_.text().starts_with("\xEF\xBB\xBF")) {
      lines_ = line_reader(collector_.text(), 3);
    }
    text_line line;
    while (collector_.accepts_more() && lines_.read(line)) read_line(line);
    finish();
  }

 private:
  /// What a line without blank lines before it continues. `verbatim`: a paragraph whose style makes it code.
  enum class paragraph : std::uint8_t { none, text, list_item, verbatim };

  void read_line(const text_line& line) {
    auto content = trim_end_of(collector_.content_of(line));
    const bool is_comment = !blocks_.empty() && blocks_.back().model == content_model::comment;
    if (!is_comment) {
      const auto kind = conditionals_.process(content, attributes_);
      if (kind == asciidoc_line_kind::include) collector_.emit_link({attributes_.substitute(content), {}, line.number, false});
      if (kind != asciidoc_line_kind::text) return add_hidden(line);
    }
    if (closes_block(line, content)) return;
    if (!blocks_.empty() && blocks_.back().model != content_model::compound) return add_block_line(line, content);
    if (content.empty()) {
      finish();
      paragraph_ = paragraph::none;
      continued_attribute_.clear();
      author_lines_ = 0;
      return;
    }
    if (!continued_attribute_.empty()) return continue_attribute(line, content);
    if (author_lines_ > 0 && read_author_line(line, content)) return;
    if (paragraph_ == paragraph::verbatim && content != "+") return collector_.extend(verbatim_kind_, line);
    if (opens_block(line, content)) return;
    if (paragraph_ != paragraph::none && read_paragraph_line(line, content)) return;
    begin_block(line, content);
  }

  /// Adds a line that the preprocessor removes. It does not end a paragraph.
  void add_hidden(const text_line& line) {
    if (!blocks_.empty() && blocks_.back().model != content_model::compound)
      return collector_.extend(blocks_.back().kind, line);
    emit_mark(line);
  }

  void emit_mark(const text_line& line) {
    finish();
    collector_.emit(piece_kind::mark, line);
  }

  /// Closes the outermost block with this terminator, with all blocks inside.
  bool closes_block(const text_line& line, std::string_view content) {
    const auto block =
        std::find_if(blocks_.begin(), blocks_.end(), [content](const auto& open) { return open.terminator == content; });
    if (block == blocks_.end()) return false;
    paragraph_ = block->is_attached ? paragraph::list_item : paragraph::none;
    if (block->model != content_model::comment) block_attributes_ = {};
    blocks_.erase(block, blocks_.end());
    emit_mark(line);
    return true;
  }

  void add_block_line(const text_line& line, std::string_view content) {
    const auto kind = blocks_.back().kind;
    if (kind == piece_kind::table && content.empty()) return finish();
    if (kind == piece_kind::table && is_line_comment(content)) return emit_mark(line);
    collector_.extend(kind, line);
  }

  bool opens_block(const text_line& line, std::string_view content) {
    auto block = read_delimiter(content);
    if (!block || blocks_.size() >= max_open_blocks) return false;
    piece_kind kind{};
    if (block->model == content_model::compound && is_verbatim_style(block_attributes_.style, kind)) {
      block->model = block_attributes_.style == "comment" ? content_model::comment : content_model::verbatim;
      block->kind = kind;
    }
    // A comment may be above the title of the document, and between attributes and their block.
    const bool is_comment = content.starts_with('/');
    is_at_start_ = is_at_start_ && is_comment;
    if (!is_comment) block_attributes_ = {};
    block->is_attached = is_attached_;
    if (!is_attached_) is_in_list_ = false;
    is_attached_ = needs_item_text_ = false;
    paragraph_ = paragraph::none;
    blocks_.push_back(*block);
    emit_mark(line);
    return true;
  }

  /// Reads a line of a paragraph. False: the line ends the paragraph.
  bool read_paragraph_line(const text_line& line, std::string_view content) {
    if (is_line_comment(content)) {
      emit_mark(line);
      return true;
    }
    if (content == "+" && is_in_list_) {
      is_attached_ = true;
      paragraph_ = paragraph::none;
      emit_mark(line);
      return true;
    }
    const bool ends_paragraph = is_attribute_line(content) && (paragraph_ == paragraph::text || is_description_);
    if (ends_paragraph) {
      finish();
      paragraph_ = paragraph::none;
      return false;
    }
    if (paragraph_ == paragraph::list_item) note_list_item(list_item_of(content));
    collector_.extend(piece_kind::prose, line);
    return true;
  }

  void note_list_item(list_item item) noexcept {
    if (item != list_item::none) is_description_ = item != list_item::simple;
    needs_item_text_ = item == list_item::term_without_text;
  }

  /// Reads the first line of a block, or a line that belongs to the block after it.
  void begin_block(const text_line& line, std::string_view content) {
    if (is_line_comment(content)) return emit_mark(line);
    if (const auto entry = read_attribute_entry(content)) {
      continued_attribute_ = entry->continues ? std::string(entry->name) : std::string();
      continued_value_ = entry->value;
      if (!entry->continues) attributes_.set(entry->name, entry->value);
      return emit_mark(line);
    }
    if (is_attribute_line(content)) {
      read_attribute_line(attributes_.substitute(content), block_attributes_);
      needs_item_text_ = false;
      return emit_mark(line);
    }
    if (is_block_title(content)) return collector_.extend(piece_kind::prose, line);
    const auto item = list_item_of(content);
    const bool is_item_text = is_attached_ || (needs_item_text_ && item == list_item::none);
    const bool is_sibling = is_in_list_ && item != list_item::none;
    if (!is_item_text && !is_sibling && read_title(line, content)) return;
    is_at_start_ = false;
    const auto style = std::exchange(block_attributes_, {}).style;
    if (content == "+" && is_in_list_) {
      is_attached_ = true;
      return emit_mark(line);
    }
    if (is_break(content)) return emit_mark(line);
    is_in_list_ = is_item_text || item != list_item::none || (is_in_list_ && ascii::is_blank(content.front()));
    is_attached_ = needs_item_text_ = false;
    if (is_verbatim_style(style, verbatim_kind_)) {
      paragraph_ = paragraph::verbatim;
      return collector_.extend(verbatim_kind_, line);
    }
    paragraph_ = is_block_macro(content) ? paragraph::none : is_in_list_ ? paragraph::list_item : paragraph::text;
    note_list_item(item);
    collector_.extend(piece_kind::prose, line);
  }

  void continue_attribute(const text_line& line, std::string_view content) {
    content = trim(content);
    const bool continues = read_attribute_continuation(content);
    if (continued_value_.size() < max_target_bytes) (continued_value_ += ' ').append(content);
    if (!continues) {
      attributes_.set(continued_attribute_, continued_value_);
      continued_attribute_.clear();
    }
    emit_mark(line);
  }

  /// Reads a line about authors or the revision, below the title of the document.
  bool read_author_line(const text_line& line, std::string_view content) {
    if (is_line_comment(content) || read_attribute_entry(content) || read_delimiter(content)) return false;
    --author_lines_;
    collector_.extend(piece_kind::prose, line);
    return true;
  }

  /// Reads the title of a section, or a discrete title. False: the line is not a title.
  bool read_title(const text_line& line, std::string_view content) {
    const bool is_discrete = block_attributes_.style == "discrete" || block_attributes_.style == "float";
    if (!blocks_.empty() && !is_discrete) return false;
    auto title = read_one_line_title(content);
    text_line last = line;
    if (!title && lines_.peek(last)) title = read_two_line_title(content, trim_end_of(collector_.content_of(last)));
    if (!title) return false;
    finish();
    auto attributes = std::exchange(block_attributes_, {});
    if (title->has_underline) (void)lines_.read(last);
    const auto& end = title->has_underline ? last : line;
    is_in_list_ = needs_item_text_ = false;
    piece piece{piece_kind::heading, line.begin, end.end, line.number, end.number, 0, {}, {}};
    if (!is_discrete) {
      emit_section(std::move(piece), *title, attributes);
      return true;
    }
    is_at_start_ = false;
    piece.kind = piece_kind::prose;
    collector_.emit(std::move(piece));
    emit_links(read_asciidoc_title(title->text, line.number, attributes_, is_compatible_).links);
    return true;
  }

  void emit_section(piece piece, const section_title& title, block_attributes& attributes) {
    auto text = title.text;
    auto id = std::move(attributes.id);
    // `== Title [[id]]`
    if (const auto open = text.rfind(" [[");
        id.empty() && open != std::string_view::npos && text.ends_with("]]") && open > 0 && text[open - 1] != '\\') {
      const auto anchor = text.substr(open + 3, text.size() - open - 5);
      id = utf8_prefix(anchor.substr(0, anchor.find(',')), max_heading_bytes);
      text = trim(text.substr(0, open));
    }
    if (const auto end = text.find("]]"); id.empty() && text.starts_with("[[") && end != std::string_view::npos) {
      const auto anchor = text.substr(2, end - 2);
      id = utf8_prefix(anchor.substr(0, anchor.find(',')), max_heading_bytes);
    }
    auto level = std::max(title.level + attributes_.level_offset(), 0);
    const bool is_document_title = is_at_start_ && level == 0;
    is_at_start_ = false;
    // An appendix, a preface and the like is a chapter.
    if (level == 0 && !is_document_title && !attributes.style.empty() && !attributes.style.starts_with("sect")) level = 1;
    inline_text content;
    if (is_document_title) {
      is_compatible_ = title.has_underline;
      author_lines_ = 2;
      content = read_asciidoc_title(text, piece.first_line, header_attributes(), is_compatible_);
    } else {
      content = read_asciidoc_title(text, piece.first_line, attributes_, is_compatible_);
    }
    piece.level = std::min(level + 1, 6);
    piece.heading = std::move(content.text);
    piece.id = std::move(id);
    collector_.emit(std::move(piece));
    emit_links(std::move(content.links));
  }

  /// The attributes at the end of the header of the document, whose title has been read. They count for the title.
  [[nodiscard]] asciidoc_attributes header_attributes() const {
    auto attributes = attributes_;
    auto conditionals = conditionals_;
    auto lines = lines_;
    std::string name;
    std::string value;
    for (text_line line; lines.read(line);) {
      auto content = trim_end_of(collector_.content_of(line));
      if (content.empty()) break;
      if (conditionals.process(content, attributes) != asciidoc_line_kind::text) continue;
      if (!name.empty()) {
        content = trim(content);
        const bool continues = read_attribute_continuation(content);
        if (value.size() < max_target_bytes) (value += ' ').append(content);
        if (!continues) attributes.set(std::exchange(name, {}), value);
      } else if (const auto entry = read_attribute_entry(content)) {
        if (!entry->continues) attributes.set(entry->name, entry->value);
        if (entry->continues) name = entry->name;
        value = entry->value;
      }
    }
    return attributes;
  }

  void emit_links(std::vector<link> links) {
    for (auto& link : links) collector_.emit_link(std::move(link));
  }

  void finish() {
    const auto piece = collector_.close();
    if ((piece.kind != piece_kind::prose && piece.kind != piece_kind::table) || !collector_.wants_links()) return;
    auto content =
        read_asciidoc_links(collector_.text().substr(piece.begin, piece.end - piece.begin), piece.first_line, attributes_);
    emit_links(std::move(content.links));
  }

  piece_collector collector_;
  line_reader lines_;
  asciidoc_attributes attributes_{};
  asciidoc_conditionals conditionals_{};
  std::vector<delimited_block> blocks_{};  ///< Open, from the outermost on.
  block_attributes block_attributes_{};    ///< Of the next block.
  paragraph paragraph_ = paragraph::none;
  piece_kind verbatim_kind_ = piece_kind::code;  ///< Of a paragraph that is verbatim.
  std::string continued_attribute_{};            ///< The attribute whose value goes on in the next line; empty: none.
  std::string continued_value_{};
  int author_lines_ = 0;        ///< Lines of the header that may be about authors and the revision.
  bool is_at_start_ = true;     ///< The next title may be that of the document.
  bool is_compatible_ = false;  ///< The title of the document has an underline.
  bool is_in_list_ = false;
  bool is_description_ = false;   ///< The list is a description list.
  bool needs_item_text_ = false;  ///< The term of a description list has no text yet.
  bool is_attached_ = false;      ///< `+` attaches the next block to a list item.
};

}  // namespace

void read_asciidoc(std::string_view text, markup_listener& listener) { asciidoc_reader(text, listener).read(); }

}  // namespace hondana::markup
