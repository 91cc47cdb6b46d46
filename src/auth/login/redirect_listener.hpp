/// Waits on a local port for the request that a browser sends after a login (the redirect).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include <hondana/clock.hpp>
#include <hondana/error.hpp>

#include "os/disk/file_descriptor.hpp"

namespace hondana::login {

/// Limit of a request's header. Requests have no body. Bytes.
inline constexpr std::size_t max_request_bytes = 16u << 10;

/// The path of the redirect URL, see `redirect_listener::url`.
inline constexpr std::string_view redirect_path = "/callback";

/// The result of `read_redirect`.
struct redirect_request {
  enum class kind : std::uint8_t {
    incomplete,  ///< More bytes are needed.
    rejected,    ///< The request is not the redirect.
    redirect
  };
  kind type = kind::incomplete;
  int status = 0;        ///< HTTP status of the answer to a rejected request.
  std::string target{};  ///< Path and query of a redirect.
};

/// Parses the bytes of a request received so far. A redirect is a GET of `redirect_path` with the `Host` field `host`
/// ("127.0.0.1:PORT") and the parameters `state`, with this value, and `code` or `error`. Other requests are rejected. So are
/// requests that do not open a page in a browser, but load it into another one (Sec-Fetch-Mode, Sec-Fetch-Dest). Spec: RFC 8252
/// 7.3, RFC 6749 4.1.2.
[[nodiscard]] redirect_request read_redirect(std::string_view bytes, std::string_view host, std::string_view state);

/// Returns the decoded value of the first parameter with that name in a query. Empty optional: it is missing, or has malformed
/// escapes.
[[nodiscard]] std::optional<std::string> find_parameter(std::string_view query, std::string_view name);

/// Listens on 127.0.0.1 for one redirect. Threads: one at a time.
class redirect_listener {
 public:
  /// Listens at `port`. If `port` is 0: at the port of `registered_uri`, if that is a redirect URL of ours and the port is
  /// free; otherwise at any port. Errors: source_unavailable.
  [[nodiscard]] static result<redirect_listener> open(const std::string& registered_uri, std::uint16_t port);

  /// `http://127.0.0.1:PORT/callback`.
  [[nodiscard]] std::string url() const;

  /// Receives a line from the terminal; returns true to end the wait.
  using line_handler = std::function<bool(std::string_view)>;
  /// Waits for the redirect with this state and returns its URL. Answers other requests with an error. Keeps at most 8
  /// connections, each for at most 5 s; a further connection replaces the oldest. `terminal`: a descriptor whose lines go to
  /// `accept_line`; -1: none. Empty optional: `accept_line` returned true. Errors: timed_out, cancelled, source_unavailable.
  [[nodiscard]] result<std::optional<std::string>> wait(const std::string& state, std::chrono::milliseconds timeout,
                                                        const std::stop_token& stop, int terminal,
                                                        const line_handler& accept_line);

 private:
  using clock = monotonic_clock;
  struct client_connection {
    disk::handle socket;
    clock::time_point expires_at;
    std::string bytes{};
  };

  redirect_listener(disk::handle socket, std::uint16_t port) noexcept : socket_(std::move(socket)), port_(port) {}
  /// `127.0.0.1:PORT`.
  [[nodiscard]] std::string host() const;
  void accept_connection();
  /// Reads from a connection. Returns the URL of the redirect when it is complete; closes the connection if the request is
  /// rejected, or if the peer has closed it.
  std::optional<std::string> receive(std::list<client_connection>::iterator connection, const std::string& state);

  disk::handle socket_;
  std::uint16_t port_ = 0;
  std::list<client_connection> connections_;  // the oldest first
};

}  // namespace hondana::login
