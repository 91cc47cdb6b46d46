/// Authentication of HTTP requests: bearer tokens, challenges, resource metadata, and comparing callers.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include <hondana/authenticator.hpp>
#include <hondana/provider.hpp>

#include "base/executor/thread_pool.hpp"
#include "transport/http_server/forwarded.hpp"
#include "transport/http_server/request_head.hpp"

namespace hondana::transport::http_server {

/// Immutable. Threads: any.
struct identification {
  std::shared_ptr<authenticator> asked;  ///< Null: everybody is let in.
  trusted_proxies proxies;
  std::shared_ptr<executor::pool> pool;  ///< Where others are asked, bounded. Set together with `asked`.
};

/// The token of `Authorization: Bearer`; nothing when there is none, or another scheme. Errors: what is wrong, in words that
/// repeat nothing of it: several fields, or a token with characters that no token may have. Spec: RFC 6750 section 2.1.
[[nodiscard]] tl::expected<std::optional<std::string>, std::string_view> read_bearer(const request_head& head);

/// What this server is called by the request at hand: "https://host:port".
[[nodiscard]] std::string called(bool is_secure, std::string_view host);

/// Where the metadata is about what a client asks for at `path` ("/mcp", "/sse"). Spec: RFC 9728 section 3.1.
[[nodiscard]] std::string metadata_url(const protected_resource& what, std::string_view called, std::string_view path);

/// The metadata about `path`, as JSON; nothing when there is nothing there. Empty: about the whole server.
/// Spec: RFC 9728 sections 2 and 3.2.
[[nodiscard]] std::optional<std::string> metadata_text(const protected_resource& what, std::string_view called,
                                                       std::string_view path);

/// The line `WWW-Authenticate: Bearer …` with CR LF. What the parameters cannot have is replaced. `metadata`: a URL; empty:
/// none. Spec: RFC 6750 section 3, RFC 9728 section 5.1.
[[nodiscard]] std::string challenge_line(std::string_view metadata, std::string_view error, std::string_view description,
                                         const std::vector<std::string>& scopes);

/// Whether it is `owner`, by the same program, for which others of his do not speak.
[[nodiscard]] bool is_same_caller(const caller& owner, const caller& who);

/// Whether two callers, as seen now, see the same.
[[nodiscard]] bool has_one_view(const caller& one, const caller& other);

}  // namespace hondana::transport::http_server
