/// ZIP archives whose members are stored as they are.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace drive_test {

/// Names and contents, in their order. The same members give the same bytes.
std::string zip_of(const std::vector<std::pair<std::string, std::string>>& members);

}  // namespace drive_test
