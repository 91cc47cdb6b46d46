/// Lines, areas, dots and thresholds of a chart.
#pragma once

#include <cstddef>

#include "sources/metrics/charts/canvas.hpp"
#include "sources/metrics/charts/plot.hpp"
#include "sources/metrics/charts/reduction.hpp"
#include "sources/metrics/charts/stacking.hpp"
#include "sources/metrics/charts/typesetter.hpp"

namespace hondana::charts {

/// Of a plot that outlives it.
class marks {
 public:
  /// `columns`: of pixels that there are about.
  marks(const plot& of, std::size_t columns);

  /// Finite; of all that is drawn, with the thresholds that are not far from it.
  [[nodiscard]] double low() const noexcept { return low_; }
  [[nodiscard]] double high() const noexcept { return high_; }
  /// Whether there is anything that the axis of numbers measures.
  [[nodiscard]] bool has_numbers() const noexcept { return has_numbers_; }
  [[nodiscard]] bool is_empty() const noexcept { return is_empty_; }

  void draw(canvas& on, const projection& to, bool is_dark) const;
  /// One beyond the axis is told of at its edge.
  void draw_thresholds(canvas& on, const typesetter& letters, const projection& to, bool is_dark) const;

 private:
  void draw_line(canvas& on, const projection& to, std::size_t line, bool is_dark) const;
  void draw_layer(canvas& on, const projection& to, std::size_t line, bool is_dark) const;

  const plot* of_;
  stack stack_{};
  std::size_t columns_;
  double low_ = 0, high_ = 0;
  bool is_empty_ = true;
  bool has_numbers_ = false;
};

}  // namespace hondana::charts
