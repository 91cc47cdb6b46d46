/// The rows and columns of an HTML table.
#pragma once

#include <cstddef>
#include <vector>

#include "text/markup/html_tree.hpp"

namespace hondana::markup {

struct html_cell {
  const GumboNode* node = nullptr;
  std::size_t column = 0;  ///< From 0. Columns in which no cell begins are not counted.
};

struct html_table {
  std::vector<const GumboNode*> captions{};
  /// Cells with a span are in their first row and column only. Cells that are not displayed have no place.
  std::vector<std::vector<html_cell>> rows{};
  std::size_t columns = 0;
};

/// Forms the table below an element `table`. `is_displayed` says whether to count an element. Source: HTML Living
/// Standard, 4.9.12.1 (forming a table). Beyond 1000 columns, spans are ignored. Time: linear, with at most 1000 steps for a
/// row.
[[nodiscard]] html_table form_table(const GumboNode& table, bool (*is_displayed)(const GumboNode&));

}  // namespace hondana::markup
