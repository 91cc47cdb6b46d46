/// A condition on a time series (above, below, absent, for how long), and the check of samples against it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sources/metrics/series/data_model.hpp"

namespace hondana::metrics {

/// `above` alone: greater than that; `below` alone: less than that; both: outside of the band between them where `above` is the
/// greater, and inside of it where it is the lesser one. `absent`: no series has a value.
struct condition {
  std::optional<double> above{}, below{};
  bool is_absent = false;
  series::duration wait = 0;  ///< `for`: how long it must have been so.

  [[nodiscard]] bool is_any() const noexcept { return above || below || is_absent; }
  /// Of a value that is no NaN.
  [[nodiscard]] bool is_met_by(double value) const noexcept;
  /// "above 0.9 for 5m"
  [[nodiscard]] std::string to_text() const;
};

/// How it is with one series at the end of its samples.
struct standing {
  enum class state : std::uint8_t {
    unknown,  ///< There is no value at the end, nor shortly before it.
    quiet,
    pending,  ///< It is met, but not for long enough yet.
    met,
  };
  state now = state::unknown;
  series::instant since = 0;      ///< With `pending` and `met`: the first step of the stretch in which it is met.
  bool is_since_earlier = false;  ///< That is the first value that was looked at, or the first after a gap: it may have been
                                  ///< met before, and did not end so far as is known.
  std::optional<double> value{};  ///< The last one.
  series::instant value_at = 0;
};

/// Looks at samples at regular steps up to `end`. A step without a value, or with NaN, says nothing: it neither meets the
/// condition nor ends it, unless values are missing for longer than `gap`, which ends what was before. Linear time.
[[nodiscard]] standing stand(const std::vector<series::sample>& samples, const condition& of, series::instant end,
                             series::duration gap = series::usual_look_back);

/// Where `absent` holds: one sample for each step of `known` that no series has a value at, 1, and 0 for the others. Steps at
/// which nothing was known are left out. `known`: in order.
[[nodiscard]] std::vector<series::sample> absence(const std::vector<series::points>& all,
                                                  const std::vector<series::instant>& known);

}  // namespace hondana::metrics
