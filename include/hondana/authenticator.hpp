/// The interface that identifies the callers of an HTTP server. An application, or this library, implements it.
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
  std::string sha256{};     ///< Of the certificate in DER, in lower-case hexadecimal digits.
};

/// What is known about a request before its caller is identified.
struct auth_request {
  std::string address{};                      ///< The client's address, as trusted proxies report it; "unix" for a Unix socket.
  std::string host{};                         ///< The `Host` header, which has been checked.
  bool is_secure = false;                     ///< It arrived over TLS, at this server or at a trusted proxy.
  std::optional<std::string> bearer_token{};  ///< The token of `Authorization: Bearer`.
  std::optional<peer_credentials> peer{};     ///< For a Unix socket.
  std::optional<peer_certificate> certificate{};  ///< For TLS, if the client sent one.
};

/// Why a request is rejected, and how to correct it. It must not contain secrets. Spec: basic/authorization#error-handling, RFC
/// 6750 section 3.
struct auth_rejection {
  int status = 401;                   ///< 401; 403 for an identified caller; 503 if the decision is impossible now.
  std::string error{};                ///< "invalid_token", "insufficient_scope". Empty: no credentials were sent.
  std::string description{};          ///< For people: what is wrong and what to do.
  std::vector<std::string> scopes{};  ///< All scopes that the request needs.
  std::optional<std::chrono::seconds> retry_after{};  ///< With 503: when to retry.
};

/// An identified caller, and when the identification expires. At that time the server authenticates open streams of this caller
/// again, and ends those that fail. A plain `caller_info` converts to one that lasts as long as the connection.
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

/// Metadata for clients without a token. Spec: RFC 9728 section 2.
struct protected_resource {
  std::string resource{};  ///< The URL of this server for clients. Empty: taken from each request.
  std::vector<std::string> authorization_servers{};
  std::vector<std::string> supported_scopes{};  ///< All scopes that this server uses.
  std::string name{};
  std::string documentation_url{};  ///< A URL.
};

/// Identifies callers. Threads: any, several calls at once.
class authenticator {
 public:
  authenticator() = default;
  authenticator(const authenticator&) = delete;
  authenticator& operator=(const authenticator&) = delete;
  virtual ~authenticator() = default;

  /// Decides from memory; must not block. nullopt: the server calls `authenticate`.
  [[nodiscard]] virtual std::optional<auth_result> try_authenticate(const auth_request& request) = 0;
  /// Decides, if necessary after requests to other services. Must return by `deadline`, with 503. Called on a bounded thread
  /// pool.
  [[nodiscard]] virtual auth_result authenticate(const auth_request& request,
                                                 std::chrono::steady_clock::time_point deadline) = 0;
  /// Whether tokens are accepted. If not, rejections do not request one. Constant. Default: yes.
  [[nodiscard]] virtual bool accepts_tokens() const noexcept { return true; }
  /// Metadata for clients. Null: no authorization server, and no metadata is served. Default: null.
  [[nodiscard]] virtual std::shared_ptr<const protected_resource> metadata() const { return nullptr; }
};

}  // namespace hondana::inline v0
