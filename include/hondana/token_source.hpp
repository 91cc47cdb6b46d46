/// Where a client has the tokens from that it sends to a server behind a URL.
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

namespace hondana::inline v0 {

/// A server has refused a request because of who asks, or the token at hand is known to be of no use.
struct refused_token {
  std::string url{};                      ///< Of the server, as the target names it.
  int status = 0;                         ///< 401 or 403; 0: nothing was sent, `token` had none to give.
  std::vector<std::string> challenges{};  ///< The values of `WWW-Authenticate`, as spelled.
  std::string token{};                    ///< What was sent; empty: nothing.
  /// How many times in a row this request has been refused: the first time is 1. 0: nothing was sent.
  int times = 0;
};

/// Gives the tokens of one server. Threads: any; `token` and `obtain` may run at once, `obtain` itself is called once at a time
/// for each client.
class token_source {
 public:
  token_source() = default;
  token_source(const token_source&) = delete;
  token_source& operator=(const token_source&) = delete;
  virtual ~token_source() = default;

  /// The token to send now, from memory and without waiting: empty for none, nothing when `obtain` must be called first (it has
  /// expired). It is sent to the origin of the target, and to nobody else.
  [[nodiscard]] virtual std::optional<std::string> token() = 0;
  /// Gets a better one: by refreshing, by asking somebody to log in. After success the request is sent again with what `token`
  /// says then. It may find that another has been had meanwhile, and return at once. Errors: unauthorized, whose text says what
  /// to do; source_unavailable, overloaded and timed_out for what may pass, so that it is asked again later; cancelled. Any
  /// other is an `unauthorized` for those whose request it was.
  [[nodiscard]] virtual result<void> obtain(const refused_token& why, const std::stop_token& stop) = 0;
};

}  // namespace hondana::inline v0
