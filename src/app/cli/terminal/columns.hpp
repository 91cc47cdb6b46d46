/// Fits tables to the width of a terminal, and measures the width of texts in columns.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace hondana::cli {

/// The width of UTF-8 text in terminal columns: 2 for wide characters (East Asian, emoji), 0 for combining marks and joiners. A
/// malformed byte counts as 1.
[[nodiscard]] std::size_t width_of(std::string_view text);

/// `text` in at most `columns` columns. If it is too long, it is cut and ends in an ellipsis.
[[nodiscard]] std::string truncate_end(std::string_view text, std::size_t columns);
/// Like `truncate_end`, but with the ellipsis in the middle, so that both ends stay visible.
[[nodiscard]] std::string truncate_middle(std::string_view text, std::size_t columns);

/// A column of a table.
struct column {
  enum class alignment : unsigned char { left, right };
  enum class truncation : unsigned char { never, at_end, in_middle };

  std::string title;
  alignment align = alignment::left;
  truncation truncate = truncation::never;  ///< Whether and where cells may be cut.
};

/// A table that was laid out.
struct fitted_table {
  std::string text;            ///< Lines that end in newlines, without leading spaces.
  bool was_truncated = false;  ///< At least one cell was shortened.
};

/// Lays out a table. Each row must have a cell for each column. Leaves out columns that are empty in every row. Until the table
/// fits into `width` columns of the terminal, shortens the widest columns that may be cut, to no less than 8.
/// `has_bold_titles`: print the titles in bold. Cells are printed unchanged, so pass them through `sanitize` first.
[[nodiscard]] fitted_table fit_table(const std::vector<column>& columns, const std::vector<std::vector<std::string>>& rows,
                                     std::size_t width, bool has_bold_titles);

}  // namespace hondana::cli
