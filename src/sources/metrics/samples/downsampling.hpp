/// Down-samples old samples: means of gauges, and the corners of counters.
#pragma once

#include <vector>

#include "sources/metrics/series/data_model.hpp"

namespace hondana::samples {

/// `of`: in the order of their instants. Steps are counted from 1970; `step` is above 0. Of a gauge: for each step the mean of
/// what are numbers in it, at the instant of the last. Of a counter: the first, the last of each step, and the two beside each
/// reset, so that it rises as much as it did. Stale markers stay where they are. Linear time.
[[nodiscard]] std::vector<series::sample> coarse_of(const std::vector<series::sample>& of, bool is_counter,
                                                    series::duration step);

}  // namespace hondana::samples
