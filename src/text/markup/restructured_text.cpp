/// Reads blocks of reStructuredText.

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ascii/ascii.hpp"
#include "text/markup/characters.hpp"
#include "text/markup/pieces.hpp"
#include "text/markup/restructured_inlines.hpp"

namespace hondana::markup {
namespace {

/// Shorter adornments may be text.
constexpr std::size_t min_adornment_bytes = 4;

std::string_view without_end_spaces(std::string_view line) noexcept {
  while (!line.empty() && ascii::is_space(line.back())) line.remove_suffix(1);
  return line;
}

/// Whether a line consists of one repeated mark, as under titles.
bool is_adornment(std::string_view line) noexcept {
  line = without_end_spaces(line);
  return !line.empty() && is_punctuation(line.front()) && line.find_first_not_of(line.front()) == std::string_view::npos;
}

bool is_indented(std::string_view line) noexcept { return !line.empty() && ascii::is_blank(line.front()); }

/// Whether a line begins with this marker and a space, or consists of it.
bool has_marker(std::string_view line, std::size_t bytes) noexcept {
  return bytes > 0 && (line.size() == bytes || (line.size() > bytes && line[bytes] == ' '));
}

std::size_t bullet_length(std::string_view line) noexcept {
  if (line.front() == '-' || line.front() == '*' || line.front() == '+') return 1;
  constexpr std::array<std::string_view, 3> bullets{"•", "‣", "⁃"};
  const auto* bullet =
      std::find_if(bullets.begin(), bullets.end(), [line](std::string_view known) { return line.starts_with(known); });
  return bullet == bullets.end() ? 0 : bullet->size();
}

/// The length of `1.`, `a)`, `(iv)` or `#.`; 0: none.
std::size_t enumerator_length(std::string_view line) noexcept {
  const std::size_t begin = line.starts_with('(') ? 1 : 0;
  auto end = begin;
  while (end < line.size() && ascii::is_digit(line[end])) ++end;
  if (end == begin) end = std::min(line.find_first_not_of("ivxlcdmIVXLCDM", begin), line.size());
  if (end == begin && end < line.size() && (ascii::is_letter(line[end]) || line[end] == '#')) ++end;
  const bool is_closed = end > begin && end < line.size() && (line[end] == ')' || (begin == 0 && line[end] == '.'));
  return is_closed ? end + 1 : 0;
}

/// `:name: value`
bool is_field(std::string_view line) noexcept {
  if (line.size() < 3 || line.front() != ':' || line[1] == ':' || line[1] == ' ') return false;
  for (auto end = line.find(':', 1); end != std::string_view::npos; end = line.find(':', end + 1)) {
    const bool is_end = end + 1 == line.size() || line[end + 1] == ' ';
    if (is_end && line[end - 1] != '\\' && line[end - 1] != ' ') return true;
    // A role: :name:`text`
    if (end + 1 < line.size() && line[end + 1] == '`') return false;
  }
  return false;
}

/// `-o  text` and `--option=value  text`; texts that begin in the next line do not count.
bool is_option(std::string_view line) noexcept {
  const bool is_dash = line.size() > 3 && line.front() == '-' && (line[1] == '-' || ascii::is_alphanumeric(line[1]));
  return is_dash && line.find("  ") != std::string_view::npos;
}

/// `+---+---+`
bool is_grid_border(std::string_view line) noexcept {
  return line.size() >= 4 && line.starts_with("+-") && line.ends_with("-+") &&
         line.find_first_not_of("-+") == std::string_view::npos;
}
/// `==== ====`, which begins a simple table; a border inside it may be one run.
bool is_simple_border(std::string_view line) noexcept {
  return line.starts_with('=') && line.find_first_not_of("= ") == std::string_view::npos;
}

class restructured_reader {
 public:
  restructured_reader(std::string_view text, markup_listener& listener, const restructured_definitions& definitions)
      : definitions_(definitions), collector_(text, listener), lines_(text) {}

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
  /// An adornment of a title. Each style has a level, by its first use.
  struct title_style {
    char mark = 0;
    bool has_overline = false;
    bool operator==(const title_style&) const = default;
  };

  void read_line(const text_line& line) {
    const auto raw = without_end_spaces(collector_.content_of(line));
    if (raw.empty()) {
      is_paragraph_ = is_grid_ = false;
      quote_ = 0;
      if (!collector_.is_open(piece_kind::code)) finish();
      return;
    }
    const auto indent = raw.find_first_not_of(" \t");
    if (is_literal_) {
      if (indent > literal_indent_) return collector_.extend(literal_kind_, line);
      // A literal block without indentation: each line begins with the same mark.
      const bool may_be_quoted = literal_kind_ == piece_kind::code && !collector_.is_open(piece_kind::code);
      is_literal_ = false;
      finish();
      if (may_be_quoted && indent == 0 && is_punctuation(raw.front())) quote_ = raw.front();
    }
    if (quote_ != 0) {
      if (raw.front() == quote_) return collector_.extend(piece_kind::code, line);
      quote_ = 0;
      finish();
    }
    if (indent > 0) {
      is_paragraph_ = false;
      return add_prose(line, raw, indent);
    }
    is_grid_ = is_grid_ && (raw.front() == '+' || raw.front() == '|');
    if (is_paragraph_ || is_grid_) return add_prose(line, raw, 0);
    begin_block(line, raw);
  }

  void add_prose(const text_line& line, std::string_view raw, std::size_t indent) {
    collector_.extend(piece_kind::prose, line);
    literal_follows_ = raw.ends_with("::");
    next_literal_indent_ = indent;
  }

  /// Reads the first line of a block that is not indented.
  void begin_block(const text_line& line, std::string_view raw) {
    if (raw.starts_with(".. ") || raw == "..") return read_explicit_markup(line, trim(raw.substr(2)));
    if (has_marker(raw, 2) && raw.starts_with("__")) {
      finish();
      return collector_.emit(piece_kind::mark, line);
    }
    if (has_marker(raw, bullet_length(raw)) || is_field(raw) || is_option(raw) || (raw.starts_with("| ") || raw == "|"))
      return begin_item(line, raw);
    if (has_marker(raw, 3) && raw.starts_with(">>>")) return begin_paragraph(line, raw);
    if (is_grid_border(raw)) {
      is_grid_ = true;
      return begin_item(line, raw);
    }
    if (is_simple_border(raw) && raw.find(' ') != std::string_view::npos) return read_simple_table(line, raw.size());
    text_line next;
    const auto next_raw = lines_.peek(next) ? without_end_spaces(collector_.content_of(next)) : std::string_view();
    if (has_marker(raw, enumerator_length(raw)) &&
        (next_raw.empty() || is_indented(next_raw) || has_marker(next_raw, enumerator_length(next_raw))))
      return begin_item(line, raw);
    if (is_adornment(raw) && read_overline(line, raw)) return;
    if (read_underlined_title(line, raw, next, next_raw)) return;
    // The term of a definition list, or a paragraph.
    if (is_indented(next_raw)) return begin_item(line, raw);
    begin_paragraph(line, raw);
  }

  /// Begins a paragraph, which ends at a blank line.
  void begin_paragraph(const text_line& line, std::string_view raw) {
    pending_id_.clear();
    is_paragraph_ = true;
    add_prose(line, raw, 0);
  }
  /// Begins an item of a list, which ends at the next line that is not indented.
  void begin_item(const text_line& line, std::string_view raw) {
    pending_id_.clear();
    add_prose(line, raw, 0);
  }

  /// Reads a table from its upper border to its last one: the second that follows, or one above a blank line. A table without
  /// a last border ends at the border before, or with the text.
  void read_simple_table(const text_line& border, std::size_t bytes) {
    pending_id_.clear();
    collector_.extend(piece_kind::prose, border);
    auto ahead = lines_;
    std::size_t end = collector_.text().size();
    int borders = 0;
    text_line line;
    while (borders < 2 && ahead.read(line)) {
      const auto raw = without_end_spaces(collector_.content_of(line));
      if (!is_simple_border(raw)) continue;
      end = line.next;
      text_line next;
      const bool is_last = !ahead.peek(next) || is_blank(collector_.content_of(next));
      borders = is_last || raw.size() != bytes ? 2 : borders + 1;
    }
    while (lines_.peek(line) && line.begin < end) {
      (void)lines_.read(line);
      if (is_blank(collector_.content_of(line)))
        finish();
      else
        collector_.extend(piece_kind::prose, line);
    }
    finish();
  }

  /// Reads a title between two adornments, or an adornment that separates paragraphs. False: the line is text.
  bool read_overline(const text_line& overline, std::string_view raw) {
    const bool is_long = raw.size() >= min_adornment_bytes;
    auto ahead = lines_;
    text_line title;
    text_line underline;
    const auto title_raw = ahead.read(title) ? without_end_spaces(collector_.content_of(title)) : std::string_view();
    if (title_raw.empty()) {
      if (is_long) emit_mark(overline);
      return is_long;
    }
    if (is_adornment(title_raw)) {
      if (is_long) {
        lines_ = ahead;
        collector_.extend(piece_kind::prose, overline);
        collector_.extend(piece_kind::prose, title);
      }
      return is_long;
    }
    const bool has_underline = ahead.read(underline);
    const bool is_title = has_underline && without_end_spaces(collector_.content_of(underline)) == raw &&
                          (is_long || display_width(title_raw) <= raw.size());
    if (!is_title && !is_long) return false;
    lines_ = ahead;
    if (is_title && emit_title(overline, underline, title_raw, {raw.front(), true})) return true;
    // A wrong title is text.
    for (const auto& line : {overline, title}) collector_.extend(piece_kind::prose, line);
    if (has_underline && is_blank(collector_.content_of(underline)))
      finish();
    else if (has_underline)
      collector_.extend(piece_kind::prose, underline);
    return true;
  }

  bool read_underlined_title(const text_line& line, std::string_view raw, const text_line& underline,
                             std::string_view underline_raw) {
    if (!is_adornment(underline_raw)) return false;
    if (underline_raw.size() < min_adornment_bytes && underline_raw.size() < display_width(raw)) return false;
    auto skipped = underline;
    (void)lines_.read(skipped);
    if (emit_title(line, underline, raw, {underline_raw.front(), false})) return true;
    collector_.extend(piece_kind::prose, line);
    collector_.extend(piece_kind::prose, underline);
    return true;
  }

  /// Passes on the title of a section. False: its style does not fit, because a level is left out.
  bool emit_title(const text_line& first, const text_line& last, std::string_view raw, title_style style) {
    const auto known = std::find(styles_.begin(), styles_.end(), style);
    const auto level = static_cast<std::size_t>(known - styles_.begin()) + 1;
    const bool fits = known == styles_.end() ? styles_.size() == level_ : level <= level_ + 1;
    if (!fits) return false;
    if (known == styles_.end()) styles_.push_back(style);
    level_ = level;
    finish();
    auto content = read_restructured_inline(utf8_prefix(trim(raw), 4 * max_heading_bytes), first.number, definitions_,
                                            anonymous_count_, true);
    collector_.emit({piece_kind::heading, first.begin, last.end, first.number, last.number, static_cast<int>(level),
                     std::string(utf8_prefix(trim(content.text), max_heading_bytes)), std::exchange(pending_id_, {})});
    for (auto& link : content.links) collector_.emit_link(std::move(link));
    return true;
  }

  void emit_mark(const text_line& line) {
    finish();
    collector_.emit(piece_kind::mark, line);
  }

  /// Reads the content after `..`: a target, a directive or a comment.
  void read_explicit_markup(const text_line& line, std::string_view content) {
    emit_mark(line);
    if (content.starts_with('_')) return read_target(content.substr(1));
    const auto colons = content.find("::");
    auto name = colons == std::string_view::npos ? std::string_view() : content.substr(0, colons);
    // A substitution: `.. |name| image:: x`.
    if (name.starts_with('|') && name.find('|', 1) != std::string_view::npos) name = trim(name.substr(name.find('|', 1) + 1));
    const bool is_directive = !name.empty() && name.find_first_of(" \t") == std::string_view::npos;
    const auto argument = is_directive ? trim(content.substr(colons + 2)) : std::string_view();
    if (is_directive) pending_id_.clear();
    if (name == "image" || name == "figure") collector_.emit_link({std::string(argument), {}, line.number, true});
    if (name == "include" || name == "literalinclude") collector_.emit_link({std::string(argument), {}, line.number, false});
    const bool is_code = name == "code" || name == "code-block" || name == "sourcecode" || name == "parsed-literal";
    const bool is_hidden = !is_directive || name == "raw" || name == "toctree" || name == "image";
    if (is_directive && !is_code && !is_hidden) return;
    text_line next;
    // A comment without text ends at once.
    if (content.empty() && (!lines_.peek(next) || is_blank(collector_.content_of(next)))) return;
    is_literal_ = true;
    literal_indent_ = 0;
    literal_kind_ = is_code ? piece_kind::code : piece_kind::mark;
  }

  void read_target(std::string_view content) {
    // The address, or a part of it, may be in the lines below.
    is_literal_ = true;
    literal_indent_ = 0;
    literal_kind_ = piece_kind::mark;
    std::string_view name;
    std::string_view address;
    text_line next;
    const bool goes_on =
        lines_.peek(next) && is_indented(collector_.content_of(next)) && !is_blank(collector_.content_of(next));
    if (read_restructured_target(content, name, address) && address.empty() && !goes_on && name != "_")
      pending_id_ = utf8_prefix(name, max_heading_bytes);
  }

  void finish() {
    const auto piece = collector_.close();
    if (literal_follows_) {
      literal_follows_ = false;
      is_literal_ = true;
      literal_indent_ = next_literal_indent_;
      literal_kind_ = piece_kind::code;
    }
    if (piece.kind != piece_kind::prose || !collector_.wants_links()) return;
    auto content = read_restructured_inline(collector_.text().substr(piece.begin, piece.end - piece.begin), piece.first_line,
                                            definitions_, anonymous_count_, false);
    for (auto& link : content.links) collector_.emit_link(std::move(link));
  }

  const restructured_definitions& definitions_;
  piece_collector collector_;
  line_reader lines_;
  std::vector<title_style> styles_{};
  std::size_t level_ = 0;  ///< Of the current section.
  std::size_t anonymous_count_ = 0;
  bool is_paragraph_ = false;  ///< The last line belongs to a paragraph, which goes on.
  bool is_grid_ = false;       ///< The last line belongs to a table with a grid.
  bool is_literal_ = false;
  bool literal_follows_ = false;
  std::size_t literal_indent_ = 0;
  std::size_t next_literal_indent_ = 0;
  piece_kind literal_kind_ = piece_kind::code;
  char quote_ = 0;  ///< The mark before each line of a literal block without indentation; 0: none.
  std::string pending_id_{};
};

}  // namespace

void read_restructured_text(std::string_view text, markup_listener& listener) {
  const auto definitions = collect_restructured_definitions(text);
  restructured_reader(text, listener, definitions).read();
}

}  // namespace hondana::markup
