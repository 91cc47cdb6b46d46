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

/// Makes renames of additions and deletions in `changes`, which are in the order of their paths: first of equal contents, then
/// of files whose names (without folders) are found once on either side and that are 75 % alike, then of the most alike that
/// are at least 50 % so, unless pairs are more than a million. Each stays where the addition was. Copies are never found.
/// Errors: cancelled; those of contents.
[[nodiscard]] result<void> find_renames(std::vector<change>& changes, side_contents& from, const compare_options& options);

struct rename_question {
  git_oid before{}, after{};  ///< Trees of the parent and of the commit.
  std::string path;           ///< In the commit; no file in the parent.
  /// Whether files that stayed may be what it was copied from, as `git log --follow` takes them: those that went come first.
  bool takes_copies = false;
  std::uint64_t largest_file = std::uint64_t{512} << 20;  ///< What is larger is the same only where it is equal.
  std::function<bool()> is_stopped{};
};

/// The file in the parent that is most like it, at least by half; nothing: it was new. Other files that came do not compete for
/// it. Errors: of compare.
[[nodiscard]] result<std::optional<side>> renamed_from(git_repository* in, const rename_question& question);

}  // namespace hondana::git
