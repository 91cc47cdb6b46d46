/// The table `[access]`: who may list and read what.
#pragma once

#include <vector>

#include <hondana/access.hpp>
#include <hondana/error.hpp>

#include "sources/config/section.hpp"

namespace hondana::config {

/// Reads the table, and the tables of its rules for errors about them that show only later. Errors: invalid_argument,
/// "FILE:LINE: access.KEY: what was expected".
[[nodiscard]] result<access_rules> read_access(section from, std::vector<section>& tables);

}  // namespace hondana::config
