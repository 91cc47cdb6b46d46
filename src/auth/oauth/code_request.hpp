/// The authorization code request, which sends the user to the login page, and the code in the redirect from there.
#pragma once

#include <string>
#include <string_view>

#include <hondana/error.hpp>

#include "auth/oauth/metadata.hpp"
#include "auth/oauth/scopes.hpp"

namespace hondana::oauth {

/// The parameters of one login.
struct code_request {
  std::string issuer{};       ///< From validated metadata.
  std::string endpoint{};     ///< `authorization_endpoint` of the server: the URL of its login page.
  bool sends_issuer = false;  ///< The server declares that its redirects contain `iss`.
  std::string client_id{};
  std::string redirect_uri{};
  std::string resource{};  ///< Canonical or published URL of the MCP server.
  scope_set scopes{};
  std::string state{};     ///< A secret that the redirect must contain.
  std::string verifier{};  ///< The PKCE secret, which is sent with the code to the token endpoint.
};

/// Makes a request with the server's issuer and endpoint, and a new random state and verifier. The caller must set the other
/// members. Errors: internal.
[[nodiscard]] result<code_request> make_code_request(const server_metadata& server);

/// Returns the URL of the login page. Spec: basic/authorization#authorization-flow-steps, RFC 7636 section 4.3, RFC 8707
/// section 2.
[[nodiscard]] std::string authorization_url(const code_request& request);

/// Returns the code in the redirect URL `url`. Checks the state and the issuer before it reads a code or an error.
///
/// Errors: protocol_error for a URL that is malformed or not our redirect URI; access_denied for a wrong state or issuer;
/// unauthorized with the server's reason if it rejected the login. Only the last contains text from the URL. Spec:
/// basic/authorization#authorization-response-validation, RFC 6749 section 4.1.2, RFC 9207 section 2.4.
[[nodiscard]] result<std::string> extract_code(const std::string& url, const code_request& request);

/// Prepares a text from a peer for messages: replaces all but printable ASCII by `?`, and truncates it to 200 characters.
[[nodiscard]] std::string sanitize(std::string_view text);

/// Returns "CODE: DESCRIPTION" of an error answer, both sanitized. Either may be null.
[[nodiscard]] std::string error_text(const std::string* code, const std::string* description);

/// Returns 256 random bits as 43 characters of base64url. Errors: internal if the system has none.
[[nodiscard]] result<std::string> random_text();

/// Returns the PKCE challenge (S256) of a verifier: base64url of its SHA-256. Spec: RFC 7636 section 4.2.
[[nodiscard]] std::string code_challenge(std::string_view verifier);

/// Whether two secrets are equal. The time depends only on their lengths.
[[nodiscard]] bool equal_in_constant_time(std::string_view a, std::string_view b) noexcept;

}  // namespace hondana::oauth
