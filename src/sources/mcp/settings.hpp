/// The [[source]] table of a mounted MCP server.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <hondana/error.hpp>
#include <hondana/mcp.hpp>

#include "sources/config/section.hpp"

namespace hondana::mcp {

/// One server, as a table of the configuration names it; its target is a child or a URL.
using mcp_settings = mount_options;

/// The value of an environment variable; nothing when it is not set.
using environment_lookup = std::function<std::optional<std::string>(const std::string& name)>;
/// Of this process.
[[nodiscard]] std::optional<std::string> environment_variable(const std::string& name);

/// Reads a table with every key a server may have, and calls `finish`. `${env:NAME}` is replaced by `lookup`'s value in
/// `command`, `url`, `headers` and `environment`.
/// Errors: invalid_argument, "FILE:LINE: KEY: what was expected"; values of variables are never repeated.
[[nodiscard]] result<mcp_settings> read_settings(config::section& from,
                                                 const environment_lookup& lookup = environment_variable);

/// Whether these are options that a mount can have; the empty prefix is filled in. Errors: invalid_argument, naming the member.
[[nodiscard]] result<void> check(mount_options& options);

/// Replaces each `${env:NAME}`. Errors: invalid_argument for a variable that is not set and for a `${env:` without its end; the
/// text is what comes behind "KEY: ".
[[nodiscard]] result<std::string> with_variables(std::string_view text, const environment_lookup& lookup);

}  // namespace hondana::mcp
