/// The servers that a configuration file gives names to.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/client_target.hpp>
#include <hondana/error.hpp>

namespace hondana::cli {

/// `$XDG_CONFIG_HOME/hondana/config.toml`, or below `~/.config` where that is not set or not absolute; empty without a home.
[[nodiscard]] std::string usual_config();

/// Names of the `[[source]]` tables of type "mcp", in the order of the file. Errors: invalid_argument, with file and line.
[[nodiscard]] result<std::vector<std::string>> server_names(const std::string& config);

/// Where the server of that name is; nothing when there is none. Errors: invalid_argument, with file and line.
[[nodiscard]] result<std::optional<client_target>> server_named(const std::string& config, std::string_view name);

}  // namespace hondana::cli
