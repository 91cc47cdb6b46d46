/// How far two commits have gone apart.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>

#include <hondana/error.hpp>

#include "sources/git/commit_store.hpp"

namespace hondana::git {

/// How many commits only `one`, and only `other`, has behind it, as `git rev-list --left-right --count`. Reads at most `budget`
/// commits, and takes what it read from it; nothing when that does not do. Errors: those of reading commits.
[[nodiscard]] result<std::optional<std::pair<std::size_t, std::size_t>>> divergence_of(const commit_store& from,
                                                                                       const git_oid& one, const git_oid& other,
                                                                                       std::size_t& budget);

}  // namespace hondana::git
