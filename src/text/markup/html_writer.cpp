/// Lays out the text of HTML as harmless Markdown: line breaks, lists, tables and headings.
#include "text/markup/html_writer.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/ascii/ascii.hpp"
#include "text/markup/characters.hpp"
#include "text/markup/html.hpp"
#include "text/markup/pieces.hpp"

namespace hondana::markup {
namespace {

/// Names in angle brackets that are shown unchanged, because they are common in code and no HTML element has them. All others
/// are escaped.
constexpr std::array<std::string_view, 26> code_names{
    "algorithm", "array",    "bool", "char", "cstddef", "cstdint", "cstdio", "double", "float",
    "int",       "iostream", "K",    "long", "memory",  "name",    "size_t", "string", "string_view",
    "T",         "tuple",    "type", "U",    "utility", "V",       "vector", "void"};

constexpr std::array<std::string_view, 3> script_schemes{"javascript:", "vbscript:", "data:"};

/// Whether the brackets contain code, such as `<vector>`, `<stdio.h>`, `<std::string>`: no attributes, and not an HTML element.
bool is_code(std::string_view tail) noexcept {
  const auto end = tail.substr(0, 64).find('>');
  if (end == std::string_view::npos) return false;
  const auto name = tail.substr(0, end);
  const bool is_identifier =
      std::all_of(name.begin(), name.end(), [](char c) { return ascii::is_letter(c) || ascii::is_digit(c) || c == '_'; });
  if (is_identifier) return std::find(code_names.begin(), code_names.end(), name) != code_names.end();
  return name.ends_with(".h") || name.ends_with(".hpp") || name.starts_with("std::");
}

bool begins_tag(std::string_view tail) noexcept {
  if (tail.empty()) return false;
  const char next = tail.front();
  if (next == '/' || next == '!' || next == '?') return true;
  return ascii::is_letter(next) && !is_code(tail);
}

bool runs_script(std::string_view target) noexcept {
  while (!target.empty() && (ascii::is_space(target.front()) || target.front() == '<')) target.remove_prefix(1);
  return std::any_of(script_schemes.begin(), script_schemes.end(),
                     [target](std::string_view scheme) { return ascii::starts_with_ignore_case(target, scheme); });
}

}  // namespace

std::string escape_unsafe_markup(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t position = 0; position < text.size(); ++position) {
    const char c = text[position];
    const auto tail = text.substr(position + 1);
    if (c == '<' && begins_tag(tail))
      out += "&lt;";
    else
      out += c;
    const bool is_target = c == ']' && tail.size() > 1 && (tail.front() == '(' || tail.front() == ':');
    if (is_target && runs_script(tail.substr(1, 32))) {
      out.append(1, ' ').append(1, tail.front()).append(1, ' ');
      ++position;
    }
  }
  return out;
}

namespace {

/// One more than the limit of an outline, so that the outline can report that it is cut.
constexpr std::size_t max_recorded_links = 10'001;

}  // namespace

void html_writer::set_source_position(std::size_t offset, std::size_t line) noexcept {
  source_offset_ = offset;
  source_line_ = line;
}

void html_writer::new_line() {
  while (!output_.empty() && output_.back() == ' ' && preformatted_depth_ == 0) output_.pop_back();
  output_ += '\n';
  first_lines_.push_back(source_line_);
  last_lines_.push_back(source_line_);
  is_line_empty_ = true;
}

void html_writer::flush() {
  if (output_.empty()) pending_breaks_ = 0;
  if (pending_breaks_ > 0) {
    has_space_ = false;
    for (; pending_breaks_ > 0; --pending_breaks_) new_line();
  }
  if (is_line_empty_) first_lines_.back() = source_line_;
  last_lines_.back() = source_line_;
  if (is_in_region_ && region_.first == std::string::npos) region_.first = first_lines_.size() - 1;
  if (!prefix_.empty()) {
    output_ += prefix_;
    prefix_.clear();
    has_space_ = false;
    is_line_empty_ = false;
  } else if (has_space_) {
    if (!is_line_empty_ && output_.back() != ' ') output_ += ' ';
    has_space_ = false;
  }
}

void html_writer::write(std::string_view characters) {
  flush();
  if (is_link_pending_) link_begin_ = output_.size();
  is_link_pending_ = false;
  output_.append(characters);
  is_line_empty_ = false;
  has_row_text_ = true;
}

void html_writer::write_character(char c) {
  if (preformatted_depth_ > 0 && !is_in_heading_ && !is_in_cell_) {
    if (c == '\n') {
      if (is_in_region_ && region_.first == std::string::npos) return;
      flush();
      new_line();
    } else if (c == ' ' || c == '\t') {
      write({&c, 1});
    } else if (static_cast<unsigned char>(c) >= 0x20) {
      write({&c, 1});
    }
    return;
  }
  if (ascii::is_space(c))
    has_space_ = true;
  else if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7F)
    write({&c, 1});
}

void html_writer::add_text(std::string_view text, std::size_t last_line) {
  constexpr char lead_byte = '\xC2';  // of U+0080 to U+00BF: control characters, and the no-break space
  const auto is_ordinary = [&text](std::size_t index) {
    return static_cast<unsigned char>(text[index]) > ' ' && text[index] != 0x7F && text[index] != lead_byte;
  };
  for (std::size_t position = 0; position < text.size();) {
    if (is_ordinary(position)) {
      auto end = position + 1;
      while (end < text.size() && is_ordinary(end)) ++end;
      write(text.substr(position, end - position));
      position = end;
    } else if (text[position] == lead_byte) {
      const auto character = character_at(text, position);
      if (character.point == 0xA0)
        write_character(' ');
      else if (character.point > 0xA0)
        write(text.substr(position, character.bytes));
      position += character.bytes;
    } else {
      if (text[position] == '\n' && source_line_ < last_line) ++source_line_;
      write_character(text[position++]);
    }
  }
}

void html_writer::add_mark(std::string_view mark) {
  const bool had_space = std::exchange(has_space_, false);
  write(mark);
  has_space_ = had_space;
}

void html_writer::break_line(int lines) noexcept {
  if (is_in_heading_ || is_in_cell_) {
    has_space_ = true;
  } else if (prefix_.empty()) {
    pending_breaks_ = std::max(pending_breaks_, is_line_empty_ ? lines - 1 : lines);
  }
}

void html_writer::begin_region(piece_kind kind) {
  if (is_in_region_) end_region();
  region_ = {kind, std::string::npos, 0, 0, {}, {}, source_offset_, source_line_};
  is_in_region_ = true;
}

void html_writer::end_region() {
  if (!is_in_region_) return;
  is_in_region_ = false;
  if (region_.first == std::string::npos) return;
  // Preformatted text ends with an empty line.
  region_.last = first_lines_.size() - (is_line_empty_ && first_lines_.size() - 1 > region_.first ? 2 : 1);
  regions_.push_back(std::move(region_));
}

void html_writer::begin_heading(int level, std::string id) {
  end_heading();
  if (is_in_cell_) return;
  break_line(2);
  prefix_ = std::string(static_cast<std::size_t>(level), '#') + ' ';
  begin_region(piece_kind::heading);
  region_.level = level;
  region_.id = std::move(id);
  region_.source_begin = source_offset_;
  is_in_heading_ = true;
}

void html_writer::end_heading() {
  if (!is_in_heading_) return;
  is_in_heading_ = false;
  if (region_.first == std::string::npos) {
    prefix_.clear();
    is_in_region_ = false;
    return;
  }
  const auto begin = output_.rfind('\n') + 1;
  const auto visible = std::string_view(output_).substr(begin + static_cast<std::size_t>(region_.level));
  region_.heading = utf8_prefix(trim(visible), max_heading_bytes);
  end_region();
  break_line(2);
}

void html_writer::record_link(std::string target, std::string text, bool is_image) {
  if (links_.size() < max_recorded_links)
    links_.push_back({{std::move(target), std::move(text), source_line_, is_image}, first_lines_.size()});
}

void html_writer::begin_link(std::string target) {
  end_link();
  link_target_ = std::move(target);
  is_link_open_ = is_link_pending_ = true;
  link_line_ = source_line_;
}

void html_writer::end_link() {
  if (!is_link_open_) return;
  if (is_link_pending_) link_begin_ = output_.size();
  is_link_open_ = is_link_pending_ = false;
  const auto raw = std::string_view(output_).substr(std::min(link_begin_, output_.size())).substr(0, 4 * max_heading_bytes);
  std::string text;
  for (const char c : raw) {
    if (!ascii::is_space(c))
      text += c;
    else if (!text.empty() && text.back() != ' ')
      text += ' ';
  }
  std::swap(source_line_, link_line_);
  record_link(std::move(link_target_), std::string(utf8_prefix(trim(text), max_heading_bytes)), false);
  std::swap(source_line_, link_line_);
}

void html_writer::add_link(std::string target, std::string_view text) {
  record_link(std::move(target), std::string(utf8_prefix(trim(text), max_heading_bytes)), false);
}

void html_writer::add_image(std::string target, std::string_view alternative) {
  has_space_ = has_space_ || !alternative.empty();
  const auto label = trim(alternative);
  for (const char c : label) write_character(c == '\n' ? ' ' : c);
  if (!target.empty()) record_link(std::move(target), std::string(utf8_prefix(label, max_heading_bytes)), true);
}

void html_writer::begin_preformatted() {
  break_line(2);
  ++preformatted_depth_;
  if (!is_in_heading_ && !is_in_cell_) begin_region(piece_kind::code);
}

void html_writer::end_preformatted() {
  if (preformatted_depth_ == 0) return;
  --preformatted_depth_;
  if (is_in_region_ && region_.kind == piece_kind::code) end_region();
  break_line(2);
}

void html_writer::begin_item(std::size_t indentation, std::string_view marker) {
  break_line(1);
  if (!is_in_heading_ && !is_in_cell_ && preformatted_depth_ == 0) {
    prefix_ = std::string(indentation, ' ').append(marker);
  } else if (!is_punctuation(marker.front())) {
    write(trim(marker));
    has_space_ = true;
  }
}

void html_writer::begin_table() {
  end_heading();
  break_line(2);
  begin_region(piece_kind::table);
}

void html_writer::end_table() {
  if (is_in_region_ && region_.kind == piece_kind::table) end_region();
  break_line(2);
}

void html_writer::begin_row() {
  break_line(1);
  column_ = 0;
  has_row_text_ = false;
}

void html_writer::begin_cell(std::size_t column) {
  is_in_cell_ = true;
  // A first bar says that the first cell is empty.
  auto bars = column - column_ + (column > 0 && !has_row_text_ ? 1 : 0);
  for (; bars > 0; --bars) {
    has_space_ = has_row_text_;
    write("|");
  }
  column_ = column;
  has_space_ = has_row_text_;
}

void html_writer::end_row() { is_in_cell_ = has_space_ = false; }

std::string html_writer::to_single_line(std::string_view text) {
  html_writer writer;
  writer.add_text(text, 1);
  std::replace(writer.output_.begin(), writer.output_.end(), '\n', ' ');
  return std::string(utf8_prefix(trim(writer.output_), max_heading_bytes));
}

/// Regions become pieces. The text between them is prose, divided at blank lines.
void html_writer::make_pieces(html_text& out) const {
  line_reader lines(out.text);
  auto next = regions_.begin();
  bool is_open = false;
  for (text_line line; lines.read(line);) {
    const auto index = line.number - 1;
    while (next != regions_.end() && next->last < index) {
      ++next;
      is_open = false;
    }
    const bool is_inside = next != regions_.end() && index >= next->first;
    if (!is_inside && line.begin == line.end) {
      is_open = false;
      continue;
    }
    if (!is_open || (is_inside && index == next->first)) {
      out.pieces.push_back({piece_kind::prose, line.begin, line.end, line.number, line.number, 0, {}, {}});
      is_open = true;
      if (is_inside) {
        auto& piece = out.pieces.back();
        piece.kind = next->kind;
        piece.level = next->level;
        piece.heading = next->heading;
        piece.id = next->id;
      }
    }
    out.pieces.back().end = line.end;
    out.pieces.back().last_line = line.number;
  }
}

html_text html_writer::finish(std::size_t bytes, std::size_t lines) {
  end_heading();
  end_link();
  end_region();
  html_text result;
  while (!output_.empty() && ascii::is_space(output_.back())) output_.pop_back();
  result.text = escape_unsafe_markup(output_);
  if (!result.text.empty()) result.text += '\n';
  const auto count = count_lines(result.text);
  first_lines_.resize(count);
  last_lines_.resize(count);
  // The tree can have another order than the source: text that is not in a cell comes before its table.
  for (auto i = count; i-- > 1;) first_lines_[i - 1] = std::min(first_lines_[i - 1], first_lines_[i]);
  for (std::size_t i = 1; i < count; ++i) last_lines_[i] = std::max(last_lines_[i - 1], last_lines_[i]);
  result.first_source_lines = std::move(first_lines_);
  result.last_source_lines = std::move(last_lines_);
  make_pieces(result);

  outline_builder text_outline;
  outline_builder source_outline;
  for (const auto& piece : result.pieces)
    if (piece.kind == piece_kind::heading) text_outline.on_piece(piece);
  std::sort(regions_.begin(), regions_.end(), [](const region& a, const region& b) {
    return std::pair(a.source_begin, a.first) < std::pair(b.source_begin, b.first);
  });
  for (const auto& heading : regions_) {
    if (heading.kind != piece_kind::heading) continue;
    source_outline.on_piece({piece_kind::heading, heading.source_begin, heading.source_begin, heading.source_line,
                             heading.source_line, heading.level, heading.heading, heading.id});
  }
  for (auto& link : links_) {
    source_outline.on_link(link.value);
    link.value.line = std::max<std::size_t>(1, std::min(link.text_line, count));
    text_outline.on_link(std::move(link.value));
  }
  result.text_outline = text_outline.finish(result.text.size(), count);
  result.source_outline = source_outline.finish(bytes, lines);
  return result;
}

}  // namespace hondana::markup
