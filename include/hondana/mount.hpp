/// Mounts other MCP servers: their resources appear as a source of this server.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/client_target.hpp>
#include <hondana/error.hpp>
#include <hondana/provider.hpp>

namespace hondana::inline v0 {

/// Options of a mounted server.
struct mount_options {
  std::string name{};         ///< A slug of a-z, 0-9 and -, which appears in errors and logs.
  std::string prefix{};       ///< Canonical, ending with a slash. Empty: `mcp://NAME/`.
  client_target target{};     ///< Where the server is. A `memory_target` must outlive the provider.
  std::string revision{};     ///< The only revision to use with it. Empty: the newest that both sides support.
  bool eager = false;         ///< Connect when the server starts to watch this source, not at the first call.
  bool serves_skills = true;  ///< Serve its skills, if it has any.
  bool redact = true;         ///< Mask secrets in its contents.

  std::chrono::milliseconds call_timeout{30'000};  ///< For each request to it.
  /// How long a list waits for it. After that, the list is answered without its entries.
  std::chrono::milliseconds list_timeout{10'000};
  /// Maximum age of its lists, if it sends neither change notifications nor a time to live.
  std::chrono::milliseconds list_ttl{60'000};
  std::size_t max_entries = 10'000;  ///< Further entries are left out.
  std::size_t max_templates = 500;
  std::uint64_t max_read_bytes = 1ull << 30;  ///< Bytes of one read, in addition to the limit of the server that mounts it.

  /// Patterns for whole URIs as the mounted server spells them: `*` within a segment, `**` across segments, `?`, `[a-z]`. A URI
  /// is served if it matches one of `include` (or `include` is empty) and none of `exclude`.
  std::vector<std::string> include{};
  std::vector<std::string> exclude{};

  /// Receives one line per noteworthy event; may be empty. Threads: any.
  std::function<void(std::string_view)> log{};
};

/// Makes a source with the resources of another server, each URI prefixed. It connects at the first request, or when the first
/// client watches lists, and reconnects after failures with growing pauses. Until then its lists are empty, and reads fail with
/// source_unavailable. Errors of the mounted server get the name of the mount. Resources that come from this server itself,
/// through a circle of mounts, are not listed and cannot be read (docs/mounting.md).
///
/// Errors: invalid_argument for an invalid name, prefix or pattern.
[[nodiscard]] result<std::shared_ptr<provider>> make_mcp_provider(mount_options options);

}  // namespace hondana::inline v0
