/// Shows login pages in a browser on this machine, or lets the user paste the address of the last page from another machine.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <hondana/authorization.hpp>
#include <hondana/error.hpp>

namespace hondana::login {

/// Whether a URL may be passed to a browser: https, or http on this machine, without user name. Only visible ASCII, without
/// quotes, backslashes and other characters that a badly written program may interpret.
[[nodiscard]] bool is_browser_safe(std::string_view url);

/// Returns an environment variable; empty if it is not set.
using environment = std::function<std::string(const char* name)>;

/// Returns the program that opens pages: `$BROWSER` if it is one plain name or path, otherwise xdg-open. Empty without a
/// display (DISPLAY, WAYLAND_DISPLAY), and for root unless `$BROWSER` is such a name. `is_root`: this process runs as root.
[[nodiscard]] std::optional<std::string> browser_program(const environment& variables, bool is_root);

/// Starts `program` with the URL as its only argument, without a shell. Does not wait for its end; it may outlive this process.
/// Errors: invalid_argument for a URL that `is_browser_safe` rejects, or if `program` is not one plain name or path;
/// source_unavailable if it cannot be started.
[[nodiscard]] result<void> open_browser(const std::string& program, const std::string& url);

/// Returns `http://127.0.0.1:PORT/callback`.
[[nodiscard]] std::string redirect_url(std::uint16_t port);

struct browser_login_options {
  std::optional<std::string> program{};                ///< See `browser_program`; empty: the address is only printed.
  int terminal = -1;                                   ///< Descriptor of a terminal where an address can be pasted; -1: none.
  std::uint16_t port = 0;                              ///< Port of the redirect URL; 0: see `redirect_listener::open`.
  std::chrono::milliseconds timeout{600'000};          ///< Timeout of `login_handler::visit`.
  std::function<void(std::string_view line)> print{};  ///< Shows a line to the user; null: lines are dropped.
};

/// Makes a `login_handler` that opens a browser and listens on 127.0.0.1 for its redirect.
[[nodiscard]] std::unique_ptr<login_handler> make_browser_login(browser_login_options options);

}  // namespace hondana::login
