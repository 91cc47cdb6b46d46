/// A condition on a time series (above, below, absent, for how long), and the check of samples against it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sources/metrics/series/data_model.hpp"

namespace hondana::metrics {

/// A condition on values. `above` alone: greater than it. `below` alone: less than it.
/// Both: outside the band from `below` to `above` if `above` is the greater one, else between them. `absent`: no series has a
/// value.
struct series_condition {
  std::optional<double> above{}, below{};
  bool is_absent = false;
  series::duration hold_duration = 0;  ///< `for`: how long the condition must be met.

  [[nodiscard]] bool is_set() const noexcept { return above || below || is_absent; }
  /// `value` must not be NaN.
  [[nodiscard]] bool is_met_by(double value) const noexcept;
  /// For example "above 0.9 for 5m".
  [[nodiscard]] std::string to_text() const;
};

/// The state of a condition for one series at the end of its samples.
struct condition_status {
  enum class state : std::uint8_t {
    unknown,  ///< There is no value at the end or shortly before it.
    quiet,
    pending,  ///< Met, but not yet for long enough.
    met,
  };
  state current = state::unknown;
  series::instant active_since = 0;  ///< With `pending` and `met`: the first step of the period in which the condition is met.
  /// `active_since` is the first value, or the first after a gap: the condition may have been met earlier.
  bool may_be_earlier = false;
  std::optional<double> value{};  ///< The last value.
  series::instant value_at = 0;
};

/// Checks samples at regular steps up to `end`. A step without a value, or with NaN, neither meets nor ends the condition. If
/// values are missing for longer than `gap`, the state before the gap is dropped. Takes linear time.
[[nodiscard]] condition_status evaluate_condition(const std::vector<series::sample>& samples, const series_condition& condition,
                                                  series::instant end, series::duration gap = series::default_lookback);

/// The series for `absent`: one sample per step of `known_steps`, 1 if no series has a value there, else 0. `known_steps`: the
/// steps at which data was available, in order. Other steps are left out.
[[nodiscard]] std::vector<series::sample> absence_samples(const std::vector<series::time_series>& series_list,
                                                          const std::vector<series::instant>& known_steps);

}  // namespace hondana::metrics
