/// The line that asks the same server something else, for advice.
#pragma once

#include <string>
#include <string_view>

#include "app/cli/flags/line.hpp"

namespace hondana::cli {

/// `'hondana ls --on shelf'`, with the quotes, for the command "ls": with the target of `line`, as a shell takes it. Headers
/// are left out, since they hold secrets.
[[nodiscard]] std::string asking_again(const command_line& line, std::string_view command);

}  // namespace hondana::cli
