/// Scopes as OAuth spells them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "protocol/model/scope.hpp"

namespace hondana::authentication {

using model::is_scope;
/// The words of a list with spaces between them, without repetitions; those that are no scopes are left out.
[[nodiscard]] std::vector<std::string> scopes_in(std::string_view text);
/// Adds those that are missing.
void merge_scopes(std::vector<std::string>& into, const std::vector<std::string>& more);

}  // namespace hondana::authentication
