/// Cells, then rows.
#include "text/rendering/office/tables.hpp"

#include <algorithm>
#include <utility>

namespace hondana::rendering {
namespace {

constexpr std::size_t most_cells = 256;

}  // namespace

void tables::begin_row() {
  if (!open_.empty()) open_.back().cells.clear();
}

void tables::begin_cell() {
  if (!open_.empty()) open_.back().cell.clear();
}

void tables::add(std::string_view text) {
  text = trimmed(text);
  if (open_.empty() || text.empty()) return;
  auto& cell = open_.back().cell;
  if (!cell.empty()) cell += ' ';
  cell += text;
}

void tables::end_cell(std::size_t span) {
  if (open_.empty()) return;
  auto& last = open_.back();
  if (last.cells.size() < most_cells) {
    last.cells.push_back(std::move(last.cell));
  } else {
    is_less_ = is_less_ || !last.cell.empty();
  }
  last.cell.clear();
  const auto wanted = std::min(most_cells, last.cells.size() + std::max<std::size_t>(span, 1) - 1);
  if (last.cells.size() < wanted) last.cells.resize(wanted);
}

void tables::end_row(text_output& to, bool is_shown) {
  if (open_.empty()) return;
  if (is_less_) to.leave_out();
  auto& last = open_.back();
  auto cells = std::exchange(last.cells, {});
  const bool is_empty = std::all_of(cells.begin(), cells.end(), [](const auto& one) { return one.empty(); });
  if (!is_shown || is_empty) return;
  if (open_.size() == 1) {
    to.row(cells, !std::exchange(last.has_header, true));
    return;
  }
  std::string line;
  for (const auto& one : cells) {
    if (!one.empty()) (line += line.empty() ? "" : " ") += one;
  }
  auto& outer = open_[open_.size() - 2].cell;
  if (!outer.empty()) outer += ' ';
  outer += line;
}

void tables::end() {
  if (!open_.empty()) open_.pop_back();
}

}  // namespace hondana::rendering
