/// Series that have values at the same steps, put together.
#pragma once

#include <vector>

#include "sources/metrics/series/evaluation.hpp"

namespace hondana::series {

/// The labels that are kept of `of`.
[[nodiscard]] identity grouped(const identity& of, const std::vector<std::string>& labels, bool is_without);

/// `from`: in the order of their identities, each sample at a step of `at`. What comes out is so, too. `how.across` is not
/// none.
[[nodiscard]] std::vector<points> across_series(const std::vector<points>& from, const aggregation& how, const range& at);

/// One series for each quantile and group of buckets. `from`: as above, with their labels `le`. Errors: invalid_argument where
/// no series has one.
[[nodiscard]] result<std::vector<points>> quantiles_of(const std::vector<points>& from, const aggregation& how,
                                                       const range& at);

}  // namespace hondana::series
