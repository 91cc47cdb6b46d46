/// The server's own figures as a target.
#pragma once

#include <hondana/error.hpp>

#include "sources/metrics/samples/store.hpp"

namespace hondana::metrics {

/// Everything that this process counts of itself, once, with `now` as every sample's instant. Threads: any.
[[nodiscard]] result<void> collect_own_figures(series::instant now, samples::batch& into);

}  // namespace hondana::metrics
