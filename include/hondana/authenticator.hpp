/// The interface that identifies the callers of an HTTP server. `authenticators.hpp` has implementations.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

#include <hondana/provider.hpp>

namespace hondana::inline v0 {

/// The process at the other end of a Unix socket, from the kernel.
struct peer_credentials {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::int32_t pid = 0;
};

/// A client's certificate, after validation against the configured authorities.
struct peer_certificate {
  std::string subject{};  ///< As in RFC 2253: "CN=alice,O=Example".
  std::vector<std::string>
      alternative_names{};  ///< Subject alternative names: "DNS:host", "email:alice@example.com", "URI:spiffe://…".
  std::string sha256{};     ///< SHA-256 of the certificate in DER, in lower-case hexadecimal digits.
};

/// What is known about a request before its caller is identified.
struct auth_request {
  std::string address{};                      ///< The client's address, as trusted proxies report it; "unix" for a Unix socket.
  std::string host{};                         ///< The `Host` header. The server has checked that it is allowed.
  bool is_secure = false;                     ///< The request arrived over TLS, at this server or at a trusted proxy.
  std::optional<std::string> bearer_token{};  ///< The token of `Authorization: Bearer`.
  std::optional<peer_credentials> peer{};     ///< For a Unix socket; not behind a trusted proxy.
  std::optional<peer_certificate> certificate{};  ///< For TLS, if the client sent one; not behind a trusted proxy.
};

/// Why a request is rejected, for the client. It must not contain secrets. Spec: basic/authorization#error-handling, RFC 6750
/// section 3.
struct auth_rejection {
  /// HTTP status: 401; 403 if the caller is known but not allowed; 503 if the decision is impossible now. Others become 401.
  int status = 401;
  std::string error{};        ///< OAuth error code: "invalid_token", "insufficient_scope". Empty: no credentials were sent.
  std::string description{};  ///< For people: what is wrong and what to do.
  std::vector<std::string> scopes{};  ///< Scopes to request. The server adds those that its rules require for every request.
  std::optional<std::chrono::seconds> retry_after{};  ///< How long to wait before a retry.
};

/// An identified caller, and the time at which the server checks open streams of this caller again. It authenticates the
/// request that opened the stream again, and ends the stream if that fails. For a plain `caller_info`, that time never comes.
struct authenticated_caller : caller_info {
  authenticated_caller() = default;
  explicit(false)
      authenticated_caller(caller_info caller,
                           std::chrono::steady_clock::time_point expiry = std::chrono::steady_clock::time_point::max())
      : caller_info(std::move(caller)), expires_at(expiry) {}
  std::chrono::steady_clock::time_point expires_at = std::chrono::steady_clock::time_point::max();
};

/// A caller, or why the request is rejected.
using auth_result = tl::expected<authenticated_caller, auth_rejection>;

/// The metadata that tells clients where to get a token. Spec: RFC 9728 section 2.
struct protected_resource {
  std::optional<std::string> resource{};  ///< The URL of this server for clients. nullopt: taken from each request.
  std::vector<std::string> authorization_servers{};
  std::vector<std::string> supported_scopes{};  ///< All scopes that this server uses.
  std::string name{};                           ///< Name of this server, for people.
  std::string documentation_url{};
};

/// Identifies callers. Threads: any, several calls at once.
class authenticator {
 public:
  authenticator() = default;
  authenticator(const authenticator&) = delete;
  authenticator& operator=(const authenticator&) = delete;
  virtual ~authenticator() = default;

  /// Identifies the caller without blocking. nullopt: this is not possible, and the server calls `authenticate`.
  [[nodiscard]] virtual std::optional<auth_result> try_authenticate(const auth_request& request) = 0;
  /// Identifies the caller, if necessary by requests to other services. Must return by `deadline`, with status 503 if it is
  /// undecided. Called on a bounded thread pool. An exception counts as 503.
  [[nodiscard]] virtual auth_result authenticate(const auth_request& request,
                                                 std::chrono::steady_clock::time_point deadline) = 0;
  /// Returns whether tokens are accepted. If not, rejections do not request one. Constant. Default: true.
  [[nodiscard]] virtual bool accepts_tokens() const noexcept { return true; }
  /// Returns the metadata for clients. Null: no metadata is served, because there is no authorization server. Default: null.
  [[nodiscard]] virtual std::shared_ptr<const protected_resource> metadata() const { return nullptr; }
};

}  // namespace hondana::inline v0
