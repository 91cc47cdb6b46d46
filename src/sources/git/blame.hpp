/// Finds the commit that wrote each line of a file.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <hondana/error.hpp>

#include "sources/git/libgit2.hpp"

namespace hondana::git {

/// A run of lines that one commit wrote.
struct blamed_lines {
  git_oid commit{};
  std::string path;                ///< The file's name at that commit. Renames of the whole file are followed, as in git blame.
  std::size_t first = 0;           ///< In the requested file, from 1.
  std::size_t original_first = 0;  ///< In the file at that commit.
  std::size_t count = 0;
  bool is_boundary = false;   ///< The history ends there: in a shallow clone, or at the first commit.
  bool is_too_large = false;  ///< For `unresolved` lines: a parent's file is too large to be compared with that commit's.
};

struct blame_request {
  git_oid commit{};
  std::string path;
  std::size_t first = 1, last = 0;  ///< Lines, inclusive; last 0, or beyond the end: to the end.
  /// How many commits may be examined. The remaining lines are `unresolved` in the result.
  std::size_t budget = 20'000;
  std::uint64_t max_file_bytes = std::uint64_t{16} << 20;
  /// Of two compared files together; also of the requested file.
  std::size_t max_lines = 4'000'000;
  std::function<bool()> is_stopped{};
  /// Whether the caller may know that the file had another name at a commit. If not, its lines count as written when it got the
  /// later name. Empty: always.
  std::function<bool(const git_oid& commit, const std::string& path)> is_visible{};
};

struct blame_result {
  std::vector<blamed_lines> runs;  ///< By `first`, without gaps except for `unresolved`.
  /// Lines whose origin was not found, with the commits where the search can continue. Either the budget was spent: a larger
  /// budget, or a blame at those commits, finds more. Or a parent's file is larger than `max_file_bytes`, or has too many
  /// lines.
  std::vector<blamed_lines> unresolved;
};

/// Attributes lines as `git blame` does (without -M, -C and -w, with diff.indentHeuristic=false).
/// Errors: resource_not_found. invalid_argument for folders, submodules, binary files (those with a NUL among the first 8000
/// bytes), and a range that begins after the end. response_too_large. source_unavailable, naming the commit whose parent is
/// missing. cancelled.
[[nodiscard]] result<blame_result> blame(git_repository* repo, const blame_request& request);

}  // namespace hondana::git
