/// Evaluates aggregations at regular steps, as Prometheus does: over time, across series, and quantiles of histograms.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <hondana/error.hpp>

#include "sources/metrics/series/aggregation.hpp"
#include "sources/metrics/series/data_model.hpp"

namespace hondana::series {

/// Both ends belong to it; steps are counted from the start.
struct range {
  instant start = 0;
  instant end = 0;
  duration step = 15'000;

  /// 0 where the end is before the start, or the step is none.
  [[nodiscard]] std::size_t steps() const noexcept {
    if (end < start || step <= 0) return 0;
    return static_cast<std::size_t>((static_cast<std::uint64_t>(end) - static_cast<std::uint64_t>(start)) /
                                    static_cast<std::uint64_t>(step)) +
           1;
  }
};

/// Of one series: its value at each step, where it has one; a step without one has no sample. `samples`: those from
/// `range.start - max(window, look back)` to `range.end`, stale markers among them, in order; more do no harm. Windows are
/// closed at both ends, as those of Prometheus 2 are. Rates and increases are extrapolated, and resets of counters are seen, as
/// Prometheus does. Linear time, however long the window is.
[[nodiscard]] std::vector<sample> over(const std::vector<sample>& samples, over_time how, duration window, const range& at,
                                       duration look_back = usual_look_back);

/// Whole series at the steps of `at`, over time, across series and as quantiles. `from`: raw samples; for quantiles those of
/// `_bucket`. `how` says everything (`aggregation::for_kind`, `for_step`). What is more than `last` has no name. A result of
/// `quantiles` has a label `quantile`. Results are in the order of their identities, and none is without samples; topk and
/// bottomk choose anew at each step. Memory: a few numbers for each series and step. Errors: invalid_argument where quantiles
/// are asked of what has no `le`, and where series of two metrics could no longer be told apart without their names.
[[nodiscard]] result<std::vector<points>> evaluate(std::vector<points> from, const aggregation& how, const range& at,
                                                   duration look_back = usual_look_back);

/// The upper bound of a bucket, and how many observations were at most that.
struct bucket {
  double upper = 0;
  double count = 0;
};
/// The quantile of cumulative buckets, as Prometheus' histogram_quantile. NaN: there are too few, or the last is not +Inf.
/// `buckets`: in any order; those with a bound that is NaN do not count.
[[nodiscard]] double quantile_of(double quantile, std::vector<bucket> buckets);

}  // namespace hondana::series
