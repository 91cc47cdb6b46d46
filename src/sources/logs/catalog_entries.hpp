/// The resource entries, templates and scheme documentation of a log.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <hondana/provider.hpp>

#include "sources/logs/address.hpp"

namespace hondana::logs {

/// Returns the documentation of the scheme `log`.
[[nodiscard]] scheme_documentation describe_scheme();
/// Makes the entry of a page or summary, without version and annotations. `is_journal` influences the title only.
[[nodiscard]] resource make_entry(const log_address& address, bool is_journal);
/// Makes the templates of one log: for its records and its summary.
[[nodiscard]] std::vector<resource_template> make_templates(std::string_view name);

}  // namespace hondana::logs
