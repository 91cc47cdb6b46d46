/// Logs a user in to Google, and stores or revokes the login.
#pragma once

#include <chrono>
#include <stop_token>
#include <string>
#include <string_view>

#include <hondana/authorization.hpp>
#include <hondana/error.hpp>

#include "auth/google/credentials.hpp"

namespace hondana::google {

/// Google's login page.
inline constexpr std::string_view default_auth_url = "https://accounts.google.com/o/oauth2/v2/auth";

struct login_settings {
  oauth_client client{};  ///< Empty URLs: `default_auth_url`, `default_token_url`.
  scopes requested_scopes{scope::drive_readonly};
  std::string proxy{};                        ///< See `endpoint::settings::proxy`.
  std::string ca_file{};                      ///< See `endpoint::settings::ca_file`.
  std::string login_hint{};                   ///< An e-mail address that the page suggests; empty: none.
  std::chrono::milliseconds timeout{15'000};  ///< Timeout of the request to the token endpoint.
};

/// Shows Google's login page, waits for the browser's redirect (PKCE, loopback), and exchanges the code for a refresh token.
/// Blocks. Errors: invalid_argument for invalid settings; unauthorized if the login is rejected, or grants no refresh token or
/// fewer scopes than requested; those of `oauth::extract_code`, of `page` and of `endpoint::send`. No error text contains a
/// code or a token. Spec: Google, "OAuth 2.0 for Mobile & Desktop Apps"; RFC 8252, RFC 7636.
[[nodiscard]] result<authorized_user> log_in(const login_settings& settings, login_handler& page, const std::stop_token& stop);

/// Writes the login to a file with mode 0600, atomically. Errors: source_unavailable.
[[nodiscard]] result<void> store_login(const authorized_user& user, const std::string& path);

/// Revokes the refresh token at Google. Succeeds also if it is already invalid. Blocks. Errors: those of `endpoint::send`;
/// source_unavailable if Google does not revoke it. Spec: RFC 7009; Google, "Revoking a token".
[[nodiscard]] result<void> revoke(const authorized_user& user, const login_settings& settings, const std::stop_token& stop);

}  // namespace hondana::google
