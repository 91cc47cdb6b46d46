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

/// The settings of one mounted server. Its target is a child process or a URL.
using mcp_settings = mount_options;

/// Returns the value of an environment variable; empty if it is not set.
using environment_lookup = std::function<std::optional<std::string>(const std::string& name)>;
/// Reads the environment of this process.
[[nodiscard]] std::optional<std::string> environment_variable(const std::string& name);

/// Reads a table with all keys of a mount, and calls `section::finish`. Replaces `${env:NAME}` by the result of `lookup` in
/// `command`, `url`, `headers` and `environment`.
/// Errors: invalid_argument, "FILE:LINE: KEY: what was expected". They never contain values of variables.
[[nodiscard]] result<mcp_settings> read_settings(config::section& section,
                                                 const environment_lookup& lookup = environment_variable);

/// Checks the options of a mount, and fills in a missing prefix. Errors: invalid_argument, naming the member.
[[nodiscard]] result<void> validate_options(mount_options& options);

/// Replaces each `${env:NAME}`. Errors: invalid_argument for an unset variable, or a `${env:` without its end. The text is
/// meant to follow "KEY: ".
[[nodiscard]] result<std::string> expand_variables(std::string_view text, const environment_lookup& lookup);

}  // namespace hondana::mcp
