/// Tables fitted to the width of a terminal, and the width of texts in columns.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace hondana::cli {

/// Columns of UTF-8 text: 2 for wide characters (East Asian, emoji), 0 for combining marks and what joins. A byte that is not
/// well-formed takes 1.
[[nodiscard]] std::size_t width_of(std::string_view text);

/// `text` in at most `columns`; where something had to go there is an ellipsis, at the end.
[[nodiscard]] std::string cut_at_end(std::string_view text, std::size_t columns);
/// The same with the ellipsis in the middle, so that both ends are seen.
[[nodiscard]] std::string cut_in_middle(std::string_view text, std::size_t columns);

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
