/// Entries of what a repository has.
#pragma once

#include <string>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/resource.hpp>

#include "providers/git/address.hpp"
#include "providers/git/concealment.hpp"
#include "providers/git/library.hpp"

namespace hondana::git {

/// The kind by topic alone, where nothing is looked up.
[[nodiscard]] std::string kind_of(const address& at);

/// What is told without a look at the repository.
[[nodiscard]] resource entry_of(const address& at);

/// What every repository lists, in segment order.
[[nodiscard]] std::vector<resource> listed_entries(const std::string& repo, bool has_work_tree, bool has_commits);

/// The children of a tree that the caller may see, in segment order: its files first, since blobs come before trees.
/// Errors: of `find_folder`.
[[nodiscard]] result<std::vector<resource>> child_entries(git_repository* in, const address& folder, const concealment& hides);

}  // namespace hondana::git
