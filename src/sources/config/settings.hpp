/// Reads the whole configuration file, including the tables [limits] and [sandbox].
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/access.hpp>
#include <hondana/audit.hpp>
#include <hondana/error.hpp>
#include <hondana/limits.hpp>
#include <hondana/resource.hpp>
#include <hondana/scopes.hpp>
#include <hondana/search.hpp>
#include <hondana/tracing.hpp>

#include "sources/config/auth_settings.hpp"
#include "sources/config/http_settings.hpp"
#include "sources/config/section.hpp"

namespace hondana::config {

/// Reads and checks `[limits]`. Errors: invalid_argument, "FILE:LINE: limits.KEY: what was expected".
[[nodiscard]] result<server_limits> read_limits(section table);

/// Reads the keys `max_concurrency`, `max_queued_calls`, `max_calls_per_caller` and `call_timeout_ms` of a `[[source]]`; 0 for
/// missing keys. Its provider reads the other keys. Errors: as `read_limits`.
[[nodiscard]] result<source_limits> read_source_limits(section& table);

/// The key `mode` of `[sandbox]`.
enum class sandbox_mode : std::uint8_t {
  best_effort,  ///< "auto": the server uses the available kernel features, and reports missing ones.
  required,     ///< "required": nothing is served without the sandbox.
  off,          ///< "off": no sandbox.
};

/// Parses "auto", "required" or "off". Nothing for other texts.
[[nodiscard]] std::optional<sandbox_mode> parse_sandbox_mode(std::string_view name) noexcept;

/// The table `[sandbox]`.
struct sandbox_settings {
  sandbox_mode mode = sandbox_mode::best_effort;
  std::vector<std::string> folders;  ///< Absolute paths of folders that the sandbox makes readable besides those of sources.
  friend bool operator==(const sandbox_settings&, const sandbox_settings&) = default;
};

/// Reads and checks `[sandbox]`. Errors: invalid_argument, "FILE:LINE: sandbox.KEY: what was expected".
[[nodiscard]] result<sandbox_settings> read_sandbox(section table);

/// One `[[source]]`.
struct source {
  std::string type;  ///< Selects the provider. Not checked here.
  section options;   ///< The whole table, which the provider reads.
};

/// The whole configuration. Members without a comment are as in `server_options`.
struct settings {
  std::string name = "hondana";
  std::string title;
  std::string instructions;
  bool has_resource_tools = true;  ///< Whether tools give access to resources, too.
  std::size_t page_size = 500;
  std::uint64_t max_read_bytes = 64ull << 20;
  std::size_t read_cache_bytes = 32u << 20;
  std::size_t page_cache_bytes = 8u << 20;
  bool supports_list_changes = true;
  bool supports_subscriptions = true;
  std::chrono::milliseconds call_timeout{30'000};
  std::chrono::milliseconds stall_timeout{60'000};
  std::chrono::milliseconds stdio_drain_timeout{1'000};  ///< From `[stdio]`.
  http_settings http;
  auth_settings auth;
  sandbox_settings sandbox;
  scope_rules scopes;                       ///< From `[auth]`.
  std::vector<section> scope_tables;        ///< The table of each of `scopes.rules`, for errors that are found later.
  std::optional<section> root_table;        ///< The whole file, for errors that are found later; absent: no file was read.
  std::optional<audit_file_options> audit;  ///< `[audit]`; absent: no audit log.
  std::optional<tracing_options> tracing;   ///< `[tracing]`; absent: the environment is used.
  std::optional<search_options> search;     ///< `[search]`; absent: there is no index.
  server_limits limits;                     ///< `[limits]`; those of sources are in their tables.
  access_rules access;
  std::vector<section> access_tables;  ///< The table of each of `access.rules`, for errors that are found later.
  std::vector<source> sources;
  std::vector<resource> links;  ///< `[[link]]`: https:// resources that clients fetch themselves.

  /// Makes an error about a key ("http.tls.key"): "FILE:LINE: KEY: message", or "KEY: message" without `root_table`.
  [[nodiscard]] failure error_at(std::string_view key, std::string_view message) const;
};

/// Parses a TOML text. `file`: its name in errors. Errors: invalid_argument, "FILE:LINE: KEY: what was expected".
[[nodiscard]] result<settings> parse(std::string_view text, const std::string& file);
/// Parses a file of at most 1 MiB. Errors: as `parse`; invalid_argument also if the file cannot be read, or is larger.
[[nodiscard]] result<settings> load(const std::string& path);

}  // namespace hondana::config
