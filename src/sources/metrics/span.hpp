/// Which stretch of time an address means, and at which steps.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>

#include <hondana/error.hpp>

#include "sources/metrics/address.hpp"
#include "sources/metrics/series/evaluation.hpp"

namespace hondana::metrics {

/// What one answer may take.
struct limits {
  std::size_t series = 1000;
  std::size_t points = 50'000;  ///< Steps times series.
  std::chrono::milliseconds time{5000};
};

/// The last hour where nothing is said, or an hour before the end; a step that is not finer than `interval` and gives some
/// hundred points. Where a condition's `for` is shorter than that step, it is the step, and the stretch is shorter accordingly.
/// Errors: invalid_argument where the end is before the start; response_too_large where one series alone has too many points,
/// naming the step that fits.
[[nodiscard]] result<series::range> span_of(const address& at, series::instant now, series::duration interval,
                                            const limits& most);

/// The same steps, from so far back only as a condition needs to be judged at its end. Errors: as `span_of`, and
/// response_too_large where that is too many of them.
[[nodiscard]] result<series::range> watched_span_of(const address& at, series::instant now, series::duration interval,
                                                    const limits& most);

/// The shortest of the usual steps (1s, 5s, 15s, 1m, 5m, 1h, …) that is at least so long.
[[nodiscard]] series::duration usual_step(series::duration at_least) noexcept;

/// What relative moments are relative to: when something was kept last, so that a reading stays as it is until there is
/// something new; where that is not known or long ago, the present, cut to whole intervals.
[[nodiscard]] series::instant reference(series::instant now, std::optional<series::instant> latest,
                                        series::duration interval) noexcept;

}  // namespace hondana::metrics
