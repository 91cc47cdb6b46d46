/// Reads the [[source]] table of a mounted MCP server.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <hondana/error.hpp>
#include <hondana/mount.hpp>

#include "sources/config/section.hpp"

namespace hondana::mcp {

/// The settings of one mounted server. After `read_settings`, the target is a child process or a URL.
using mcp_settings = mount_options;

/// Returns the value of an environment variable; nullopt if it is not set.
using environment_lookup = std::function<std::optional<std::string>(const std::string& name)>;
/// Looks up a variable of this process; nullopt if it is not set. No other thread may set variables during the call.
[[nodiscard]] std::optional<std::string> environment_variable(const std::string& name);

/// Reads the table of a mount, and rejects unknown keys (`section::finish`). Replaces `${env:NAME}` by the result of `lookup`
/// in `command`, `url`, `headers` and `environment`.
/// Errors: invalid_argument, "FILE:LINE: KEY: what was expected", for the first error. It contains no value of a variable.
[[nodiscard]] result<mcp_settings> read_settings(config::section& section,
                                                 const environment_lookup& lookup = environment_variable);

/// Checks the name, prefix and patterns of a mount. Sets an empty prefix to `mcp://NAME/`. Errors: invalid_argument; the text
/// names the member.
[[nodiscard]] result<void> validate_options(mount_options& options);

/// Replaces each `${env:NAME}` by the result of `lookup`. Errors: invalid_argument for an unset variable, or a missing `}`. The
/// caller must put "KEY: " in front of the error text.
[[nodiscard]] result<std::string> expand_variables(std::string_view text, const environment_lookup& lookup);

}  // namespace hondana::mcp
