/// What the kernel's Landlock lets this process still do with files, TCP and other processes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <hondana/error.hpp>

#include "os/sandbox/permissions.hpp"

namespace hondana::sandbox {

/// The version of Landlock that the kernel has; 0: it has none, or it is switched off, and `errno` says which.
[[nodiscard]] int landlock_version() noexcept;

/// Confines the calling thread, and the threads and processes that it starts from then on, to `to`; for good. `version` is what
/// `landlock_version` says, at least 1. No new privileges must be set before. Paths that are not there are passed over: a
/// rule is about what is there now. Errors: source_unavailable, saying which step the kernel refuses.
[[nodiscard]] result<void> apply_landlock(int version, const permissions& to);

}  // namespace hondana::sandbox
