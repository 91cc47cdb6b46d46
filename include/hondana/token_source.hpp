/// The interface from which a client gets its tokens for a server with a URL.
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

namespace hondana::inline v0 {

/// Why a client calls `token_source::obtain`: the server rejected a request, or `token_source::token` returned nullopt.
struct rejected_token {
  std::string url{};                      ///< URL of the server, as in `http_target::url`.
  std::optional<int> status{};            ///< HTTP status of the rejection, 401 or 403. nullopt: `token` returned nullopt.
  std::vector<std::string> challenges{};  ///< The values of `WWW-Authenticate`, as received.
  std::optional<std::string> token{};     ///< The token that the server rejected. nullopt: none was sent.
  int attempt = 0;                        ///< How many times the server has rejected this request so far.
};

/// The tokens for one server. Threads: any. `token` and `obtain` may be called at the same time; each client calls `obtain`
/// from one thread at a time.
class token_source {
 public:
  token_source() = default;
  token_source(const token_source&) = delete;
  token_source& operator=(const token_source&) = delete;
  virtual ~token_source() = default;

  /// Returns the token for the next request, without blocking. Empty: send none. nullopt: the client calls `obtain` first, for
  /// example because the token expired. The client sends the token to the origin of `http_target::url` only.
  [[nodiscard]] virtual std::optional<std::string> token() = 0;
  /// Gets a better token, by refresh or by asking the user to log in; may block. After success, the client sends the request
  /// with the new `token`. If `token` already differs from `rejection.token`, `obtain` may return at once.
  ///
  /// Errors: unauthorized, with what to do; cancelled; source_unavailable, overloaded and timed_out if a later call may
  /// succeed. Any other error counts as unauthorized.
  [[nodiscard]] virtual result<void> obtain(const rejected_token& rejection, const std::stop_token& stop) = 0;
};

}  // namespace hondana::inline v0
