/// Chooses the server that a command uses: a URL, a path, a command, or a name from the configuration.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/client_target.hpp>
#include <hondana/error.hpp>

#include "app/cli/flags/command_line.hpp"

namespace hondana::cli {

/// `$XDG_CONFIG_HOME/hondana/config.toml`, or below `~/.config` if that is not set or not absolute; empty without a home
/// folder.
[[nodiscard]] std::string default_config_file();

/// Names of the `[[source]]` tables of type "mcp", in the order of the file. Errors: invalid_argument, with file and line.
[[nodiscard]] result<std::vector<std::string>> server_names(const std::string& config_file);

/// The target of the server with this name; no value if there is none. Errors: invalid_argument, with file and line.
[[nodiscard]] result<std::optional<client_target>> find_server(const std::string& config_file, std::string_view name);

/// Another command for the same target, quoted for a shell: `'hondana ls --on shelf'` for the command "ls". Headers are left
/// out, because they contain secrets.
[[nodiscard]] std::string suggest_command(const command_line& line, std::string_view command);

struct chosen_server {
  client_target target = memory_target{};
  std::string path{};          ///< Absolute path that this process serves itself; empty: `target` says where the server is.
  std::string display_name{};  ///< The name of the server in messages.
};

/// Chooses by `--on`, `-- COMMAND`, `--header`, `--token-file` and `--cacert`, `--cert`, `--key`; without them, the current
/// folder. Errors: invalid_argument, which lists the forms of a target.
[[nodiscard]] result<chosen_server> choose_server(const command_line& line);

}  // namespace hondana::cli
