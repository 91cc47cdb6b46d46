/// Samples as points of a picture, no more of them than can be seen.
#pragma once

#include <vector>

#include "sources/metrics/charts/canvas.hpp"
#include "sources/metrics/series/sample.hpp"

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

}  // namespace hondana::charts
