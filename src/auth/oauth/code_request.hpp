/// The authorization code request: the login page, PKCE, random values, and the redirect.
#pragma once

#include <string>
#include <string_view>

#include <hondana/error.hpp>

#include "auth/oauth/metadata.hpp"
#include "auth/oauth/scopes.hpp"

namespace hondana::oauth {

/// The parameters of one login. The issuer comes from validated metadata.
struct code_request {
  std::string issuer{};
  std::string endpoint{};
  bool sends_issuer = false;  ///< The server declares that its redirects contain `iss`.
  std::string client_id{};
  std::string redirect_uri{};
  std::string resource{};
  scope_set scopes{};
  std::string state{};
  std::string verifier{};
};

/// Makes a request with a new random state and verifier. Errors: internal.
[[nodiscard]] result<code_request> make_code_request(const server_metadata& server);

/// The URL of the login page. Spec: basic/authorization#authorization-flow-steps, RFC 7636 section 4.3, RFC 8707 section 2.
[[nodiscard]] std::string authorization_url(const code_request& request);

/// Returns the code in the redirect URL. State and issuer are checked first.
///
/// Errors: protocol_error for a URL that is malformed or not our redirect URI; unauthorized with the server's reason if it
/// rejected the login. access_denied for a wrong state or issuer; its text contains nothing else of the URL. Spec:
/// basic/authorization#authorization-response-validation, RFC 6749 section 4.1.2, RFC 9207 section 2.4.
[[nodiscard]] result<std::string> extract_code(const std::string& url, const code_request& request);

/// An error text of a peer, prepared for messages: printable ASCII, at most 200 characters.
[[nodiscard]] std::string sanitize(std::string_view text);

/// "CODE: DESCRIPTION" of an error answer, cleaned. Both may be null.
[[nodiscard]] std::string error_text(const std::string* code, const std::string* description);

/// 256 random bits as 43 characters of base64url. Errors: internal if the system has none.
[[nodiscard]] result<std::string> random_text();

/// The S256 challenge of a verifier: base64url of its SHA-256. Spec: RFC 7636 section 4.2.
[[nodiscard]] std::string code_challenge(std::string_view verifier);

/// Compares secrets: the time depends only on the length.
[[nodiscard]] bool equal_in_constant_time(std::string_view a, std::string_view b) noexcept;

}  // namespace hondana::oauth
