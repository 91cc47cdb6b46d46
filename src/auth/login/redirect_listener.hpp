/// The local port that a browser is redirected to after a log-in, and the requests that arrive there.
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

/// Of a request, its head included; it has no body.
inline constexpr std::size_t max_request_bytes = 16u << 10;

/// Where browsers are sent back to: `http://127.0.0.1:PORT` and this.
inline constexpr std::string_view redirect_path = "/callback";

struct redirect_request {
  enum class kind : std::uint8_t { incomplete, refused, redirect };
  kind what = kind::incomplete;
  int status = 0;        ///< What a refused one is answered.
  std::string target{};  ///< Of a redirect: path and query.
};

/// Reads what has come of a request so far. A redirect is a GET of the path, to the host `host` ("127.0.0.1:PORT"), with the
/// state `state` and with `code` or `error`, by which a browser shows a page: pages of others that only load or frame it are
/// refused, and so is what asks for another host, whose name somebody has made lead here. Spec: RFC 8252 7.3, RFC 6749 4.1.2.
[[nodiscard]] redirect_request read_redirect(std::string_view bytes, std::string_view host, std::string_view state);

/// The decoded value of the first parameter of that name in a query; nothing: there is none, or its escapes are broken.
[[nodiscard]] std::optional<std::string> parameter_in(std::string_view query, std::string_view name);

/// Listens on 127.0.0.1 for one redirect. Threads: one at a time.
class redirect_listener {
 public:
  /// At `port`, or, when that is 0, at the port of `before`, if that is a URL of ours and the port is free, else at any.
  /// Errors: source_unavailable.
  [[nodiscard]] static result<redirect_listener> open(const std::string& before, std::uint16_t port);

  /// `http://127.0.0.1:PORT/callback`.
  [[nodiscard]] std::string url() const;

  /// Hears a line that was typed; true when it was what is waited for.
  using line_hearer = std::function<bool(std::string_view)>;
  /// Waits for the redirect with this state, and gives its whole URL. What else asks is refused, at most eight at a time, 16
  /// KiB and five seconds each. With `typed`, lines of that descriptor go to `hears`, and when it takes one nothing is given.
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
  /// What a guest has asked for once that is known; drops guests that are refused.
  std::optional<std::string> hear(std::list<guest>::iterator one, const std::string& state);

  disk::handle socket_;
  std::uint16_t port_ = 0;
  std::list<guest> guests_;
};

}  // namespace hondana::login
