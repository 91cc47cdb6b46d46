/// What a confined child does to itself before it looks at its input.
#pragma once

#include <string>

#include <hondana/error.hpp>

#include "os/process/confined.hpp"
#include "os/sandbox/permissions.hpp"

namespace hondana::process {

/// Gives up, for good, all but `to` and the system calls of a process that only computes, and puts limits on memory, processor
/// time, files (none is written, few are open) and processes (none). What this kernel does not hold is said, for people; empty:
/// nothing. Nothing of that is an error: a renderer goes on with what there is.
///
/// Threads: called before the process has a second one. Errors: source_unavailable when there is one.
[[nodiscard]] result<std::string> shut_in(sandbox::permissions to, const limits& most);

}  // namespace hondana::process
