/// Sharing the width between columns.
#include "app/cli/terminal/columns.hpp"

#include <algorithm>

#include "app/cli/terminal/width.hpp"

namespace hondana::cli {
namespace {

constexpr std::size_t space_between = 2;
// Less of a cell says nothing.
constexpr std::size_t narrowest = 8;

std::string padding(std::size_t columns) { return std::string(columns, ' '); }

/// The widest cell of each column, title included; 0 for one without content.
std::vector<std::size_t> natural_widths(const std::vector<column>& columns, const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths(columns.size());
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < columns.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  }
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (widths[i] != 0) widths[i] = std::max(widths[i], width_of(columns[i].title));
  }
  return widths;
}

/// Takes columns from the widest that may be cut until everything fits.
void share(const std::vector<column>& columns, std::vector<std::size_t>& widths, std::size_t width) {
  std::size_t used = 0;
  std::vector<std::size_t> may_shrink;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (widths[i] == 0) continue;
    used += widths[i] + (used == 0 ? 0 : space_between);
    if (columns[i].cut != column::cutting::never) may_shrink.push_back(i);
  }
  while (used > width && !may_shrink.empty()) {
    std::sort(may_shrink.begin(), may_shrink.end(), [&](auto a, auto b) { return widths[a] > widths[b]; });
    const auto widest = widths[may_shrink[0]];
    if (widest <= narrowest) return;
    std::size_t as_wide = 1;
    while (as_wide < may_shrink.size() && widths[may_shrink[as_wide]] == widest) ++as_wide;
    const auto next = as_wide < may_shrink.size() ? std::max(widths[may_shrink[as_wide]], narrowest) : narrowest;
    const auto each = std::max<std::size_t>(1, std::min(widest - next, (used - width + as_wide - 1) / as_wide));
    for (std::size_t k = 0; k < as_wide && used > width; ++k) {
      const auto taken = std::min({each, used - width, widest - narrowest});
      widths[may_shrink[k]] -= taken;
      used -= taken;
    }
  }
}

}  // namespace

fitted_table fit_table(const std::vector<column>& columns, const std::vector<std::vector<std::string>>& rows, std::size_t width,
                       bool in_bold) {
  auto widths = natural_widths(columns, rows);
  share(columns, widths, width);
  fitted_table table;
  const auto add_line = [&](const auto& cell_of, bool is_title) {
    std::string line;
    for (std::size_t i = 0, pending = 0; i < columns.size(); ++i) {
      if (widths[i] == 0) continue;
      const std::string& whole = cell_of(i);
      const auto cell =
          columns[i].cut == column::cutting::in_middle ? cut_in_middle(whole, widths[i]) : cut_at_end(whole, widths[i]);
      table.was_cut = table.was_cut || (!is_title && cell.size() != whole.size());
      const auto free = widths[i] - std::min(widths[i], width_of(cell));
      const bool is_right = columns[i].align == column::alignment::right;
      line += padding(pending + (is_right ? free : 0)) + cell;
      pending = space_between + (is_right ? 0 : free);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    table.text += is_title && in_bold ? "\x1b[1m" + line + "\x1b[0m\n" : line + '\n';
  };
  add_line([&](std::size_t i) -> const std::string& { return columns[i].title; }, true);
  for (const auto& row : rows) add_line([&](std::size_t i) -> const std::string& { return row[i]; }, false);
  return table;
}

}  // namespace hondana::cli
