/// Completion scripts for bash, fish and zsh, generated from the command table.
#pragma once

#include <string>
#include <string_view>

namespace hondana::cli {

[[nodiscard]] std::string bash_completions();
[[nodiscard]] std::string zsh_completions();
[[nodiscard]] std::string fish_completions();

}  // namespace hondana::cli
