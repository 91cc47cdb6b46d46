/// The Markdown output of Office files: paragraphs, lists and tables, up to a limit.
#include "text/rendering/office/text_output.hpp"

#include <algorithm>
#include <utility>

#include "base/ascii/ascii.hpp"

namespace hondana::rendering {
namespace {

constexpr std::string_view ideographic_space = "\xe3\x80\x80";

/// The last character boundary at or before `position`.
std::size_t boundary_before(std::string_view text, std::size_t position) {
  while (position > 0 && position < text.size() && (static_cast<unsigned char>(text[position]) & 0xc0) == 0x80) --position;
  return std::min(position, text.size());
}

bool looks_like_heading(std::string_view line) {
  const auto marks = std::min(line.find_first_not_of('#'), line.size());
  return marks >= 1 && marks <= 6 && (marks == line.size() || line[marks] == ' ' || line[marks] == '\t');
}

}  // namespace

std::string_view trim(std::string_view text) noexcept {
  for (;;) {
    if (text.empty()) return text;
    if (ascii::is_json_space(text.front())) {
      text.remove_prefix(1);
    } else if (ascii::is_json_space(text.back())) {
      text.remove_suffix(1);
    } else if (text.starts_with(ideographic_space)) {
      text.remove_prefix(ideographic_space.size());
    } else if (text.ends_with(ideographic_space)) {
      text.remove_suffix(ideographic_space.size());
    } else {
      return text;
    }
  }
}

std::string to_single_line(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : trim(text)) {
    if (!ascii::is_json_space(c)) {
      out += c;
    } else if (!out.ends_with(' ')) {
      out += ' ';
    }
  }
  return out;
}

void text_output::add(block kind, std::string_view text) {
  if (is_truncated_) return;
  const bool is_joined = kind == last_ && kind != block::paragraph;
  std::string_view separator = last_ == block::none ? "" : is_joined ? "\n" : "\n\n";
  if (text_.ends_with('\f')) separator = "";
  const auto used = text_.size() + separator.size() + 1;  // including the newline at the end
  if (used >= max_bytes_) return truncate();
  text_ += separator;
  const auto space_left = max_bytes_ - used;
  if (text.size() > space_left) {
    text = text.substr(0, boundary_before(text, space_left));
    truncate();
  }
  text_ += text;
  last_ = kind;
}

void text_output::heading(std::size_t level, std::string_view text) {
  const auto line = to_single_line(text);
  if (line.empty()) return;
  add(block::paragraph, std::string(std::clamp<std::size_t>(level, 1, 6), '#') + ' ' + line);
}

void text_output::paragraph(std::string_view text) {
  text = trim(text);
  if (text.empty()) return;
  std::string out;
  out.reserve(text.size() + 1);
  for (std::size_t position = 0; position <= text.size();) {
    const auto line = text.substr(position, text.find('\n', position) - position);
    if (looks_like_heading(line)) out += '\\';
    out += line;
    position += line.size() + 1;
    if (position <= text.size()) out += '\n';
  }
  add(block::paragraph, out);
}

void text_output::item(std::size_t level, bool is_numbered, std::string_view text) {
  const auto line = to_single_line(text);
  if (line.empty()) return;
  constexpr std::size_t max_item_depth = 8;
  const std::size_t indent = is_numbered ? 3 : 2;
  add(block::item, std::string(std::min(level, max_item_depth) * indent, ' ') + (is_numbered ? "1. " : "- ") + line);
}

void text_output::row(const std::vector<std::string>& cells, bool is_first, std::size_t columns) {
  std::string line = "|";
  const auto count = std::max(cells.size(), columns);
  for (std::size_t i = 0; i < count; ++i) {
    line += ' ';
    if (i < cells.size()) {
      for (const char c : to_single_line(cells[i])) {
        if (c == '|') line += '\\';
        line += c;
      }
    }
    line += " |";
  }
  if (is_first) {
    line += "\n|";
    for (std::size_t i = 0; i < count; ++i) line += " --- |";
    if (last_ == block::row) last_ = block::paragraph;  // separates two consecutive tables
  }
  add(block::row, line);
}

void text_output::blocks(std::string_view text) {
  if (!text.empty()) add(block::paragraph, text);
}

void text_output::end_page() {
  if (is_truncated_) return;
  if (text_.size() + 2 > max_bytes_) return truncate();
  if (!text_.empty() && !text_.ends_with('\f')) text_ += '\n';
  text_ += '\f';
  last_ = block::none;
}

namespace {

constexpr std::size_t max_cells = 256;

}  // namespace

void tables::begin_row() {
  if (!open_.empty()) open_.back().cells.clear();
}

void tables::begin_cell() {
  if (!open_.empty()) open_.back().cell.clear();
}

void tables::add(std::string_view text) {
  text = trim(text);
  if (open_.empty() || text.empty()) return;
  auto& cell = open_.back().cell;
  if (!cell.empty()) cell += ' ';
  cell += text;
}

void tables::end_cell(std::size_t span) {
  if (open_.empty()) return;
  auto& last = open_.back();
  if (last.cells.size() < max_cells) {
    last.cells.push_back(std::move(last.cell));
  } else {
    is_incomplete_ = is_incomplete_ || !last.cell.empty();
  }
  last.cell.clear();
  const auto size = std::min(max_cells, last.cells.size() + std::max<std::size_t>(span, 1) - 1);
  if (last.cells.size() < size) last.cells.resize(size);
}

void tables::end_row(text_output& out, bool is_visible) {
  if (open_.empty()) return;
  if (is_incomplete_) out.mark_incomplete();
  auto& last = open_.back();
  auto cells = std::exchange(last.cells, {});
  const bool is_empty = std::all_of(cells.begin(), cells.end(), [](const auto& cell) { return cell.empty(); });
  if (!is_visible || is_empty) return;
  if (open_.size() == 1) {
    out.row(cells, !std::exchange(last.has_header, true));
    return;
  }
  std::string line;
  for (const auto& cell : cells) {
    if (!cell.empty()) (line += line.empty() ? "" : " ") += cell;
  }
  auto& outer = open_[open_.size() - 2].cell;
  if (!outer.empty()) outer += ' ';
  outer += line;
}

void tables::end() {
  if (!open_.empty()) open_.pop_back();
}

}  // namespace hondana::rendering
