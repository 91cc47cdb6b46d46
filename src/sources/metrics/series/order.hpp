/// Samples in the order of their instants.
#pragma once

#include <vector>

#include "sources/metrics/series/sample.hpp"

namespace hondana::series {

/// Sorts them; of several of one instant the first one in `samples` stays. Quick where they are in order already.
void put_in_order(std::vector<sample>& samples);

}  // namespace hondana::series
