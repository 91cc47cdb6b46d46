/// Sets of scopes, and the scopes and metadata that a rejection names.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/model/caller_checks.hpp"

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

/// What a `Bearer` challenge says. Spec: RFC 6750 section 3, RFC 9728 section 5.1.
struct bearer_challenge {
  std::string metadata_url{};         ///< `resource_metadata`; empty: not said.
  std::optional<scope_set> scopes{};  ///< Nothing: not said, or not readable.
};

/// The first in the fields `WWW-Authenticate` of an answer; one that says nothing when there is none.
[[nodiscard]] bearer_challenge bearer_in(const std::vector<std::string>& fields);

}  // namespace hondana::oauth
