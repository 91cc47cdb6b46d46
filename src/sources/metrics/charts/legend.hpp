/// The legend of a chart, which fits names into columns.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sources/metrics/charts/canvas.hpp"
#include "sources/metrics/charts/typesetter.hpp"

namespace hondana::charts {

/// Names in columns, below the data. Where they are long, labels that all of them have in common are `…`, and what is still too
/// long is shortened in the middle. What there is no room for is counted in the last place.
class legend {
 public:
  static constexpr double row_height = 17;

  /// `names` as `shown_text` makes them, in the order of the lines; `left_out`: how many more lines there are.
  legend(const typesetter& letters, std::vector<std::string> names, std::size_t left_out, double width, std::size_t most_rows);

  [[nodiscard]] double height() const noexcept { return static_cast<double>(rows_) * row_height; }
  void draw(canvas& on, point at, bool is_stacked, bool is_dark) const;

 private:
  struct entry {
    std::string text{};
    double width = 0;  ///< Of the text.
    point at{};        ///< From the legend's corner.
    bool is_note = false;
  };

  double room_ = 0;  ///< Of each text.
  std::size_t rows_ = 0;
  std::vector<entry> entries_{};
};

}  // namespace hondana::charts
