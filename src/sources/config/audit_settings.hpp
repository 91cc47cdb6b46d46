/// The table `[audit]`: where the record of requests is kept, and how.
#pragma once

#include <hondana/audit.hpp>
#include <hondana/error.hpp>

#include "sources/config/section.hpp"

namespace hondana::config {

/// Reads and checks the table; the path is made absolute. Errors: invalid_argument, "FILE:LINE: audit.KEY: what was expected".
[[nodiscard]] result<audit_file_options> read_audit(section from);

}  // namespace hondana::config
