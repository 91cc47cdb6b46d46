/// Bearer tokens as all authenticators treat them: syntax, scopes and challenges.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/authenticator.hpp>

#include "protocol/model/caller_checks.hpp"

namespace hondana::authentication {

/// A challenge without an error: nothing was sent that could be judged. Spec: RFC 6750 section 3.1.
[[nodiscard]] challenge nothing_sent(std::string description, std::vector<std::string> scopes);
/// `why` never repeats anything of the token.
[[nodiscard]] challenge bad_token(std::string why, std::vector<std::string> scopes);
/// Nobody can say now who it is.
[[nodiscard]] challenge cannot_tell(std::string why, std::chrono::seconds retry);

/// Whether it could be a token at all: the characters of RFC 6750 section 2.1, and not endless.
[[nodiscard]] bool is_token_text(std::string_view text) noexcept;

/// What tokens of our own files begin with, so that they are found where they do not belong.
inline constexpr std::string_view token_prefix = "hondana_";

/// The longest token that is looked at.
inline constexpr std::size_t longest_token_text = 16 * 1024;

using model::is_scope;
/// The words of a list with spaces between them, without repetitions; those that are no scopes are left out.
[[nodiscard]] std::vector<std::string> scopes_in(std::string_view text);
/// Adds those that are missing.
void merge_scopes(std::vector<std::string>& into, const std::vector<std::string>& more);

}  // namespace hondana::authentication
