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
[[nodiscard]] result<server_limits> read_limits(section from);

/// Reads `concurrency`, `waiting`, `per_caller` and `deadline_ms` of a `[[source]]`. Its provider reads the other keys. Errors:
/// as `read_limits`.
[[nodiscard]] result<source_limits> read_source_limits(section& from);

/// The key `mode` of `[sandbox]`.
enum class sandbox_mode : std::uint8_t {
  as_far_as_possible,  ///< "auto": missing kernel features are reported.
  required,            ///< Nothing is served without the sandbox.
  off,
};

/// "auto", "required", "off".
[[nodiscard]] std::optional<sandbox_mode> sandbox_mode_named(std::string_view name) noexcept;

/// The table `[sandbox]`.
struct sandbox_settings {
  sandbox_mode mode = sandbox_mode::as_far_as_possible;
  std::vector<std::string> folders;  ///< Absolute. Readable, although no source needs them at the start.
  friend bool operator==(const sandbox_settings&, const sandbox_settings&) = default;
};

/// Reads and checks the table. Errors: invalid_argument, "FILE:LINE: sandbox.KEY: what was expected".
[[nodiscard]] result<sandbox_settings> read_sandbox(section from);

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
  bool tools = true;  ///< Whether tools give access to resources, too.
  std::size_t page_size = 500;
  std::uint64_t read_limit = 64ull << 20;
  std::size_t read_cache = 32u << 20;
  std::size_t page_cache = 8u << 20;
  bool announces_lists = true;
  bool announces_contents = true;
  std::chrono::milliseconds call_deadline{30'000};
  std::chrono::milliseconds stall_limit{60'000};
  std::chrono::milliseconds stdio_drain{1'000};  ///< `[stdio]`.
  http_settings http;
  auth_settings auth;
  sandbox_settings sandbox;
  scope_rules scopes;           ///< From `[auth]`.
  std::vector<section> rules;   ///< The table of each of `scopes.rules`, for errors about it.
  std::optional<section> file;  ///< The whole file, for errors that are found later; empty: there is none.
  std::optional<audit_file_options> audit;
  std::optional<tracing_options> tracing;  ///< `[tracing]`; empty: the environment is used.
  std::optional<search_options> search;    ///< `[search]`; empty: there is no index.
  server_limits limits;                    ///< Without those of sources.
  access_rules access;
  std::vector<section> access_tables;  ///< The table of each of its rules, for errors about it.
  std::vector<source> sources;
  std::vector<resource> links;  ///< `[[link]]`: https:// resources that clients fetch themselves.

  /// Makes an error about a key ("http.tls.key"). If there is a file, the error has the common form with file and line.
  [[nodiscard]] failure wrong(std::string_view key, std::string_view what) const;
};

/// Parses a TOML text. `file`: its name in errors. Errors: invalid_argument, "FILE:LINE: KEY: what was expected".
[[nodiscard]] result<settings> parse(std::string_view text, const std::string& file);
/// Reads a file of at most 1 MiB.
[[nodiscard]] result<settings> load(const std::string& path);

}  // namespace hondana::config
