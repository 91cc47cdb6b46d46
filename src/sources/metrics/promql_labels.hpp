/// Which labels an expression of PromQL names, where it could tell their values by that.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include <hondana/error.hpp>

namespace hondana::metrics {

/// Labels that are matched within braces, and every quoted text that a label may be called like, but for the values that
/// matchers have: `label_replace` and its like name labels so. Not those of `by`, `without`, `on` and `ignoring`, which are in
/// the answer and masked there. Errors: invalid_argument for a quoted text that cannot be read, since what is behind it cannot
/// either. Linear time.
[[nodiscard]] result<std::set<std::string, std::less<>>> labels_in(std::string_view promql);

}  // namespace hondana::metrics
