/// Bearer tokens in all authenticators: syntax, scopes and challenges.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/authenticator.hpp>

#include "protocol/model/caller_checks.hpp"

namespace hondana::authentication {

/// A challenge without an error: the request had no credentials. Spec: RFC 6750 section 3.1.
[[nodiscard]] auth_rejection missing_credentials(std::string description, std::vector<std::string> scopes);
/// The challenge for an invalid token. `description` must not contain any part of the token.
[[nodiscard]] auth_rejection invalid_token(std::string description, std::vector<std::string> scopes);
/// The challenge (503) if the token cannot be checked now.
[[nodiscard]] auth_rejection temporarily_unavailable(std::string description, std::chrono::seconds retry_after);

/// Whether the text can be a token: the characters of RFC 6750 section 2.1, at most `max_token_bytes`.
[[nodiscard]] bool is_token_text(std::string_view text) noexcept;

/// Prefix of the tokens in token files, so that secret scanners find leaked ones.
inline constexpr std::string_view token_prefix = "hondana_";

/// Tokens longer than this are rejected unread. Bytes.
inline constexpr std::size_t max_token_bytes = 16 * 1024;

using model::is_scope;
/// Splits a list of scopes at spaces. Removes repetitions and invalid scopes; returns at most 200.
[[nodiscard]] std::vector<std::string> parse_scopes(std::string_view text);
/// Adds the scopes that are missing, up to 200.
void merge_scopes(std::vector<std::string>& scopes, const std::vector<std::string>& additions);

}  // namespace hondana::authentication
