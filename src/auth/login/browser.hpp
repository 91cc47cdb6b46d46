/// Showing somebody a page in their browser.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

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

}  // namespace hondana::login
