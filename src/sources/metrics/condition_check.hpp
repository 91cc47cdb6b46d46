/// Evaluates the condition of an address on the series of a metric, and writes the verdict as JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/provider.hpp>

#include "sources/metrics/address.hpp"
#include "sources/metrics/backend.hpp"
#include "sources/metrics/rendering.hpp"

namespace hondana::metrics {

/// A series and the state of the condition for it.
struct series_verdict {
  bool is_absence = false;  ///< `series` is the result of `absence_samples` for all series, without labels.
  series::time_series series{};
  condition_status status{};
};

/// The result of a check of a condition for all series of a metric.
struct verdict {
  range_answer answer{};                 ///< The values that were checked.
  std::vector<series_verdict> series{};  ///< One for each series, if `above` or `below` is set. That for `absent` is last.

  /// Whether a series meets the condition.
  [[nodiscard]] bool holds() const noexcept;
  /// Returns the earliest time since which a series meets the condition; nullopt: none does.
  [[nodiscard]] std::optional<series::instant> active_since() const noexcept;
};

/// Reads the values of `range` and checks the condition of `address` for each series at the end of the range. For `absent`,
/// steps at which no target has an `up` sample count as unknown, if the source has the metric `up`. Errors: those of the
/// source.
[[nodiscard]] result<verdict> check_series(backend& backend, const address& address, const series::range& range,
                                           const response_limits& limits, const request_context& context);

/// Reads the values of a metric or query, without a condition. Errors: those of the source.
[[nodiscard]] result<range_answer> read_values(backend& backend, const address& address, const series::range& range,
                                               const response_limits& limits, const request_context& context);

/// Renders a verdict as a JSON object: the series that meet the condition, also pending, with times and points, and the numbers
/// of other series.
[[nodiscard]] std::string to_json(const range_report& report, const verdict& verdict);

}  // namespace hondana::metrics
