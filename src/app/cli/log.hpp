/// The program's log: lines for people on standard error.
#pragma once

#include "app/cli/providers.hpp"

namespace hondana::cli {

/// A log that writes "TIME message" lines to standard error, with control characters made visible. Threads: any.
[[nodiscard]] log_function standard_log();

}  // namespace hondana::cli
