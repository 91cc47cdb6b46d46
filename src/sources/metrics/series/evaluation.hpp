/// Evaluates aggregations at regular steps, as Prometheus does: over time, across series, and quantiles of histograms.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <hondana/error.hpp>

#include "sources/metrics/series/aggregation.hpp"
#include "sources/metrics/series/data_model.hpp"

namespace hondana::series {

/// The times `start`, `start` + `step` and so on, up to `end`.
struct range {
  instant start = 0;
  instant end = 0;
  duration step = 15'000;

  /// Returns the number of these times: 0 if the end is before the start, or the step is not positive.
  [[nodiscard]] std::size_t steps() const noexcept {
    if (end < start || step <= 0) return 0;
    return static_cast<std::size_t>((static_cast<std::uint64_t>(end) - static_cast<std::uint64_t>(start)) /
                                    static_cast<std::uint64_t>(step)) +
           1;
  }
};

/// Aggregates one series over time. Returns its value at each step of `range`; steps without a value have no sample.
/// `samples`: at least those from `range.start - max(window, lookback)` to `range.end`, with stale markers, in order of time.
/// `lookback`: for `last`, how long a value counts after its sample. Windows include both ends, as in Prometheus 2. Rates and
/// increases are extrapolated, and counter resets detected, as in Prometheus. Takes linear time, independent of the window.
[[nodiscard]] std::vector<sample> aggregate_over_time(const std::vector<sample>& samples, over_time function, duration window,
                                                      const range& range, duration lookback = default_lookback);

/// Evaluates an aggregation at the steps of `range`: over time, across series, and quantiles.
/// `input`: raw samples, for quantiles those of `_bucket`. `aggregation`: must be the result of `for_kind` and `for_step`.
/// Results are in order of identity, and each has samples. Names of series stay only for `last`, alone or with topk and
/// bottomk. Quantiles add the label `quantile`. topk and bottomk choose series at each step. Memory: a few numbers for each
/// series and step. Errors: invalid_argument if quantiles are requested of series without `le`, or if series of two metrics
/// would differ only in the removed name.
[[nodiscard]] result<std::vector<time_series>> evaluate(std::vector<time_series> input, const aggregation& aggregation,
                                                        const range& range, duration lookback = default_lookback);

/// The upper bound of a bucket, and the number of observations up to it.
struct bucket {
  double upper = 0;
  double count = 0;
};
/// Estimates a quantile from cumulative buckets, as histogram_quantile in Prometheus. Returns NaN if there are fewer than two
/// buckets, the greatest bound is not +Inf, or nothing was counted. `buckets` may be in any order. Ignores buckets whose bound
/// is NaN.
[[nodiscard]] double quantile_of(double quantile, std::vector<bucket> buckets);

}  // namespace hondana::series
