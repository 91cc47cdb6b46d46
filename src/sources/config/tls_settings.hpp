/// The table `[http.tls]`: the server's certificate, and whether clients show theirs.
#pragma once

#include <hondana/error.hpp>
#include <hondana/tls.hpp>

#include "sources/config/section.hpp"

namespace hondana::config {

/// Reads and checks the table, but no file that it names. Errors: invalid_argument, "FILE:LINE: http.tls.KEY: what was
/// expected".
[[nodiscard]] result<tls_options> read_tls(section from);

}  // namespace hondana::config
