/// Whether what `[search]` names is served, and whether callers may ask it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <hondana/provider.hpp>

#include "config/settings.hpp"

namespace hondana::cli {

/// Warnings of prefixes in `include` and `exclude` that no source can serve, and of access rules that let nobody but "local"
/// read `search:///`, so that words are searched in what is indexed by chance.
[[nodiscard]] std::vector<std::string> warnings_of_search(const config::settings& of,
                                                          const std::vector<std::shared_ptr<provider>>& sources);

}  // namespace hondana::cli
