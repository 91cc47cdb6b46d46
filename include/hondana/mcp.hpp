/// Other MCP servers as sources of ours, so that several servers become one.
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

/// Which server is mounted where, and how far it is trusted.
struct mount_options {
  std::string name{};      ///< A slug, a-z, 0-9 and -: what errors and the log call it.
  std::string prefix{};    ///< Canonical, ending with a slash. Empty: `mcp://NAME/`.
  client_target target{};  ///< Where it is. A server in memory outlives this one.
  std::string revision{};  ///< The only revision to speak with it; empty: the newest both know.
  bool eager = false;      ///< Connect when the server begins to listen to it, not at the first call.
  bool skills = true;      ///< Whether its skills are ours, if it has some.
  bool redact = true;      ///< Mask secrets in what it gives.

  std::chrono::milliseconds timeout{30'000};    ///< For each request made of it.
  std::chrono::milliseconds list_wait{10'000};  ///< How long a list waits for it; then it is answered without its entries.
  std::chrono::milliseconds refresh{60'000};    ///< How old its lists may get when it tells neither changes nor a time.
  std::size_t max_entries = 10'000;             ///< Further ones are left out.
  std::size_t max_templates = 500;
  std::uint64_t max_read = 1ull << 30;  ///< Bytes of one read, besides what the server it is in allows.

  /// Patterns of whole URIs as the other server spells them: `*` within a segment, `**` across them, `?`, `[a-z]`. Served is
  /// what fits one of `include`, or anything when there is none, and none of `exclude`.
  std::vector<std::string> include{};
  std::vector<std::string> exclude{};

  /// Receives one line a noteworthy event; may be empty. Threads: any.
  std::function<void(std::string_view)> log{};
};

/// A source that has what another server has: each URI with the prefix before it. It connects at the first request, or when
/// the first peer hears of changed lists, and again after failures with growing pauses; until then its lists are empty and
/// reads fail as source_unavailable. Errors of the other server are told with the name of the mount. What comes round in a
/// circle of mounts is left out of lists, and reading it is an error (docs/mounting.md).
/// Errors: invalid_argument for a name, a prefix or patterns that cannot be.
[[nodiscard]] result<std::shared_ptr<provider>> make_mcp_provider(mount_options options);

}  // namespace hondana::inline v0
