/// Logs in with a browser on this machine, or with one elsewhere and an address that is pasted.
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

/// Whether a URL may be given to a browser: https, or http on this machine, in plain visible ASCII without quotes, backslashes
/// or what else a badly written opener might take for more than an address.
[[nodiscard]] bool may_be_shown(std::string_view url);

/// Reads a variable of the environment; empty: it is not set.
using environment = std::function<std::string(const char* name)>;

/// The program that opens pages: `$BROWSER` where that is one plain name or path, else xdg-open. Nothing where no page can be
/// seen: without DISPLAY and WAYLAND_DISPLAY; and for root, whose browser nobody means, unless `$BROWSER` says so.
[[nodiscard]] std::optional<std::string> browser_program(const environment& of, bool is_root);

/// Starts `program` with the URL as its only argument, by no shell, and leaves it alone: nobody waits for its
/// end, which may come after ours. Errors: invalid_argument for a URL that
/// may not be shown; source_unavailable when the program cannot be started.
[[nodiscard]] result<void> open_browser(const std::string& program, const std::string& url);

/// Where the browser comes back to.
[[nodiscard]] std::string redirect_url(std::uint16_t port);

struct browser_login_options {
  std::optional<std::string> program{};  ///< As `browser_program` gives it; nothing: the address is only told.
  int typed = -1;                        ///< A terminal where somebody may paste; -1: none.
  std::uint16_t port = 0;                ///< The browser comes back to this one; 0: to the one of before, or any.
  std::chrono::milliseconds time{600'000};
  std::function<void(std::string_view line)> say{};  ///< Tells the person in front of it.
};

[[nodiscard]] std::unique_ptr<login_page> make_browser_login(browser_login_options options);

}  // namespace hondana::login
