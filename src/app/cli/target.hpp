/// Which server a command asks: a URL, a path, a command, or a name from the configuration.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/client_target.hpp>
#include <hondana/error.hpp>

#include "app/cli/flags/command_line.hpp"

namespace hondana::cli {

/// `$XDG_CONFIG_HOME/hondana/config.toml`, or below `~/.config` where that is not set or not absolute; empty without a home.
[[nodiscard]] std::string usual_config();

/// Names of the `[[source]]` tables of type "mcp", in the order of the file. Errors: invalid_argument, with file and line.
[[nodiscard]] result<std::vector<std::string>> server_names(const std::string& config);

/// Where the server of that name is; nothing when there is none. Errors: invalid_argument, with file and line.
[[nodiscard]] result<std::optional<client_target>> server_named(const std::string& config, std::string_view name);

/// `'hondana ls --on shelf'`, with the quotes, for the command "ls": with the target of `line`, as a shell takes it. Headers
/// are left out, since they hold secrets.
[[nodiscard]] std::string asking_again(const command_line& line, std::string_view command);

struct chosen_server {
  client_target target = memory_target{};
  std::string path{};   ///< To be served by this process, absolute; empty: the target says where the server is.
  std::string shown{};  ///< How messages call it.
};

/// By `--on`, `-- COMMAND`, `--header`, `--token-file` and `--cacert`, `--cert`, `--key`; without them the current folder.
/// Errors: invalid_argument, which says what a target may be.
[[nodiscard]] result<chosen_server> choose_server(const command_line& line);

}  // namespace hondana::cli
