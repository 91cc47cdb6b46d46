/// A filter of system calls: what a server never needs.
#pragma once

#include <hondana/error.hpp>

#include "sandbox/permissions.hpp"

namespace hondana::sandbox {

/// From now on those calls fail with EPERM in the calling thread, and in the threads and processes that it starts; also
/// starting programs does. Of `to` it heeds `changes_modes`. Errors: source_unavailable, saying what the kernel refuses.
[[nodiscard]] result<void> apply_filter(const permissions& to);

}  // namespace hondana::sandbox
