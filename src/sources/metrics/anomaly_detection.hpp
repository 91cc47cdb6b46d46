/// Statistics that tell whether a time series is unusual: outliers, counter resets and disks that fill up.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sources/metrics/series/data_model.hpp"

namespace hondana::metrics {

/// The middle, and how far values are from it in the middle: 1.4826 times the median of the distances, which of a normal
/// distribution is its standard deviation. NaN and infinities are left out. Nothing for fewer than 12 values.
struct usual_values {
  double median = 0;
  double spread = 0;
  double least = 0, most = 0;
  std::size_t count = 0;
};
[[nodiscard]] std::optional<usual_values> usual_of(std::vector<double> values);

/// A value that is not as before.
struct departure {
  double now = 0;       ///< The median of the last few values.
  double usual = 0;     ///< The median before.
  double distance = 0;  ///< In spreads.
  double weight = 0;    ///< 0 to 1.
};
/// The last three values against all before, and against those of the same time of the day before where there are some: what
/// comes every day at this time is not unusual. It is where it is beyond everything before, more than a fifth of the usual
/// value and 6 spreads away from it.
[[nodiscard]] std::optional<departure> departure_of(const std::vector<series::sample>& samples);

/// Of a counter's values at steps: how much it rose a second, at each step but the first; after a reset from zero.
[[nodiscard]] std::vector<series::sample> rates_of(const std::vector<series::sample>& counted);
/// When it was reset last, since `from`.
[[nodiscard]] std::optional<series::instant> reset_of(const std::vector<series::sample>& counted, series::instant from);

/// A straight line through what is left, by least squares: in how many milliseconds nothing is. Nothing where it does not
/// fall, or values do not lie near a line (R² below 0.8), or there are fewer than 12.
[[nodiscard]] std::optional<series::duration> time_to_zero(const std::vector<series::sample>& left);
/// 0.9 for an hour and less, down to 0.3 for a day.
[[nodiscard]] double weight_of_filling(series::duration until_full) noexcept;

}  // namespace hondana::metrics
