/// Mounts other MCP servers: the server serves their resources as one of its sources.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/client_target.hpp>
#include <hondana/error.hpp>
#include <hondana/provider.hpp>

namespace hondana::inline v0 {

/// Options of `make_mcp_provider`.
struct mount_options {
  std::string name{};  ///< Name in errors and logs: 1 to 64 of a-z, 0-9 and -.
  /// Prefix of all URIs of the mount: canonical, ending with a slash. nullopt: `mcp://NAME/`.
  std::optional<std::string> prefix{};
  client_target target{};                 ///< The server to mount. That of a `memory_target` must outlive the provider.
  std::optional<std::string> revision{};  ///< The only protocol revision to use. nullopt: the newest that both sides support.
  bool eager = false;                     ///< Connect when the provider is added to a server, not when it is first needed.
  bool serves_skills = true;              ///< Serve the skills of the mounted server, if it has any.
  bool redact = true;                     ///< Mask secrets in contents of the mounted server.

  std::chrono::milliseconds call_timeout{30'000};  ///< For each request to the mounted server.
  /// How long a list waits for the mounted server. After that, the list is answered without its entries.
  std::chrono::milliseconds list_timeout{10'000};
  /// Maximum age of the mounted server's lists, if it sends neither change notifications nor a time to live.
  std::chrono::milliseconds list_ttl{60'000};
  std::size_t max_entries = 10'000;           ///< Further resources are left out.
  std::size_t max_templates = 500;            ///< Further templates are left out.
  std::uint64_t max_read_bytes = 1ull << 30;  ///< Content bytes of one read. `server_options::max_read_bytes` applies too.

  /// Patterns for whole URIs as the mounted server spells them: `*` within a segment, `**` across segments, `?`, `[a-z]`. A URI
  /// is served if it matches one of `include` (or `include` is empty) and none of `exclude`.
  std::vector<std::string> include{};
  std::vector<std::string> exclude{};

  /// Receives one line per noteworthy event; may be empty. Threads: any.
  std::function<void(std::string_view)> log{};
};

/// Makes a source with the resources of another server, each URI prefixed. It connects at the first request, or when the first
/// client watches lists. After failures it reconnects with growing pauses; meanwhile lists are empty, and reads fail as
/// source_unavailable. The texts of errors name the mount. Resources that come from this server itself,
/// through a circle of mounts, are not listed and cannot be read (docs/mounting.md).
///
/// Errors: invalid_argument for an invalid name, prefix or pattern.
[[nodiscard]] result<std::shared_ptr<provider>> make_mcp_provider(mount_options options);

}  // namespace hondana::inline v0
