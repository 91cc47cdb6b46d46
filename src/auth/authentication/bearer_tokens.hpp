/// Syntax, scopes and rejections of bearer tokens, for all authenticators.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/authenticator.hpp>

#include "protocol/model/caller_checks.hpp"

namespace hondana::authentication {

/// Makes the rejection (401, no error code) of a request without credentials. `scopes`: those that the request needs. Spec: RFC
/// 6750 section 3.1.
[[nodiscard]] auth_rejection missing_credentials(std::string description, std::vector<std::string> scopes);
/// Makes the rejection (401, "invalid_token") of a token. `description` must not contain any part of the token.
[[nodiscard]] auth_rejection invalid_token(std::string description, std::vector<std::string> scopes);
/// Makes the rejection (503) of a request whose credentials cannot be checked now.
[[nodiscard]] auth_rejection temporarily_unavailable(std::string description, std::chrono::seconds retry_after);

/// Whether the text has the syntax of a token: the characters of RFC 6750 section 2.1, at most `max_token_bytes`.
[[nodiscard]] bool is_token_text(std::string_view text) noexcept;

/// Prefix of the tokens that `add_token` creates, so that secret scanners find leaked ones.
inline constexpr std::string_view token_prefix = "hondana_";

/// Longer tokens are rejected without a check. Bytes.
inline constexpr std::size_t max_token_bytes = 16 * 1024;

using model::is_scope;
/// Splits a list of scopes at spaces. Leaves out repetitions, invalid scopes, and all after the first 200.
[[nodiscard]] std::vector<std::string> parse_scopes(std::string_view text);
/// Adds those of `additions` that `scopes` does not contain, until it has 200.
void merge_scopes(std::vector<std::string>& scopes, const std::vector<std::string>& additions);

}  // namespace hondana::authentication
