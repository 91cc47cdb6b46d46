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
[[nodiscard]] challenge nothing_sent(std::string description, std::vector<std::string> scopes);
/// The challenge for an invalid token. `why` must not contain any part of the token.
[[nodiscard]] challenge bad_token(std::string why, std::vector<std::string> scopes);
/// The challenge (503) if the token cannot be checked now.
[[nodiscard]] challenge cannot_tell(std::string why, std::chrono::seconds retry);

/// Whether the text can be a token: the characters of RFC 6750 section 2.1, at most `longest_token_text`.
[[nodiscard]] bool is_token_text(std::string_view text) noexcept;

/// Prefix of the tokens in token files, so that secret scanners find leaked ones.
inline constexpr std::string_view token_prefix = "hondana_";

/// Tokens longer than this are rejected unread. Bytes.
inline constexpr std::size_t longest_token_text = 16 * 1024;

using model::is_scope;
/// Splits a list of scopes at spaces. Removes repetitions and invalid scopes; returns at most 200.
[[nodiscard]] std::vector<std::string> scopes_in(std::string_view text);
/// Adds the scopes that are missing, up to 200.
void merge_scopes(std::vector<std::string>& into, const std::vector<std::string>& more);

}  // namespace hondana::authentication
