/// The authorization code request: the page for the user, PKCE, random texts, and what comes back.
#pragma once

#include <string>
#include <string_view>

#include <hondana/error.hpp>

#include "auth/oauth/metadata.hpp"
#include "auth/oauth/scopes.hpp"

namespace hondana::oauth {

/// One login. Its issuer is that of metadata that was checked.
struct code_request {
  std::string issuer{};
  std::string endpoint{};
  bool sends_issuer = false;  ///< As the issuer announces.
  std::string client_id{};
  std::string redirect_uri{};
  std::string resource{};
  scope_set scopes{};
  std::string state{};
  std::string verifier{};
};

/// With a state and a verifier of its own. Errors: internal.
[[nodiscard]] result<code_request> begin_code_request(const server_metadata& at);

/// Spec: basic/authorization#authorization-flow-steps, RFC 7636 section 4.3, RFC 8707 section 2.
[[nodiscard]] std::string page_of(const code_request& request);

/// The code in the URL that the user was sent back to. State and issuer are checked before anything else is believed.
///
/// Errors: broken_protocol for a URL that is not ours or malformed; access_denied when state or issuer are not those of the
/// request: then nothing else in it is repeated; unauthorized when the authorization server has refused, with what it says.
/// Spec: basic/authorization#authorization-response-validation, RFC 6749 section 4.1.2, RFC 9207 section 2.4.
[[nodiscard]] result<std::string> code_in(const std::string& url, const code_request& of);

/// What a peer says of an error, as it may stand in a message: printable ASCII, short.
[[nodiscard]] std::string cleaned(std::string_view said);

/// "CODE: DESCRIPTION" of an error answer, cleaned. Null: it has none.
[[nodiscard]] std::string error_text(const std::string* code, const std::string* description);

/// 256 random bits in 43 characters of base64url. Errors: internal when the system has none.
[[nodiscard]] result<std::string> random_text();

/// The challenge of a verifier by S256: base64url of its SHA-256. Spec: RFC 7636 section 4.2.
[[nodiscard]] std::string code_challenge(std::string_view verifier);

[[nodiscard]] bool equal_in_constant_time(std::string_view a, std::string_view b) noexcept;

}  // namespace hondana::oauth
