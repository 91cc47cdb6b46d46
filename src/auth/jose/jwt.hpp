/// Parses and verifies JSON Web Tokens.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/value.hpp>

#include "auth/jose/keys.hpp"

namespace hondana::jose {

/// A parsed token. Its contents are not trustworthy until `verify` and `check_claims` succeed.
struct unverified_token {
  algorithm alg = algorithm::rs256;
  std::string key_id;     ///< `kid`; empty if absent.
  std::string type;       ///< `typ`; empty if absent.
  value claims;           ///< An object.
  std::string text;       ///< The signed part of the token: encoded header and claims.
  std::string signature;  ///< Decoded bytes.
};

/// Longer tokens are rejected. Bytes.
inline constexpr std::size_t max_token_bytes = 16 * 1024;

/// Parses a token. Errors: invalid_argument for malformed or encrypted tokens, unsupported algorithms, and critical extensions
/// (`crit`). The error text contains no part of the token. Spec: RFC 7515 section 3.1, RFC 7519 section 7.2.
[[nodiscard]] result<unverified_token> read_token(std::string_view compact);

/// Whether the text looks like a JSON Web Token: three parts, and a header object with any `alg`.
[[nodiscard]] bool has_token_header(std::string_view compact);

/// Checks that one of the keys with the token's algorithm signed it. Errors: access_denied.
[[nodiscard]] result<void> verify(const unverified_token& token, const std::vector<public_key>& keys);

/// What `check_claims` requires.
struct expectations {
  std::string issuer{};                               ///< `iss`, exact.
  std::vector<std::string> audiences{};               ///< `aud` must be or contain one of these.
  std::chrono::seconds skew{30};                      ///< Allowed difference of clocks.
  std::chrono::sys_time<std::chrono::seconds> now{};  ///< The time of this machine.
};

/// Checks issuer, audience and times of a token, and returns its expiry (`exp`), without `skew`. Errors: access_denied for
/// another issuer or audience, or if the token has expired, has no expiry, or is not valid yet; invalid_argument for a time
/// that is not a number. Spec: RFC 7519 section 4.1, RFC 8725.
[[nodiscard]] result<std::chrono::sys_time<std::chrono::seconds>> check_claims(const value& claims,
                                                                               const expectations& expected);

}  // namespace hondana::jose
