/// What a token endpoint answers.
#pragma once

#include <hondana/authorization.hpp>
#include <hondana/error.hpp>
#include <string>

#include "auth/oauth/http.hpp"
#include "auth/oauth/identity.hpp"
#include "auth/oauth/scopes.hpp"

namespace hondana::oauth {

struct token_refusal {
  std::string error{};  ///< As RFC 6749 names it, "invalid_grant"; empty when that is not why.
  failure why{};
  /// Whether what was sent is of no use any more, now or later.
  [[nodiscard]] bool is_final() const noexcept {
    return error == "invalid_grant" || error == "invalid_client" || error == "unauthorized_client";
  }
};

/// The longest access or refresh token that is taken, in bytes.
inline constexpr std::size_t longest_token = 16u << 10;
/// The longest life that is believed.
inline constexpr auto longest_life = std::chrono::hours(24 * 366);

/// Tokens that were asked for with `asked`. Errors: unauthorized when the server refuses, with what it says;
/// source_unavailable when it cannot answer now; broken_protocol. None repeats anything of a token.
/// Spec: RFC 6749 sections 5.1 and 5.2.
[[nodiscard]] tl::expected<token_set, token_refusal> read_tokens(const small_answer& answer, const scope_set& asked,
                                                                 const std::string& issuer, seconds_since_epoch now);

/// What an answer that is a refusal says, fit to be shown. Empty: nothing. Spec: RFC 6749 section 5.2, RFC 7009 section 2.2.1.
[[nodiscard]] std::string reason_in(const small_answer& answer);

}  // namespace hondana::oauth
