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
struct token_rejection {
  std::string error_code{};  ///< The error code of RFC 6749, "invalid_grant"; empty: another reason.
  failure reason{};
  /// Whether the grant or client is rejected for good.
  [[nodiscard]] bool is_final() const noexcept {
    return error_code == "invalid_grant" || error_code == "invalid_client" || error_code == "unauthorized_client";
  }
};

/// Longest accepted access or refresh token. Bytes.
inline constexpr std::size_t max_token_bytes = 16u << 10;
/// Longest accepted lifetime.
inline constexpr auto max_lifetime = std::chrono::hours(24 * 366);

/// Parses the answer to a request for the scopes `requested`. Errors: unauthorized if the server rejects the request, with its
/// reason; source_unavailable if it cannot answer now; protocol_error. No text contains any part of a token. Spec: RFC 6749
/// sections 5.1 and 5.2.
[[nodiscard]] tl::expected<token_set, token_rejection> read_tokens(const small_response& response, const scope_set& requested,
                                                                   const std::string& issuer, seconds_since_epoch now);

/// The reason in an error answer, cleaned for messages; empty: none. Spec: RFC 6749 section 5.2, RFC 7009 section 2.2.1.
[[nodiscard]] std::string read_error_reason(const small_response& response);

/// What all requests of one session use.
struct session_context {
  std::string url{};               ///< URL of the MCP server, see `canonical_resource`.
  oauth_client_options options{};  ///< Its store is not null.
  std::optional<jose::signing_key> key{};
  http_caller http{};
  std::function<seconds_since_epoch()> now{};

  void log(const std::string& line) const {
    if (options.log) options.log(line);
  }
};

using token_result = tl::expected<token_record, token_rejection>;

/// Gets new tokens with these scopes, by login or for a machine. Stores nothing except a registration. Errors: unauthorized;
/// unsupported; those of the login page, the store and HTTP. Threads: any; blocks.
[[nodiscard]] token_result get_tokens(const session_context& context, const authority& authority, const scope_set& scopes,
                                      const std::stop_token& stop);

/// Refreshes the tokens. Errors: those of `get_tokens`; a `token_rejection` with `is_final` if the tokens are invalid. Spec:
/// RFC 6749 section 6.
[[nodiscard]] token_result refresh(const session_context& context, const authority& authority, const token_record& entry,
                                   const std::stop_token& stop);

/// Revokes the tokens at the authorization server. False: it has no revocation endpoint. Spec: RFC 7009.
[[nodiscard]] result<bool> revoke(const session_context& context, const token_record& entry, const std::stop_token& stop);

}  // namespace hondana::oauth
