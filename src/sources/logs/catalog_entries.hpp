/// The resource entries, templates and scheme documentation of a log.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <hondana/provider.hpp>

#include "sources/logs/address.hpp"

namespace hondana::logs {

/// The documentation of the scheme.
[[nodiscard]] scheme_documentation describe_scheme();
/// The entry of a URI, without version and annotations.
[[nodiscard]] resource make_entry(const log_address& address, bool is_journal);
/// The templates of one log.
[[nodiscard]] std::vector<resource_template> make_templates(std::string_view name);

}  // namespace hondana::logs
