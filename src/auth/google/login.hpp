/// Logs a person in to Google, and keeps or revokes what it gives.
#pragma once

#include <chrono>
#include <stop_token>
#include <string>
#include <string_view>

#include <hondana/authorization.hpp>
#include <hondana/error.hpp>

#include "auth/google/credentials.hpp"

namespace hondana::google {

/// Google's own page.
inline constexpr std::string_view usual_auth_url = "https://accounts.google.com/o/oauth2/v2/auth";

struct log_in_settings {
  oauth_client client{};  ///< Its URLs may be empty: Google's.
  scopes asked{scope::drive_readonly};
  std::string proxy{};                     ///< As `endpoint::settings::proxy`.
  std::string authorities{};               ///< As `endpoint::settings::authorities`.
  std::string hint{};                      ///< An e-mail address that the page proposes; empty: none.
  std::chrono::milliseconds time{15'000};  ///< Of the request to the token endpoint.
};

/// Shows Google's page, hears the browser come back (PKCE, loopback redirect), and exchanges the code for a refresh token.
/// Errors: unauthorized when the person or Google refuses, or gives no refresh token or less than was asked for; access_denied
/// for an answer that is not ours; those of the page; those of requests. No text holds a code or a token.
/// Spec: Google, "OAuth 2.0 for Mobile & Desktop Apps"; RFC 8252, RFC 7636.
[[nodiscard]] result<authorized_user> log_in(const log_in_settings& with, login_page& page, const std::stop_token& stop);

/// Puts it into the file, 0600 and whole, whatever was there. Errors: source_unavailable.
[[nodiscard]] result<void> keep(const authorized_user& one, const std::string& path);

/// Takes the refresh token back at Google, so that nobody can use it. Errors: those of requests.
/// Spec: RFC 7009; Google, "Revoking a token".
[[nodiscard]] result<void> revoke(const authorized_user& one, const log_in_settings& with, const std::stop_token& stop);

}  // namespace hondana::google
