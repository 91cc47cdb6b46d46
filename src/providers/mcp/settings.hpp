/// What the configuration says of another MCP server: where it is, under which prefix it is served, and its limits.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/client_target.hpp>
#include <hondana/error.hpp>

#include "config/section.hpp"

namespace hondana::mcp {

/// One server, as a table of the configuration names it.
struct mcp_settings {
  std::string name{};      ///< A slug: a-z, 0-9 and -.
  std::string prefix{};    ///< Canonical; ends with a slash. Without one in the table `mcp://NAME/`.
  client_target target{};  ///< A child or a URL.
  std::string revision{};  ///< The only one to speak; empty: the newest both know.
  bool eager = false;      ///< Connect at the start, not at the first request.
  bool skills = true;      ///< Whether its skills are ours.

  std::chrono::milliseconds timeout{30'000};    ///< For each call of it.
  std::chrono::milliseconds list_wait{10'000};  ///< How long the first list waits for it.
  std::chrono::milliseconds refresh{60'000};    ///< When it tells of no changes: how old its lists may get.
  std::size_t max_entries = 10'000;
  std::size_t max_templates = 500;
  std::uint64_t max_read = 1ull << 30;  ///< Bytes of one read.

  /// Patterns of URIs as the other server spells them (`ignore::glob::for_path`). Served is what fits one of `include`, or any
  /// URI when there is none, and none of `exclude`.
  std::vector<std::string> include{};
  std::vector<std::string> exclude{};
};

/// The value of an environment variable; nothing when it is not set.
using environment_lookup = std::function<std::optional<std::string>(const std::string& name)>;
/// Of this process.
[[nodiscard]] std::optional<std::string> environment_variable(const std::string& name);

/// Reads a table with every key a server may have, and calls `finish`. `${env:NAME}` is replaced by `lookup`'s value in
/// `command`, `url`, `headers` and `environment`.
/// Errors: invalid_argument, "FILE:LINE: KEY: what was expected"; values of variables are never repeated.
[[nodiscard]] result<mcp_settings> read_settings(config::section& from,
                                                 const environment_lookup& lookup = environment_variable);

/// Replaces each `${env:NAME}`. Errors: invalid_argument for a variable that is not set and for a `${env:` without its end; the
/// text is what comes behind "KEY: ".
[[nodiscard]] result<std::string> with_variables(std::string_view text, const environment_lookup& lookup);

}  // namespace hondana::mcp
