/// The port on this machine that a browser is sent back to.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include <hondana/clock.hpp>
#include <hondana/error.hpp>

#include "os/disk/handle.hpp"

namespace hondana::login {

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
