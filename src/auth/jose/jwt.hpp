/// Reads and checks JSON Web Tokens.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/value.hpp>

#include "auth/jose/keys.hpp"

namespace hondana::jose {

/// A token that could be read. Nothing in it may be believed until `verify` has said so.
struct unverified_token {
  algorithm by = algorithm::rs256;
  std::string key_id;  ///< Empty when it names none.
  std::string type;    ///< `typ`; empty when it has none.
  value claims;        ///< An object.
  std::string text;    ///< What is signed.
  std::string signature;
};

/// The longest token that is looked at.
inline constexpr std::size_t longest_token = 16 * 1024;

/// Errors: invalid_argument, which says what is wrong and repeats nothing of the token. An algorithm that is none of ours, a
/// critical extension (`crit`) and an encrypted token are such errors. Spec: RFC 7515 section 3.1, RFC 7519 section 7.2.
[[nodiscard]] result<unverified_token> read_token(std::string_view compact);

/// Whether it is meant to be one: three parts, the first of which is an object with an algorithm, whichever.
[[nodiscard]] bool has_token_header(std::string_view compact);

/// Whether one of the keys has signed it. Errors: access_denied.
[[nodiscard]] result<void> verify(const unverified_token& token, const std::vector<public_key>& keys);

/// What a token must say.
struct expectations {
  std::string issuer{};                               ///< `iss`, exactly.
  std::vector<std::string> audiences{};               ///< `aud` is or holds one of these.
  std::chrono::seconds skew{30};                      ///< How far clocks may be apart.
  std::chrono::sys_time<std::chrono::seconds> now{};  ///< Ours.
};

/// When it expires, by its `exp`. Errors: access_denied for another issuer or audience, for a token that has expired, has no
/// expiry or is not valid yet; invalid_argument for claims of a wrong type. Spec: RFC 7519 section 4.1, RFC 8725.
[[nodiscard]] result<std::chrono::sys_time<std::chrono::seconds>> check_claims(const value& claims, const expectations& of);

}  // namespace hondana::jose
