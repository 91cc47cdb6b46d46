/// Who asks: what an embedder, or one of the authenticators of this library, tells an HTTP server.
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

/// A process behind a Unix socket, as the kernel says.
struct peer_process {
  std::uint32_t user = 0;
  std::uint32_t group = 0;
  std::int32_t process = 0;
};

/// A client's certificate. It was checked against the configured authorities before anybody sees it here.
struct peer_certificate {
  std::string subject{};             ///< As RFC 2253 spells it: "CN=alice,O=Example".
  std::vector<std::string> names{};  ///< Its alternative names: "DNS:host", "email:alice@example.com", "URI:spiffe://…".
  std::string sha256{};              ///< Of its DER form, in lower-case hexadecimal digits.
};

/// What is known of a request before anybody has decided whom it comes from.
struct request_facts {
  std::string address{};                          ///< Of the client, behind trusted proxies too; "unix" for a Unix socket.
  std::string host{};                             ///< `Host`, which was admitted.
  bool is_secure = false;                         ///< It came by TLS, to us or to a trusted proxy.
  std::optional<std::string> bearer{};            ///< The token of `Authorization: Bearer`.
  std::optional<peer_process> process{};          ///< Over a Unix socket.
  std::optional<peer_certificate> certificate{};  ///< Over TLS, when the client has shown one.
};

/// Why a request is refused, and what would help. Nothing secret may be in it. Spec: basic/authorization#error-handling,
/// RFC 6750 section 3.
struct challenge {
  int status = 401;                             ///< 401; 403 for one who is known; 503 when nobody can say now.
  std::string error{};                          ///< "invalid_token", "insufficient_scope"; empty: nothing was sent.
  std::string description{};                    ///< For people: what is wrong and what to do.
  std::vector<std::string> scopes{};            ///< All that the request needs.
  std::optional<std::chrono::seconds> retry{};  ///< With 503: when to try again.
};

/// Who asks, and until when that holds: then a stream that is open for this caller makes the server ask again, and ends where
/// the answer is no. An application gives a plain `caller` for what holds as long as the connection.
struct known_caller : caller {
  known_caller() = default;
  explicit(false)
      known_caller(caller who, std::chrono::steady_clock::time_point holds = std::chrono::steady_clock::time_point::max())
      : caller(std::move(who)), until(holds) {}
  std::chrono::steady_clock::time_point until = std::chrono::steady_clock::time_point::max();
};

using authenticated = tl::expected<known_caller, challenge>;

/// What clients may know before they have a token. Spec: RFC 9728 section 2.
struct protected_resource {
  std::string resource{};  ///< The URL of this server for clients; empty: as the request at hand calls it.
  std::vector<std::string> authorization_servers{};
  std::vector<std::string> scopes{};  ///< All that are of use here.
  std::string name{};
  std::string documentation{};  ///< A URL.
};

/// Tells who asks. Threads: any, several calls at once.
class authenticator {
 public:
  authenticator() = default;
  authenticator(const authenticator&) = delete;
  authenticator& operator=(const authenticator&) = delete;
  virtual ~authenticator() = default;

  /// What can be told without waiting: nothing here may block. Nothing: `find_out` is asked.
  [[nodiscard]] virtual std::optional<authenticated> known(const request_facts& of) = 0;
  /// The same, after asking others if need be; gives up by `deadline` with 503. Called on a bounded pool.
  [[nodiscard]] virtual authenticated find_out(const request_facts& of, std::chrono::steady_clock::time_point deadline) = 0;
  /// Whether a token can help at all; otherwise refusals do not ask for one. Constant. Default: yes.
  [[nodiscard]] virtual bool takes_tokens() const noexcept { return true; }
  /// Null: there is no authorization server that could help. Then no metadata is served.
  [[nodiscard]] virtual std::shared_ptr<const protected_resource> metadata() const { return nullptr; }
};

}  // namespace hondana::inline v0
