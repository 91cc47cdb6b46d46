/// Requests tokens by login, machine credentials or refresh, and parses the token endpoint's answers.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include <hondana/authorization.hpp>
#include <hondana/error.hpp>

#include "auth/jose/keys.hpp"
#include "auth/oauth/client_identity.hpp"
#include "auth/oauth/metadata.hpp"
#include "auth/oauth/scopes.hpp"

namespace hondana::oauth {

/// Why no tokens were issued.
struct token_refusal {
  std::string error{};  ///< The error code of RFC 6749, "invalid_grant"; empty: another reason.
  failure why{};
  /// Whether the grant or client is rejected for good.
  [[nodiscard]] bool is_final() const noexcept {
    return error == "invalid_grant" || error == "invalid_client" || error == "unauthorized_client";
  }
};

/// Longest accepted access or refresh token. Bytes.
inline constexpr std::size_t longest_token = 16u << 10;
/// Longest accepted lifetime.
inline constexpr auto longest_life = std::chrono::hours(24 * 366);

/// Parses the answer to a request for the scopes `asked`. Errors: unauthorized if the server rejects the request, with its
/// reason; source_unavailable if it cannot answer now; broken_protocol. No text contains any part of a token. Spec: RFC 6749
/// sections 5.1 and 5.2.
[[nodiscard]] tl::expected<token_set, token_refusal> read_tokens(const small_answer& answer, const scope_set& asked,
                                                                 const std::string& issuer, seconds_since_epoch now);

/// The reason in an error answer, cleaned for messages; empty: none. Spec: RFC 6749 section 5.2, RFC 7009 section 2.2.1.
[[nodiscard]] std::string reason_in(const small_answer& answer);

/// What all requests of one session use.
struct means {
  std::string url{};          ///< URL of the MCP server, see `canonical_resource`.
  oauth_settings settings{};  ///< Its store is not null.
  std::optional<jose::signing_key> key{};
  caller_of_http http{};
  std::function<seconds_since_epoch()> now{};

  void log(const std::string& line) const {
    if (settings.log) settings.log(line);
  }
};

using obtained = tl::expected<kept_tokens, token_refusal>;

/// Gets new tokens with these scopes, by login or for a machine. Stores nothing except a registration. Errors: unauthorized;
/// unsupported; those of the login page, the store and HTTP. Threads: any; blocks.
[[nodiscard]] obtained get_tokens(const means& with, const authority& at, const scope_set& scopes, const std::stop_token& stop);

/// Refreshes the tokens. Errors: those of `get_tokens`; a `token_refusal` with `is_final` if the tokens are invalid. Spec: RFC
/// 6749 section 6.
[[nodiscard]] obtained refresh(const means& with, const authority& at, const kept_tokens& what, const std::stop_token& stop);

/// Revokes the tokens at the authorization server. False: it has no revocation endpoint. Spec: RFC 7009.
[[nodiscard]] result<bool> revoke(const means& with, const kept_tokens& what, const std::stop_token& stop);

}  // namespace hondana::oauth
