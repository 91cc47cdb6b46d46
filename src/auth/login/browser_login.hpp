/// Logs in with a browser on this machine, or with a browser elsewhere and a pasted address.
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

/// Whether a URL may be passed to a browser: https, or http on this machine. Only visible ASCII, without quotes, backslashes
/// and other characters that a badly written opener may interpret.
[[nodiscard]] bool is_browser_safe(std::string_view url);

/// Returns an environment variable; empty if it is not set.
using environment = std::function<std::string(const char* name)>;

/// The program that opens pages: `$BROWSER` if it is one plain name or path, otherwise xdg-open. Empty without a display
/// (DISPLAY, WAYLAND_DISPLAY), and for root unless `$BROWSER` is set.
[[nodiscard]] std::optional<std::string> browser_program(const environment& variables, bool is_root);

/// Starts `program` with the URL as its only argument, without a shell. Does not wait for its end; it may outlive this process.
/// Errors: invalid_argument for a URL that `is_browser_safe` rejects; source_unavailable if the program cannot be started.
[[nodiscard]] result<void> open_browser(const std::string& program, const std::string& url);

/// The redirect URL for a port of this machine.
[[nodiscard]] std::string redirect_url(std::uint16_t port);

struct browser_login_options {
  std::optional<std::string> program{};  ///< See `browser_program`; empty: the address is only printed.
  int terminal = -1;                     ///< Descriptor of a terminal where an address can be pasted; -1: none.
  std::uint16_t port = 0;                ///< Port of the redirect; 0: the port of the last login if it is free, otherwise any.
  std::chrono::milliseconds timeout{600'000};
  std::function<void(std::string_view line)> print{};  ///< Shows a line to the user.
};

/// Makes a login page that opens a browser and listens on 127.0.0.1 for its redirect; see `login_handler`.
[[nodiscard]] std::unique_ptr<login_handler> make_browser_login(browser_login_options options);

}  // namespace hondana::login
