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
  std::string path;            ///< The file's name at that commit (renames of the whole file are followed, as git blame does).
  std::size_t first = 0;       ///< In the file as asked for, from 1.
  std::size_t first_then = 0;  ///< In the file at that commit.
  std::size_t count = 0;
  bool is_boundary = false;   ///< The history ends there (a shallow clone, or the first commit).
  bool is_too_large = false;  ///< Of `open` lines: a parent's file is too large to be compared with that commit's.
};

struct blame_request {
  git_oid commit{};
  std::string path;
  std::size_t first = 1, last = 0;  ///< Lines, inclusive; last 0, or beyond the end: to the end.
  /// How many commits may be looked at; the rest is `open` in the answer.
  std::size_t budget = 20'000;
  std::uint64_t largest_file = std::uint64_t{16} << 20;
  /// Of two files that are compared, together; also of the file that is asked about.
  std::size_t most_lines = 4'000'000;
  std::function<bool()> is_stopped{};
  /// Whether it may be known that the file had another name at a commit; where not, its lines are taken for written when it got
  /// the later one. Empty: always.
  std::function<bool(const git_oid& commit, const std::string& path)> shows{};
};

struct blamed {
  std::vector<blamed_lines> runs;  ///< By `first`, without gaps but for `open`.
  /// Lines whose writers were not found, with the commits where the search goes on: the budget was spent, and
  /// asking again with more, or for a blame at those commits, tells more; or a parent's file is larger than `largest_file` or
  /// has too many lines.
  std::vector<blamed_lines> open;
};

/// As `git blame` (without -M, -C and -w, with diff.indentHeuristic=false) attributes lines.
/// Errors: resource_not_found; invalid_argument for folders, submodules, binary files (those with a NUL among the first 8000
/// bytes) and a range that begins behind the end; response_too_large; source_unavailable, naming the commit whose parent is
/// missing; cancelled.
[[nodiscard]] result<blamed> blame(git_repository* in, const blame_request& request);

}  // namespace hondana::git
