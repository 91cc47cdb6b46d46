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

/// Turns additions and deletions in `changes`, which are sorted by path, into renames. Files with equal contents come first.
/// Then files whose names (without folders) are unique on both sides, and that are 75 % similar. Then the most similar files
/// that are at least 50 % similar, unless there are more than a million pairs. A rename takes the position of the addition.
/// Copies are never found.
/// Errors: cancelled; those of contents.
[[nodiscard]] result<void> find_renames(std::vector<change>& changes, side_contents& contents, const compare_options& options);

/// Asks which file of a parent became a file of a commit.
struct rename_query {
  git_oid old_tree{}, new_tree{};  ///< Trees of the parent and of the commit.
  std::string path;                ///< In the commit; not a file in the parent.
  /// Whether a file that was not deleted may be the origin, as in `git log --follow`. Deleted files take precedence.
  bool detects_copies = false;
  std::uint64_t max_file_bytes = std::uint64_t{512} << 20;  ///< A larger file is the same only if it is equal.
  std::function<bool()> is_stopped{};
};

/// The file of the parent that is most similar, at least by half; nothing: the file was new. Other added files do not compete
/// for it. Errors: of `compare`.
[[nodiscard]] result<std::optional<diff_side>> find_rename_source(git_repository* repo, const rename_query& query);

}  // namespace hondana::git
