/// Detects renamed and copied files among the changes between two trees.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <hondana/error.hpp>

#include "sources/git/diff.hpp"
#include "sources/git/diff_content.hpp"
#include "sources/git/libgit2.hpp"

namespace hondana::git {

/// Replaces pairs of an addition and a deletion in `changes` by renames. First those with equal contents. Then those whose file
/// name is unique on both sides, and that are at least 75 % similar. Then the most similar ones with at least 50 %, unless
/// there are more than a million pairs. A rename takes the position of the addition. Finds no copies. `changes`: must be sorted
/// by path. Errors: cancelled; those of `side_contents`.
[[nodiscard]] result<void> find_renames(std::vector<change>& changes, side_contents& contents, const compare_options& options);

/// The input of `find_rename_source`.
struct rename_query {
  git_oid old_tree{}, new_tree{};  ///< Trees of the parent and of the commit.
  std::string path;                ///< A file that the commit added.
  /// Whether a file that was not deleted may be the source, as in `git log --follow`. Deleted files take precedence.
  bool detects_copies = false;
  std::uint64_t max_file_bytes = std::uint64_t{512} << 20;  ///< Larger files match only if they are equal.
  std::function<bool()> is_stopped{};                       ///< Called periodically; true cancels. May be empty.
};

/// Finds the file of the parent that became `rename_query::path`: the most similar one, with at least 50 %. Unlike with
/// `find_renames`, other added files do not compete for it. nullopt: the file is new, or the commit did not add it. Errors:
/// those of `compare`.
[[nodiscard]] result<std::optional<diff_side>> find_rename_source(git_repository* repo, const rename_query& query);

}  // namespace hondana::git
