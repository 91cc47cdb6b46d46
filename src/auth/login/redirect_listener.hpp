/// The local port that a browser is redirected to after a login, and the requests that arrive there.
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

/// Limit of a request, including its head. Requests have no body.
inline constexpr std::size_t max_request_bytes = 16u << 10;

/// The path of the redirect URL `http://127.0.0.1:PORT/callback`.
inline constexpr std::string_view redirect_path = "/callback";

/// The outcome of `read_redirect`. `incomplete`: more bytes are needed.
struct redirect_request {
  enum class kind : std::uint8_t { incomplete, rejected, redirect };
  kind type = kind::incomplete;
  int status = 0;        ///< Status of the answer to a rejected request.
  std::string target{};  ///< Path and query of a redirect.
};

/// Parses the bytes of a request received so far. A redirect is a GET of `redirect_path` with `Host: host` ("127.0.0.1:PORT"),
/// this `state`, and `code` or `error`, that a browser shows as a page. Requests of other pages that only load or frame it are
/// rejected. Requests with another host name are rejected, too (DNS rebinding). Spec: RFC 8252 7.3, RFC 6749 4.1.2.
[[nodiscard]] redirect_request read_redirect(std::string_view bytes, std::string_view host, std::string_view state);

/// The decoded value of the first parameter with that name. Empty if it is missing or has malformed escapes.
[[nodiscard]] std::optional<std::string> find_parameter(std::string_view query, std::string_view name);

/// Listens on 127.0.0.1 for one redirect. Threads: one at a time.
class redirect_listener {
 public:
  /// Listens at `port`. If that is 0: at the port of `registered_uri`, if it is a redirect URL of ours and the port is free;
  /// otherwise at any port. Errors: source_unavailable.
  [[nodiscard]] static result<redirect_listener> open(const std::string& registered_uri, std::uint16_t port);

  /// `http://127.0.0.1:PORT/callback`.
  [[nodiscard]] std::string url() const;

  /// Receives a typed line; returns true if it is the expected one.
  using line_handler = std::function<bool(std::string_view)>;
  /// Waits for the redirect with this state and returns its URL. Rejects other requests: at most 8 connections at a time, with
  /// 16 KiB and 5 s each. `terminal`: a descriptor whose lines go to `accept_line`; when `accept_line` returns true, the result
  /// is empty. Errors: timed_out, cancelled.
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
  [[nodiscard]] std::string host() const;
  void accept_connection();
  /// Reads from a connection. Returns the redirect URL if it is complete; closes the connection if the request is rejected.
  std::optional<std::string> receive(std::list<client_connection>::iterator connection, const std::string& state);

  disk::handle socket_;
  std::uint16_t port_ = 0;
  std::list<client_connection> connections_;
};

}  // namespace hondana::login
