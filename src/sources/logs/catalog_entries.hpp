/// The resource entries, templates and scheme documentation of a log.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <hondana/provider.hpp>

#include "sources/logs/address.hpp"

namespace hondana::logs {

/// The documentation of the scheme.
[[nodiscard]] scheme_documentation describe();
/// The entry of a URI, without version and annotations.
[[nodiscard]] resource entry_of(const address& at, bool is_journal);
/// The templates of one log.
[[nodiscard]] std::vector<resource_template> templates_of(std::string_view name);

}  // namespace hondana::logs
