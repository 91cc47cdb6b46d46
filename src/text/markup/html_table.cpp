/// The rows and columns of an HTML table.
#include "text/markup/html_table.hpp"

#include <algorithm>
#include <limits>

namespace hondana::markup {
namespace {

constexpr std::size_t max_table_columns = 1000;
constexpr int max_column_span = 1000;
constexpr int max_row_span = 65534;

std::size_t read_span(const GumboElement& cell, const char* name, int limit) noexcept {
  const auto* value = find_attribute(cell, name);
  return static_cast<std::size_t>(std::min(limit, std::max(0, value == nullptr ? 1 : parse_html_integer(value).value_or(1))));
}

class table_former {
 public:
  explicit table_former(bool (*is_displayed)(const GumboNode&)) : is_displayed_(is_displayed) {}

  html_table form(const GumboNode& table) {
    std::vector<const GumboNode*> footers;
    for_each_child(table, [&](const GumboNode& child) {
      if (is_element(child, GUMBO_TAG_CAPTION))
        table_.captions.push_back(&child);
      else if (is_element(child, GUMBO_TAG_TFOOT))
        footers.push_back(&child);
      else if (is_element(child, GUMBO_TAG_THEAD) || is_element(child, GUMBO_TAG_TBODY))
        add_row_group(child);
      else if (is_element(child, GUMBO_TAG_TR))
        add_row(child);
    });
    for (const auto* footer : footers) add_row_group(*footer);
    number_columns();
    return std::move(table_);
  }

 private:
  template <class Visitor>
  void for_each_child(const GumboNode& node, Visitor&& visitor) const {
    const auto& children = children_of(node);
    for (unsigned int i = 0; i < children.length; ++i) {
      const auto& child = *static_cast<const GumboNode*>(children.data[i]);
      if (child.type == GUMBO_NODE_ELEMENT && is_displayed_(child)) visitor(child);
    }
  }

  void add_row_group(const GumboNode& group) {
    for_each_child(group, [this](const GumboNode& row) {
      if (is_element(row, GUMBO_TAG_TR)) add_row(row);
    });
    free_from_row_.clear();  // no cell reaches into the next group
  }

  void add_row(const GumboNode& row) {
    auto& cells = table_.rows.emplace_back();
    const auto row_index = table_.rows.size();
    std::size_t column = 0;
    for_each_child(row, [&](const GumboNode& cell) {
      if (!is_element(cell, GUMBO_TAG_TD) && !is_element(cell, GUMBO_TAG_TH)) return;
      while (column < free_from_row_.size() && free_from_row_[column] > row_index) ++column;
      cells.push_back({&cell, column});
      if (column >= max_table_columns) {
        ++column;
        return;
      }
      const auto& element = cell.v.element;
      const auto end = column + std::max<std::size_t>(1, read_span(element, "colspan", max_column_span));
      const auto row_span = read_span(element, "rowspan", max_row_span);
      if (row_span != 1) {
        free_from_row_.resize(std::max(free_from_row_.size(), std::min(end, max_table_columns)));
        const auto free_row = row_span == 0 ? std::numeric_limits<std::size_t>::max() : row_index + row_span;
        for (auto i = column; i < std::min(end, max_table_columns); ++i)
          free_from_row_[i] = std::max(free_from_row_[i], free_row);
      }
      column = end;
    });
  }

  /// Replaces columns by their numbers among the columns in which a cell begins.
  void number_columns() {
    std::vector<std::size_t> used;
    for (const auto& row : table_.rows)
      for (const auto& cell : row)
        if (used.empty() || used.back() != cell.column) used.push_back(cell.column);
    std::sort(used.begin(), used.end());
    used.erase(std::unique(used.begin(), used.end()), used.end());
    for (auto& row : table_.rows)
      for (auto& cell : row)
        cell.column = static_cast<std::size_t>(std::lower_bound(used.begin(), used.end(), cell.column) - used.begin());
    table_.columns = used.size();
  }

  bool (*is_displayed_)(const GumboNode&);
  html_table table_{};
  std::vector<std::size_t> free_from_row_{};  ///< For each column, the first row, from 1, that no cell above reaches into.
};

}  // namespace

html_table form_table(const GumboNode& table, bool (*is_displayed)(const GumboNode&)) {
  return table_former(is_displayed).form(table);
}

}  // namespace hondana::markup
