/// Tables fitted to the width of a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace hondana::cli {

struct column {
  enum class alignment : unsigned char { left, right };
  enum class cutting : unsigned char { never, at_end, in_middle };

  std::string title;
  alignment align = alignment::left;
  cutting cut = cutting::never;
};

/// A table as text.
struct fitted_table {
  std::string text;      ///< Lines that end in newlines, without spaces before them.
  bool was_cut = false;  ///< Some cell is not shown whole.
};

/// Columns that are empty in every row are left out. Those that may be cut share what is left of `width`: narrow ones stay
/// whole. `in_bold`: the titles. Cells are shown as they are, so they must be `visible`.
[[nodiscard]] fitted_table fit_table(const std::vector<column>& columns, const std::vector<std::vector<std::string>>& rows,
                                     std::size_t width, bool in_bold);

}  // namespace hondana::cli
