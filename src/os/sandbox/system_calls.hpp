/// Filters of system calls: what a server never needs, and what one needs that only computes.
#pragma once

#include <hondana/error.hpp>

#include "os/sandbox/permissions.hpp"

namespace hondana::sandbox {

/// From now on those calls fail with EPERM in the calling thread, and in the threads and processes that it starts; also
/// starting programs does. Of `to` it heeds `changes_modes`. Errors: source_unavailable, saying what the kernel refuses.
[[nodiscard]] result<void> apply_filter(const permissions& to);

/// From now on all calls fail that are not listed for a process that only computes, with ENOSYS, so that libraries take what is
/// left; see `permissions::only_computes`. Errors: as above.
[[nodiscard]] result<void> apply_short_list(const permissions& to);

}  // namespace hondana::sandbox
