/// Scopes as OAuth spells them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hondana::authentication {

/// Spec: RFC 6749 section 3.3.
[[nodiscard]] bool is_scope(std::string_view text) noexcept;
/// The words of a list with spaces between them, without repetitions; those that are no scopes are left out.
[[nodiscard]] std::vector<std::string> scopes_in(std::string_view text);
/// ASCII alone.
[[nodiscard]] std::string lower_case(std::string text);
/// Adds those that are missing.
void merge_scopes(std::vector<std::string>& into, const std::vector<std::string>& more);

}  // namespace hondana::authentication
