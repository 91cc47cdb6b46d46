/// Sets of scopes, and the contents of `Bearer` challenges.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/model/caller_checks.hpp"

namespace hondana::oauth {

using scope_set = std::set<std::string, std::less<>>;

/// Parses the value of `scope` in a request, answer or challenge. Empty optional: it has an invalid scope, more than 200
/// scopes, or more than 8 KiB. Spec: RFC 6749 section 3.3.
[[nodiscard]] std::optional<scope_set> read_scopes(std::string_view text);

using model::is_scope;

/// Returns the scopes, sorted and separated by single spaces.
[[nodiscard]] std::string scope_string(const scope_set& scopes);

/// Whether `superset` contains all of `subset`.
[[nodiscard]] bool covers(const scope_set& superset, const scope_set& subset);

/// The contents of a `Bearer` challenge. Spec: RFC 6750 section 3, RFC 9728 section 5.1.
struct bearer_challenge {
  std::string metadata_url{};         ///< `resource_metadata`; empty: absent.
  std::optional<scope_set> scopes{};  ///< `scope`; empty optional: absent or invalid.
};

/// Returns the first `Bearer` challenge in the `WWW-Authenticate` fields of an answer; with empty members if there is none.
[[nodiscard]] bearer_challenge find_bearer_challenge(const std::vector<std::string>& fields);

}  // namespace hondana::oauth
