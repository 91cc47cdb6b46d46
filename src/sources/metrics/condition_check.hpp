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
  bool is_absence = false;  ///< Stands for all series together: 1 where no series has a value.
  series::time_series series{};
  condition_status status{};
};

/// The result of a check of a condition for all series of a metric.
struct verdict {
  range_answer answer{};
  std::vector<series_verdict> series{};  ///< In the order of the series. The one for `absent` is last.

  [[nodiscard]] bool holds() const noexcept;
  /// The earliest time since which a series meets the condition.
  [[nodiscard]] std::optional<series::instant> active_since() const noexcept;
};

/// Reads the values of `range` and checks the condition for each series at its end. For `absent`, steps at which the source has
/// no `up` sample of any target count as unknown. Errors: of the source.
[[nodiscard]] result<verdict> check_series(backend& backend, const address& address, const series::range& range,
                                           const response_limits& limits, const request_context& context);

/// Reads the values only. Errors: of the source.
[[nodiscard]] result<range_answer> read_values(backend& backend, const address& address, const series::range& range,
                                               const response_limits& limits, const request_context& context);

/// The series that meet the condition, since when, and their points, and the number of other series.
[[nodiscard]] std::string to_json(const range_report& report, const verdict& verdict);

}  // namespace hondana::metrics
