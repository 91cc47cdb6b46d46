/// What protects a server beyond the ordinary, or does less, in lines for people.
#pragma once

#include <string>
#include <vector>

#include "app/cli/assembly.hpp"

namespace hondana::cli {

/// Access rules, the record of requests, and sources whose secrets are not masked; nothing of what there is none.
[[nodiscard]] std::vector<std::string> in_force(const parts& whole);

}  // namespace hondana::cli
