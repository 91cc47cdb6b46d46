/// What the server keeps for itself, so that no source of files serves it.
#pragma once

#include <string>
#include <vector>

#include "sources/config/settings.hpp"

namespace hondana::cli {

/// Absolute paths, links resolved, of the configuration file and the tokens, records, keys, secrets and stores that it or
/// `more` (flags) name. A path that is a link is there as itself and as what it leads to. Sorted.
[[nodiscard]] std::vector<std::string> kept_back(const config::settings& settings, const std::string& config,
                                                 const std::vector<std::string>& more);

}  // namespace hondana::cli
