/// Sets of scopes.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "protocol/model/scope.hpp"

namespace hondana::oauth {

using scope_set = std::set<std::string, std::less<>>;

/// Of `scope` as requests, answers and challenges spell it. Nothing for what is none, for more than 200 scopes and for more
/// than 8 KiB. Spec: RFC 6749 section 3.3.
[[nodiscard]] std::optional<scope_set> read_scopes(std::string_view text);

using model::is_scope;

/// Sorted, with one space between.
[[nodiscard]] std::string spelled(const scope_set& scopes);

/// Whether `all` has each of `some`.
[[nodiscard]] bool covers(const scope_set& all, const scope_set& some);

}  // namespace hondana::oauth
