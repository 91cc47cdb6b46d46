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

/// Consecutive lines that one commit wrote or, in `blame_result::unresolved`, that have been followed back to it.
struct blamed_lines {
  git_oid commit{};
  std::string path;                ///< The file's path at that commit. Renames of the whole file are followed, as in git blame.
  std::size_t first = 0;           ///< First line in the requested file, from 1.
  std::size_t original_first = 0;  ///< First line in the file at that commit, from 1.
  std::size_t count = 0;           ///< Number of lines.
  bool is_boundary = false;   ///< The commit has no parents in this repository: a first commit, or the end of a shallow clone.
  bool is_too_large = false;  ///< Only in `unresolved`: this file and a parent's are too large to be compared.
};

struct blame_request {
  git_oid commit{};  ///< The revision of the file.
  std::string path;
  std::size_t first = 1, last = 0;  ///< Lines, inclusive. `last` 0 or beyond the end: to the end.
  /// Maximum number of commits to examine. The lines that remain are `unresolved`.
  std::size_t budget = 20'000;
  std::uint64_t max_file_bytes = std::uint64_t{16} << 20;
  /// Limit for two compared files together, and for the requested file.
  std::size_t max_lines = 4'000'000;
  std::function<bool()> is_stopped{};  ///< Called periodically; true cancels. May be empty.
  /// Whether the caller may know that the file had the name `path` at `commit`. If not, the commit that renamed the file counts
  /// as the writer of its lines. Empty: always true.
  std::function<bool(const git_oid& commit, const std::string& path)> is_visible{};
};

struct blame_result {
  std::vector<blamed_lines> runs;  ///< In the order of lines. Without gaps, except for `unresolved` lines.
  /// Lines whose writer was not found. Either the budget was spent: a larger budget, or a blame of the commits named here,
  /// finds more. Or `is_too_large` is set.
  std::vector<blamed_lines> unresolved;
};

/// Finds the commit that wrote each line, as `git blame` does (without -M, -C and -w, with diff.indentHeuristic=false).
/// Errors: resource_not_found: the commit has no such file; invalid_argument: a folder, a submodule, a binary file (a NUL among
/// the first 8000 bytes), or a range that begins after the end; response_too_large: the requested file is beyond the limits;
/// source_unavailable, naming the commit whose parent is missing; cancelled.
[[nodiscard]] result<blame_result> blame(git_repository* repo, const blame_request& request);

}  // namespace hondana::git
