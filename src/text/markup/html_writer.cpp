/// Lays out the text of HTML as harmless Markdown: line breaks, lists, tables and headings.
#include "text/markup/html_writer.hpp"

#include <algorithm>
#include <array>

#include "base/ascii/ascii.hpp"
#include "text/markup/characters.hpp"
#include "text/markup/html.hpp"
#include "text/markup/pieces.hpp"

namespace hondana::markup {
namespace {

/// Names in angle brackets that are shown unchanged, because they are common in code and no HTML element has them. All others
/// are escaped.
constexpr std::array<std::string_view, 26> names_of_code{
    "algorithm", "array",    "bool", "char", "cstddef", "cstdint", "cstdio", "double", "float",
    "int",       "iostream", "K",    "long", "memory",  "name",    "size_t", "string", "string_view",
    "T",         "tuple",    "type", "U",    "utility", "V",       "vector", "void"};

constexpr std::array<std::string_view, 3> running_schemes{"javascript:", "vbscript:", "data:"};

/// Whether the brackets contain code, such as `<vector>`, `<stdio.h>`, `<std::string>`: no attributes, and not an HTML element.
bool is_code(std::string_view behind) noexcept {
  const auto end = behind.substr(0, 64).find('>');
  if (end == std::string_view::npos) return false;
  const auto name = behind.substr(0, end);
  const bool is_plain =
      std::all_of(name.begin(), name.end(), [](char c) { return ascii::is_letter(c) || ascii::is_digit(c) || c == '_'; });
  if (is_plain) return std::find(names_of_code.begin(), names_of_code.end(), name) != names_of_code.end();
  return name.ends_with(".h") || name.ends_with(".hpp") || name.starts_with("std::");
}

bool begins_tag(std::string_view behind) noexcept {
  if (behind.empty()) return false;
  const char next = behind.front();
  if (next == '/' || next == '!' || next == '?') return true;
  return ascii::is_letter(next) && !is_code(behind);
}

bool runs(std::string_view target) noexcept {
  while (!target.empty() && (ascii::is_space(target.front()) || target.front() == '<')) target.remove_prefix(1);
  return std::any_of(running_schemes.begin(), running_schemes.end(),
                     [target](std::string_view one) { return ascii::begins_with(target, one); });
}

}  // namespace

std::string harmless(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    const auto behind = text.substr(at + 1);
    if (c == '<' && begins_tag(behind))
      out += "&lt;";
    else
      out += c;
    const bool is_target = c == ']' && behind.size() > 1 && (behind.front() == '(' || behind.front() == ':');
    if (is_target && runs(behind.substr(1, 32))) {
      out.append(1, ' ').append(1, behind.front()).append(1, ' ');
      ++at;
    }
  }
  return out;
}

namespace {

/// One more than the limit of an outline, so that the outline can report that it is cut.
constexpr std::size_t most_noted = 10'001;
constexpr std::size_t deepest_list = 16;

}  // namespace

void html_writer::at_source(std::size_t byte, std::size_t line) noexcept {
  byte_ = byte;
  line_ = line;
}

void html_writer::new_line() {
  while (!out_.empty() && out_.back() == ' ' && raw_ == 0) out_.pop_back();
  out_ += '\n';
  first_lines_.push_back(line_);
  last_lines_.push_back(line_);
  is_line_empty_ = true;
}

void html_writer::flush() {
  if (out_.empty()) breaks_ = 0;
  if (breaks_ > 0) {
    has_space_ = false;
    for (; breaks_ > 0; --breaks_) new_line();
  }
  if (is_line_empty_) first_lines_.back() = line_;
  last_lines_.back() = line_;
  if (is_in_region_ && region_.first == std::string::npos) region_.first = first_lines_.size() - 1;
  if (!prefix_.empty()) {
    out_ += prefix_;
    prefix_.clear();
    has_space_ = false;
    is_line_empty_ = false;
  } else if (has_space_) {
    if (!is_line_empty_ && out_.back() != ' ') out_ += ' ';
    has_space_ = false;
  }
}

void html_writer::put(std::string_view characters) {
  flush();
  if (is_link_pending_) link_begin_ = out_.size();
  is_link_pending_ = false;
  out_.append(characters);
  is_line_empty_ = false;
}

void html_writer::show(char c) {
  if (raw_ > 0 && !is_in_heading_ && !is_in_cell_) {
    if (c == '\n') {
      if (is_in_region_ && region_.first == std::string::npos) return;
      flush();
      new_line();
    } else if (c == ' ' || c == '\t') {
      put({&c, 1});
    } else if (static_cast<unsigned char>(c) >= 0x20) {
      put({&c, 1});
    }
    return;
  }
  if (ascii::is_space(c))
    has_space_ = true;
  else if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7F)
    put({&c, 1});
}

void html_writer::text(std::string_view raw) {
  std::string decoded_one;
  const auto begin = line_;
  for (std::size_t at = 0; at < raw.size();) {
    const char c = raw[at];
    if (c == '&') {
      decoded_one.clear();
      const auto taken = decode_entity(raw, at, decoded_one);
      if (taken != 0) {
        // Treat a no-break space as a space.
        if (decoded_one == "\xC2\xA0") decoded_one = " ";
        for (const char each : decoded_one) show(each == '\f' ? ' ' : each);
        at += taken;
        continue;
      }
    }
    const bool is_ordinary = static_cast<unsigned char>(c) > ' ' && c != '&' && c != 0x7F;
    if (!is_ordinary) {
      if (c == '\n') ++line_;
      show(c);
      ++at;
      continue;
    }
    auto end = at + 1;
    while (end < raw.size() && static_cast<unsigned char>(raw[end]) > ' ' && raw[end] != '&' && raw[end] != 0x7F) ++end;
    put(raw.substr(at, end - at));
    at = end;
  }
  line_ = begin;
}

void html_writer::break_line(int lines) noexcept {
  if (is_in_heading_ || is_in_cell_) {
    has_space_ = true;
  } else if (prefix_.empty()) {
    breaks_ = std::max(breaks_, is_line_empty_ ? lines - 1 : lines);
  }
}

void html_writer::begin_region(part what) {
  if (is_in_region_) end_region();
  region_ = {what, std::string::npos, 0, 0, {}, {}, byte_, line_};
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
  begin_region(part::heading);
  region_.level = level;
  region_.id = std::move(id);
  region_.source_begin = byte_;
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
  const auto begin = out_.rfind('\n') + 1;
  const auto shown = std::string_view(out_).substr(begin + static_cast<std::size_t>(region_.level));
  region_.heading = front_of(trimmed(shown), longest_heading);
  end_region();
  break_line(2);
}

void html_writer::note(std::string target, std::string text, bool is_picture) {
  if (links_.size() < most_noted)
    links_.push_back({{std::move(target), std::move(text), line_, is_picture}, first_lines_.size()});
}

void html_writer::begin_link(std::string target) {
  end_link();
  link_target_ = std::move(target);
  is_link_open_ = is_link_pending_ = true;
  link_line_ = line_;
}

void html_writer::end_link() {
  if (!is_link_open_) return;
  if (is_link_pending_) link_begin_ = out_.size();
  is_link_open_ = is_link_pending_ = false;
  const auto raw = std::string_view(out_).substr(std::min(link_begin_, out_.size())).substr(0, 4 * longest_heading);
  std::string text;
  for (const char c : raw) {
    if (!ascii::is_space(c))
      text += c;
    else if (!text.empty() && text.back() != ' ')
      text += ' ';
  }
  std::swap(line_, link_line_);
  note(std::move(link_target_), std::string(front_of(trimmed(text), longest_heading)), false);
  std::swap(line_, link_line_);
}

void html_writer::picture(std::string target, std::string_view alternative) {
  has_space_ = has_space_ || !alternative.empty();
  const auto shown = trimmed(alternative);
  for (const char c : shown) show(c == '\n' ? ' ' : c);
  if (!target.empty()) note(std::move(target), std::string(front_of(shown, longest_heading)), true);
}

void html_writer::begin_raw() {
  break_line(2);
  ++raw_;
  if (!is_in_heading_ && !is_in_cell_) begin_region(part::code);
}

void html_writer::end_raw() {
  if (raw_ == 0) return;
  --raw_;
  if (is_in_region_ && region_.what == part::code) end_region();
  break_line(2);
}

void html_writer::begin_list() {
  break_line(lists_ == 0 ? 2 : 1);
  ++lists_;
}

void html_writer::end_list() {
  if (lists_ > 0) --lists_;
  break_line(lists_ == 0 ? 2 : 1);
}

void html_writer::item() {
  break_line(1);
  if (is_in_heading_ || is_in_cell_ || raw_ > 0) return;
  prefix_ = std::string(2 * (std::min(std::max<std::size_t>(lists_, 1), deepest_list) - 1), ' ') + "- ";
}

void html_writer::begin_table() {
  end_heading();
  break_line(2);
  if (++tables_ == 1) begin_region(part::table);
}

void html_writer::end_table() {
  if (tables_ == 0) return;
  if (--tables_ > 0) return;
  is_in_cell_ = has_cell_ = false;
  if (is_in_region_ && region_.what == part::table) end_region();
  break_line(2);
}

void html_writer::row() {
  if (tables_ != 1) return break_line(1);
  is_in_cell_ = has_cell_ = false;
  break_line(1);
}

void html_writer::cell() {
  end_heading();
  if (tables_ != 1) return break_line(1);
  is_in_cell_ = true;
  if (has_cell_) {
    has_space_ = true;
    put("|");
  }
  has_space_ = has_cell_;
  has_cell_ = true;
}

std::string html_writer::line_of(std::string_view raw) {
  html_writer one;
  one.text(raw);
  std::replace(one.out_.begin(), one.out_.end(), '\n', ' ');
  return std::string(front_of(trimmed(one.out_), longest_heading));
}

/// Regions become pieces. The text between them is prose, divided at blank lines.
void html_writer::make_pieces(html_text& into) const {
  line_reader lines(into.text);
  auto next = regions_.begin();
  bool is_open = false;
  for (line one; lines.read(one);) {
    const auto index = one.number - 1;
    while (next != regions_.end() && next->last < index) {
      ++next;
      is_open = false;
    }
    const bool is_inside = next != regions_.end() && index >= next->first;
    if (!is_inside && one.begin == one.end) {
      is_open = false;
      continue;
    }
    if (!is_open || (is_inside && index == next->first)) {
      into.pieces.push_back({part::prose, one.begin, one.end, one.number, one.number, 0, {}, {}});
      is_open = true;
      if (is_inside) {
        auto& made = into.pieces.back();
        made.what = next->what;
        made.level = next->level;
        made.heading = next->heading;
        made.id = next->id;
      }
    }
    into.pieces.back().end = one.end;
    into.pieces.back().last_line = one.number;
  }
}

html_text html_writer::finish(std::size_t bytes, std::size_t lines) {
  end_heading();
  end_link();
  end_region();
  html_text made;
  while (!out_.empty() && ascii::is_space(out_.back())) out_.pop_back();
  made.text = harmless(out_);
  if (!made.text.empty()) made.text += '\n';
  const auto count = lines_in(made.text);
  first_lines_.resize(count);
  last_lines_.resize(count);
  made.first_source_lines = std::move(first_lines_);
  made.last_source_lines = std::move(last_lines_);
  make_pieces(made);

  outline_builder of_text;
  outline_builder of_source;
  for (const auto& one : made.pieces)
    if (one.what == part::heading) of_text.take(one);
  for (const auto& one : regions_) {
    if (one.what != part::heading) continue;
    of_source.take(
        {part::heading, one.source_begin, one.source_begin, one.source_line, one.source_line, one.level, one.heading, one.id});
  }
  for (auto& one : links_) {
    of_source.refer(one.what);
    one.what.line = std::max<std::size_t>(1, std::min(one.text_line, count));
    of_text.refer(std::move(one.what));
  }
  made.of_text = of_text.finish(made.text.size(), count);
  made.of_source = of_source.finish(bytes, lines);
  return made;
}

}  // namespace hondana::markup
