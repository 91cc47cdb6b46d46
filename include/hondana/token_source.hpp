/// The interface from which a client gets its tokens for a server with a URL.
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

namespace hondana::inline v0 {

/// A rejection of a request for lack of authorization, or of a token that is known to be useless.
struct rejected_token {
  std::string url{};                      ///< URL of the server, as in the target.
  int status = 0;                         ///< 401 or 403. 0: nothing was sent, because `token` returned nullopt.
  std::vector<std::string> challenges{};  ///< The values of `WWW-Authenticate`, as received.
  std::string token{};                    ///< The token that was sent; empty: none.
  /// Number of consecutive rejections of this request, from 1. 0: nothing was sent.
  int attempt = 0;
};

/// The tokens for one server. Threads: any. `token` and `obtain` may run at the same time; each client calls `obtain` from one
/// thread at a time.
class token_source {
 public:
  token_source() = default;
  token_source(const token_source&) = delete;
  token_source& operator=(const token_source&) = delete;
  virtual ~token_source() = default;

  /// The token to send now, from memory, without blocking. Empty: send none. nullopt: call `obtain` first, because the token
  /// expired. The token is sent to the origin of the target only.
  [[nodiscard]] virtual std::optional<std::string> token() = 0;
  /// Gets a better token: by refresh, or by asking the user to log in. After success, the request is repeated with the new
  /// `token`. If another call has got a new token meanwhile, it may return at once.
  ///
  /// Errors: unauthorized, with what to do; cancelled. source_unavailable, overloaded and timed_out if a later call may
  /// succeed. Any other error counts as unauthorized.
  [[nodiscard]] virtual result<void> obtain(const rejected_token& rejection, const std::stop_token& stop) = 0;
};

}  // namespace hondana::inline v0
