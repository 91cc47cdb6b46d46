/// What a started program is given besides descriptors: its environment, and texts as the kernel takes them.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace hondana::process {

/// The variables of this process with `more`, which win.
[[nodiscard]] std::vector<std::string> environment_with(const std::vector<std::pair<std::string, std::string>>& more);
/// These alone.
[[nodiscard]] std::vector<std::string> environment_of(const std::vector<std::pair<std::string, std::string>>& all);
/// With a null at the end; valid as long as `texts` stay as they are.
[[nodiscard]] std::vector<char*> pointers_to(std::vector<std::string>& texts);

}  // namespace hondana::process
