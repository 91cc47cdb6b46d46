/// The table `[limits]`: how much callers may ask for; and what every `[[source]]` can say of how it is shared.
#pragma once

#include <hondana/error.hpp>
#include <hondana/limits.hpp>

#include "sources/config/section.hpp"

namespace hondana::config {

/// Reads the table; methods are checked by whoever knows them. Errors: invalid_argument, "FILE:LINE: limits.KEY: what was
/// expected".
[[nodiscard]] result<server_limits> read_limits(section from);

/// Reads `concurrency`, `waiting`, `per_caller` and `deadline_ms` of a `[[source]]`, whose other keys are its provider's.
/// Errors: likewise.
[[nodiscard]] result<source_limits> read_source_limits(section& from);

}  // namespace hondana::config
