/// A condition on a time series (above, below, absent, for how long), and the check of samples against it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sources/metrics/series/data_model.hpp"

namespace hondana::metrics {

/// A condition on the values of a metric.
struct series_condition {
  /// `above` alone: values greater than it. `below` alone: values less than it. Both, with `above` less than `below`: values
  /// between them. Otherwise values greater than `above` or less than `below`.
  std::optional<double> above{}, below{};
  bool is_absent = false;              ///< Also met when no series has a value.
  series::duration hold_duration = 0;  ///< The parameter `for`: how long the condition must be met without interruption.

  [[nodiscard]] bool is_set() const noexcept { return above || below || is_absent; }
  /// Whether a value meets `above` and `below`. It must not be NaN.
  [[nodiscard]] bool is_met_by(double value) const noexcept;
  /// Describes the condition: "above 0.9 for 5m".
  [[nodiscard]] std::string to_text() const;
};

/// The state of a condition for one series at the end of its samples.
struct condition_status {
  enum class state : std::uint8_t {
    unknown,  ///< There is no value at the end or shortly before it.
    quiet,    ///< Not met.
    pending,  ///< Met, but not yet for `hold_duration`.
    met,      ///< Met for `hold_duration` or longer.
  };
  state current = state::unknown;
  series::instant active_since =
      0;  ///< With `pending` and `met`: the first sample of the period in which the condition is met.
  /// `active_since` is the first value, or the first after a gap: the condition may have been met earlier.
  bool may_be_earlier = false;
  std::optional<double> value{};  ///< The last value that is not NaN. nullopt: there is none.
  series::instant value_at = 0;   ///< The time of `value`.
};

/// Checks `above` and `below` for samples up to `end`. A NaN or a missing step neither meets nor ends the condition. If values
/// are missing for longer than `gap` (milliseconds), the state before the gap is dropped. Takes linear time.
[[nodiscard]] condition_status evaluate_condition(const std::vector<series::sample>& samples, const series_condition& condition,
                                                  series::instant end, series::duration gap = series::default_lookback);

/// Returns a sample for each of `known_steps`: 1 if no series has a value there, else 0. `known_steps`: when the source had
/// data, in order.
[[nodiscard]] std::vector<series::sample> absence_samples(const std::vector<series::time_series>& series_list,
                                                          const std::vector<series::instant>& known_steps);

}  // namespace hondana::metrics
