/// Statistics that tell whether a time series is unusual: outliers, counter resets and disks that fill up.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sources/metrics/series/data_model.hpp"

namespace hondana::metrics {

/// Statistics of a set of values.
struct baseline {
  double median = 0;
  /// 1.4826 times the median absolute deviation, which estimates the standard deviation of a normal distribution.
  double spread = 0;
  double min = 0, max = 0;
  std::size_t count = 0;  ///< Number of finite values.
};
/// Computes the statistics of the finite values. Returns nullopt for fewer than 12.
[[nodiscard]] std::optional<baseline> baseline_of(std::vector<double> values);

/// How far recent values differ from earlier ones.
struct deviation {
  double current = 0;   ///< Median of the last three values.
  double baseline = 0;  ///< Median of the earlier values.
  double distance = 0;  ///< Distance between the two, in spreads.
  double weight = 0;    ///< Score from 0.3 to 0.7.
};
/// Compares the median of the last three values with all earlier values. Returns a deviation if it lies outside their range,
/// and differs from their median by at least 6 spreads and a fifth of that median. Otherwise returns nullopt. Also returns
/// nullopt if the values of the same time on the day before were similar: daily patterns are not unusual.
[[nodiscard]] std::optional<deviation> find_deviation(const std::vector<series::sample>& samples);

/// Computes the increase per second of a counter at each sample except the first. After a reset, the counter is assumed to
/// restart from zero.
[[nodiscard]] std::vector<series::sample> rates_of(const std::vector<series::sample>& samples);
/// Returns the time of the last counter reset since `start`; nullopt: none.
[[nodiscard]] std::optional<series::instant> last_reset(const std::vector<series::sample>& samples, series::instant start);

/// Estimates the time in milliseconds until the value reaches zero, from a straight line fitted by least squares.
/// Returns nullopt if the line does not fall, the fit is poor (R² below 0.8), or the result exceeds ten years. Also for fewer
/// than 12 values, and if one is not finite.
[[nodiscard]] std::optional<series::duration> time_to_zero(const std::vector<series::sample>& samples);
/// Returns the score of a disk that fills up: 0.9 for one hour or less, falling to 0.3 for a day.
[[nodiscard]] double filling_weight(series::duration time_to_full) noexcept;

}  // namespace hondana::metrics
