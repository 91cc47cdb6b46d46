/// Why a caller may list or read something, or not.
#pragma once

#include <hondana/server.hpp>

#include "app/cli/arguments.hpp"

namespace hondana::cli {

/// Prints for each URI, template, tool and prompt of `what` what every access rule says of the caller that it names, and what
/// follows. Returns an exit code.
[[nodiscard]] int explain(const check_command& what, server& of, const server_options& options);

}  // namespace hondana::cli
