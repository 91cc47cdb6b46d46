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

/// Names of the `[[source]]` tables of type "mcp", in the order of the file. Tables without a name are left out. Errors:
/// invalid_argument, with file and line.
[[nodiscard]] result<std::vector<std::string>> server_names(const std::string& config_file);

/// The target of the named `[[source]]` table of type "mcp"; no value if there is none. Errors: invalid_argument, with file and
/// line.
[[nodiscard]] result<std::optional<client_target>> find_server(const std::string& config_file, std::string_view name);

/// A command line for the same server as `line`, with another command, in quotation marks: `'hondana ls --on shelf'` for "ls".
/// Headers are left out, because they contain secrets.
[[nodiscard]] std::string suggest_command(const command_line& line, std::string_view command);

/// The server that a command uses.
struct chosen_server {
  client_target target = memory_target{};
  std::string path{};          ///< Absolute path that this process must serve itself; empty: use `target`.
  std::string display_name{};  ///< The name of the server in messages.
};

/// Chooses the server by `--on` or `-- COMMAND`; without them, the current folder. Adds headers, token and certificates of the
/// flags to a target behind a URL. Errors: invalid_argument, for example for an unknown target or flags that do not fit it.
[[nodiscard]] result<chosen_server> choose_server(const command_line& line);

}  // namespace hondana::cli
