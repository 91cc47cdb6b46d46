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
  enum class kind : std::uint8_t { incomplete, refused, redirect };
  kind what = kind::incomplete;
  int status = 0;        ///< Status of the answer to a refused request.
  std::string target{};  ///< Path and query of a redirect.
};

/// Parses the bytes of a request received so far. A redirect is a GET of `redirect_path` with `Host: host` ("127.0.0.1:PORT"),
/// the state `state`, and `code` or `error`, that a browser shows as a page. Requests of other pages that only load or frame it
/// are refused. Requests with another host name are refused, too (DNS rebinding). Spec: RFC 8252 7.3, RFC 6749 4.1.2.
[[nodiscard]] redirect_request read_redirect(std::string_view bytes, std::string_view host, std::string_view state);

/// The decoded value of the first parameter with that name. Empty if it is missing or has malformed escapes.
[[nodiscard]] std::optional<std::string> parameter_in(std::string_view query, std::string_view name);

/// Listens on 127.0.0.1 for one redirect. Threads: one at a time.
class redirect_listener {
 public:
  /// Listens at `port`. If that is 0: at the port of `before`, if it is a redirect URL of ours and the port is free; otherwise
  /// at any port. Errors: source_unavailable.
  [[nodiscard]] static result<redirect_listener> open(const std::string& before, std::uint16_t port);

  /// `http://127.0.0.1:PORT/callback`.
  [[nodiscard]] std::string url() const;

  /// Receives a typed line; returns true if it is the expected one.
  using line_hearer = std::function<bool(std::string_view)>;
  /// Waits for the redirect with this state and returns its URL. Refuses other requests: at most 8 connections at a time, with
  /// 16 KiB and 5 s each. `typed`: a descriptor whose lines go to `hears`; when `hears` returns true, the result is empty.
  /// Errors: timed_out, cancelled.
  [[nodiscard]] result<std::optional<std::string>> wait(const std::string& state, std::chrono::milliseconds time,
                                                        const std::stop_token& stop, int typed, const line_hearer& hears);

 private:
  using clock = monotonic_clock;
  struct guest {
    disk::handle socket;
    clock::time_point until;
    std::string bytes{};
  };

  redirect_listener(disk::handle socket, std::uint16_t port) noexcept : socket_(std::move(socket)), port_(port) {}
  [[nodiscard]] std::string host() const;
  void admit();
  /// Reads from a connection. Returns the redirect URL if it is complete; closes refused connections.
  std::optional<std::string> hear(std::list<guest>::iterator one, const std::string& state);

  disk::handle socket_;
  std::uint16_t port_ = 0;
  std::list<guest> guests_;
};

}  // namespace hondana::login
