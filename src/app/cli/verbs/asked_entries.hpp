/// The entries that `ls` and `tree` are asked for.
#pragma once

#include <functional>
#include <vector>

#include <hondana/client.hpp>

#include "app/cli/verbs/verbs.hpp"

namespace hondana::cli {

/// Takes an entry; false: no more are wanted.
using taker = std::function<bool(resource)>;

/// Everything that the line asks for. With a URI: its children where it is a folder, unless `all_below`; else what lies at or
/// below it. Errors: those of the lists; resource_not_found when there is nothing, whatever the filters.
[[nodiscard]] result<void> each_entry(const task& what, bool all_below, const taker& take);

/// The same at once, for what cannot be shown one by one, with a progress bar. Errors: response_too_large, too.
[[nodiscard]] result<std::vector<resource>> all_entries(const task& what, bool all_below);

}  // namespace hondana::cli
