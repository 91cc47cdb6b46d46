/// Down-samples old samples: averages gauges, and keeps the turning points of counters.
#pragma once

#include <vector>

#include "sources/metrics/series/data_model.hpp"

namespace hondana::samples {

/// Down-samples samples, which must be in order of time. `step`: in milliseconds, positive. Steps begin at multiples of it
/// since 1970. Linear time. Gauge: for each step the mean of its values except NaN, at the time of the last sample. Counter:
/// the first sample, the last one of each step, and the two next to each reset, so that the total increase is the same. Stale
/// markers stay unchanged.
[[nodiscard]] std::vector<series::sample> downsample(const std::vector<series::sample>& samples, bool is_counter,
                                                     series::duration step);

}  // namespace hondana::samples
