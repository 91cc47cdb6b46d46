/// Reduces series to the pixel columns of a chart, and stacks them on top of each other.
#pragma once

#include <cstddef>
#include <vector>

#include "sources/metrics/charts/canvas.hpp"
#include "sources/metrics/charts/chart.hpp"
#include "sources/metrics/series/data_model.hpp"

namespace hondana::charts {

/// From instants and values to places.
struct projection {
  box in{};
  series::instant start = 0, end = 1;
  double low = 0, high = 1;

  [[nodiscard]] double x_of(series::instant at) const noexcept;
  /// Infinities, and what is beyond the ends, are at the edge.
  [[nodiscard]] double y_of(double value) const noexcept;
};

struct reduced_line {
  path runs{};
  std::vector<point> alone{};  ///< Samples that are joined to nothing.
};

/// Whether a line goes from one sample to the next, which has a value.
[[nodiscard]] constexpr bool is_joined(series::instant from, series::instant to, series::duration step) noexcept {
  return step <= 0 || to - from <= step + step / 2;
}

/// Of the samples in each column of that width the least and the greatest, in the order of their instants: at most two points a
/// column. Linear time.
[[nodiscard]] reduced_line reduced(const std::vector<series::sample>& samples, const projection& to, series::duration step,
                                   double column_width);

/// Of one line from where others end to where it ends, at the instants of the stack; both NaN: it is not there.
struct layer {
  std::vector<double> from{}, to{};
  std::vector<bool> begins{};  ///< Where it is not joined to what is before.
};

struct stack {
  std::vector<series::instant> at{};
  std::vector<layer> layers{};  ///< As the lines.
  double low = 0, high = 0;     ///< Of all that is finite.
};

/// At most `columns` instants, each the middle of those that fall in its column; a line's value there is the mean of its own,
/// or lies between its neighbours that are joined. What is negative grows downwards. Linear time.
[[nodiscard]] stack stacked(const std::vector<const line*>& lines, series::instant start, series::instant end,
                            series::duration step, std::size_t columns);

}  // namespace hondana::charts
