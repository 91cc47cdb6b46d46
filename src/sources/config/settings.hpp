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

/// Reads the table. The caller checks the names of methods. Errors: invalid_argument, "FILE:LINE: limits.KEY: what was
/// expected".
[[nodiscard]] result<server_limits> read_limits(section table);

/// Reads `concurrency`, `waiting`, `per_caller` and `deadline_ms` of a `[[source]]`. Its provider reads the other keys. Errors:
/// as `read_limits`.
[[nodiscard]] result<source_limits> read_source_limits(section& table);

/// The key `mode` of `[sandbox]`.
enum class sandbox_mode : std::uint8_t {
  best_effort,  ///< "auto": missing kernel features are reported.
  required,     ///< Nothing is served without the sandbox.
  off,
};

/// "auto", "required", "off".
[[nodiscard]] std::optional<sandbox_mode> parse_sandbox_mode(std::string_view name) noexcept;

/// The table `[sandbox]`.
struct sandbox_settings {
  sandbox_mode mode = sandbox_mode::best_effort;
  std::vector<std::string> folders;  ///< Absolute. Readable, although no source needs them at the start.
  friend bool operator==(const sandbox_settings&, const sandbox_settings&) = default;
};

/// Reads and checks the table. Errors: invalid_argument, "FILE:LINE: sandbox.KEY: what was expected".
[[nodiscard]] result<sandbox_settings> read_sandbox(section table);

/// One `[[source]]`. Its type selects the provider, which reads the other keys.
struct source {
  std::string type;
  section options;
};

/// The whole configuration. Sizes in bytes.
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
  std::chrono::milliseconds stdio_drain_timeout{1'000};  ///< `[stdio]`.
  http_settings http;
  auth_settings auth;
  sandbox_settings sandbox;
  scope_rules scopes;                 ///< From `[auth]`.
  std::vector<section> scope_tables;  ///< The table of each of `scopes.rules`, for errors about it.
  std::optional<section> root_table;  ///< The whole file, for errors that are found later; empty: there is none.
  std::optional<audit_file_options> audit;
  std::optional<tracing_options> tracing;  ///< `[tracing]`; empty: the environment is used.
  std::optional<search_options> search;    ///< `[search]`; empty: there is no index.
  server_limits limits;                    ///< Without those of sources.
  access_rules access;
  std::vector<section> access_tables;  ///< The table of each of its rules, for errors about it.
  std::vector<source> sources;
  std::vector<resource> links;  ///< `[[link]]`: https:// resources that clients fetch themselves.

  /// Makes an error about a key ("http.tls.key"). If there is a file, the error has the common form with file and line.
  [[nodiscard]] failure error_at(std::string_view key, std::string_view message) const;
};

/// Parses a TOML text. `file`: its name in errors. Errors: invalid_argument, "FILE:LINE: KEY: what was expected".
[[nodiscard]] result<settings> parse(std::string_view text, const std::string& file);
/// Reads a file of at most 1 MiB.
[[nodiscard]] result<settings> load(const std::string& path);

}  // namespace hondana::config
