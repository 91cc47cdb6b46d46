/// Requests tokens (by a user's login, machine credentials or refresh), revokes them, and parses the answers.
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
  /// The error code of RFC 6749, sanitized; "invalid_grant" for a 400 or 401 without a code. Empty: the server sent no error.
  std::string error_code{};
  failure reason{};
  /// Whether the grant or client is rejected for good.
  [[nodiscard]] bool is_final() const noexcept {
    return error_code == "invalid_grant" || error_code == "invalid_client" || error_code == "unauthorized_client";
  }
};

/// A longer access or refresh token is an error. Bytes.
inline constexpr std::size_t max_token_bytes = 16u << 10;
/// A longer lifetime is reduced to this.
inline constexpr auto max_lifetime = std::chrono::hours(24 * 366);

/// Parses the answer to a token request at time `now`. `requested`: the granted scopes if the answer names none. Errors:
/// unauthorized with the server's reason if it rejects the request; source_unavailable if it cannot answer now; protocol_error.
/// No error text contains any part of a token. Spec: RFC 6749 sections 5.1 and 5.2.
[[nodiscard]] tl::expected<token_set, token_rejection> read_tokens(const small_response& response, const scope_set& requested,
                                                                   const std::string& issuer, seconds_since_epoch now);

/// Returns the reason in an error answer, sanitized for messages; empty: none. Spec: RFC 6749 section 5.2, RFC 7009 section
/// 2.2.1.
[[nodiscard]] std::string read_error_reason(const small_response& response);

/// What all requests of one session use.
struct session_context {
  std::string url{};                       ///< URL of the MCP server, see `canonical_resource`.
  oauth_client_options options{};          ///< The store must not be null.
  std::optional<jose::signing_key> key{};  ///< Parsed `oauth_client_options::private_key`; empty: none.
  http_caller http{};
  std::function<seconds_since_epoch()> now{};  ///< Returns the time of the wall clock.

  void log(const std::string& line) const {
    if (options.log) options.log(line);
  }
};

using token_result = tl::expected<token_record, token_rejection>;

/// Gets new tokens with these scopes, by a user's login or with the credentials of a machine. Does not store them, but stores
/// a new client registration, and removes one that the server no longer knows. Threads: any; blocks. Errors: unauthorized;
/// unsupported; those of the login handler, the store and HTTP.
[[nodiscard]] token_result get_tokens(const session_context& context, const authority& authority, const scope_set& scopes,
                                      const std::stop_token& stop);

/// Refreshes the tokens of `entry`, and returns the new ones; does not store them. Threads: any; blocks. Errors: those of
/// `read_tokens`, the store and HTTP; with `is_final` if the refresh token or the client is invalid. Spec: RFC 6749 section 6.
[[nodiscard]] token_result refresh(const session_context& context, const authority& authority, const token_record& entry,
                                   const std::stop_token& stop);

/// Revokes the refresh token of `entry` at its issuer, or the access token if there is none. False: the issuer has no
/// revocation endpoint. Threads: any; blocks. Errors: those of `fetch_server_metadata`, the store and HTTP; source_unavailable
/// if the server refuses. Spec: RFC 7009.
[[nodiscard]] result<bool> revoke(const session_context& context, const token_record& entry, const std::stop_token& stop);

}  // namespace hondana::oauth
