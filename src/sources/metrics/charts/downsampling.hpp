/// Reduces series to the pixel columns of a chart, and stacks them on top of each other.
#pragma once

#include <cstddef>
#include <vector>

#include "sources/metrics/charts/canvas.hpp"
#include "sources/metrics/charts/chart.hpp"
#include "sources/metrics/series/data_model.hpp"

namespace hondana::charts {

/// Maps times from `start` to `end` and values from `low` to `high` to coordinates in `area`.
struct projection {
  box area{};
  series::instant start = 0, end = 1;  ///< Must differ.
  double low = 0, high = 1;            ///< Must differ.

  [[nodiscard]] double x_of(series::instant time) const noexcept;
  /// Infinities and values beyond the axis are at the edge.
  [[nodiscard]] double y_of(double value) const noexcept;
};

/// A line with at most two points per column.
struct reduced_line {
  path runs{};                    ///< A polyline for each run of joined samples.
  std::vector<point> isolated{};  ///< Samples that are not joined to others.
};

/// Whether two consecutive samples at these times are close enough to be joined. `step`: see `chart::step`.
[[nodiscard]] constexpr bool is_joined(series::instant previous, series::instant next, series::duration step) noexcept {
  return step <= 0 || next - previous <= step + step / 2;
}

/// Reduces the samples in each column to the least and the greatest, in order of time. `column_width`: in CSS pixels. `step`:
/// see `chart::step`. Linear time.
[[nodiscard]] reduced_line reduce_line(const std::vector<series::sample>& samples, const projection& projection,
                                       series::duration step, double column_width);

/// One area of a stack. Each vector has one element for each of `stack::times`.
struct layer {
  std::vector<double> lower{}, upper{};  ///< The edge next to zero and the other one. NaN where the line has no value.
  std::vector<bool> starts{};            ///< True where the area is not joined to the previous time.
};

/// Lines on top of each other.
struct stack {
  std::vector<series::instant> times{};
  std::vector<layer> layers{};  ///< In the order of the lines.
  double low = 0, high = 0;     ///< Of all finite values.
};

/// Stacks lines: positive values upwards from zero, negative ones downwards. Linear time.
/// Divides the time from `start` to `end` into `columns` columns. The stack has one time for each column with samples: the mean
/// of their times. A line's value there is the mean of its samples in the column, or is interpolated between joined samples.
[[nodiscard]] stack stack_lines(const std::vector<const line*>& lines, series::instant start, series::instant end,
                                series::duration step, std::size_t columns);

}  // namespace hondana::charts
