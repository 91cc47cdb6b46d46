/// Reduces series to the pixel columns of a chart, and stacks them on top of each other.
#pragma once

#include <cstddef>
#include <vector>

#include "sources/metrics/charts/canvas.hpp"
#include "sources/metrics/charts/chart.hpp"
#include "sources/metrics/series/data_model.hpp"

namespace hondana::charts {

/// Maps times and values to coordinates.
struct projection {
  box area{};
  series::instant start = 0, end = 1;
  double low = 0, high = 1;

  [[nodiscard]] double x_of(series::instant time) const noexcept;
  /// Infinities and values beyond the axis are at the edge.
  [[nodiscard]] double y_of(double value) const noexcept;
};

/// A line with at most two points per pixel column.
struct reduced_line {
  path runs{};
  std::vector<point> isolated{};  ///< Samples that are not joined to others.
};

/// Whether a line joins two consecutive samples. The second one must have a value.
[[nodiscard]] constexpr bool is_joined(series::instant previous, series::instant next, series::duration step) noexcept {
  return step <= 0 || next - previous <= step + step / 2;
}

/// Reduces the samples in each column to the least and the greatest, in order of time: at most two points per column. Linear
/// time.
[[nodiscard]] reduced_line reduce_line(const std::vector<series::sample>& samples, const projection& projection,
                                       series::duration step, double column_width);

/// One area of a stack: its lower and upper edge at the times of the stack. Both are NaN where the line has no value.
struct layer {
  std::vector<double> lower{}, upper{};
  std::vector<bool> starts{};  ///< True where the area is not joined to the previous time.
};

/// Lines on top of each other.
struct stack {
  std::vector<series::instant> times{};
  std::vector<layer> layers{};  ///< In the order of the lines.
  double low = 0, high = 0;     ///< Of all finite values.
};

/// Stacks lines. Negative values grow downwards. Linear time.
/// The stack has at most `columns` times, each the mean of the sample times in its column. A line's value there is the mean of
/// its samples in the column, or is interpolated between joined neighbors.
[[nodiscard]] stack stack_lines(const std::vector<const line*>& lines, series::instant start, series::instant end,
                                series::duration step, std::size_t columns);

}  // namespace hondana::charts
