/// Statistics that tell whether a time series is unusual: outliers, counter resets and disks that fill up.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sources/metrics/series/data_model.hpp"

namespace hondana::metrics {

/// Median and spread of a set of values. The spread is 1.4826 times the median absolute deviation, which estimates the standard
/// deviation of a normal distribution.
struct baseline {
  double median = 0;
  double spread = 0;
  double min = 0, max = 0;
  std::size_t count = 0;
};
/// Ignores NaN and infinities. Returns nothing for fewer than 12 finite values.
[[nodiscard]] std::optional<baseline> baseline_of(std::vector<double> values);

/// How far recent values differ from earlier ones.
struct deviation {
  double current = 0;   ///< Median of the last three values.
  double baseline = 0;  ///< Median of the earlier values.
  double distance = 0;  ///< Distance between the two, in spreads.
  double weight = 0;    ///< Score from 0 to 1.
};
/// Compares the last three values with all earlier ones. Returns a deviation if they lie outside the range of all earlier
/// values, at least 6 spreads and a fifth of the median away from the median.
/// Returns nothing if the values of the same time on the day before were similar: daily patterns are not unusual.
[[nodiscard]] std::optional<deviation> find_deviation(const std::vector<series::sample>& samples);

/// The increase per second of a counter at each step except the first. After a reset, the counter is assumed to restart from
/// zero.
[[nodiscard]] std::vector<series::sample> rates_of(const std::vector<series::sample>& samples);
/// The time of the last counter reset since `start`.
[[nodiscard]] std::optional<series::instant> last_reset(const std::vector<series::sample>& samples, series::instant start);

/// Time in milliseconds until the value reaches zero, from a straight line fitted by least squares.
/// Returns nothing if the line does not fall, the fit is poor (R² below 0.8), or there are fewer than 12 values.
[[nodiscard]] std::optional<series::duration> time_to_zero(const std::vector<series::sample>& samples);
/// Score of a disk that fills up: 0.9 for one hour or less, falling to 0.3 for a day.
[[nodiscard]] double filling_weight(series::duration time_to_full) noexcept;

}  // namespace hondana::metrics
