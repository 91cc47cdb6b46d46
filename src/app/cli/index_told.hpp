/// What `hondana check` says of the index for searching.
#pragma once

#include "sources/config/settings.hpp"

namespace hondana::cli {

/// Prints how full the index is and how far a server has come with it, for people or as a JSON line; nothing where none is
/// configured or it is kept in memory. False: it cannot be looked at, which is printed too.
[[nodiscard]] bool print_index(const config::settings& of, bool as_json);

}  // namespace hondana::cli
