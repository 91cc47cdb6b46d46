/// Logging in with a browser on this machine, or with one elsewhere and an address that is pasted.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <hondana/authorization.hpp>

namespace hondana::login {

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
