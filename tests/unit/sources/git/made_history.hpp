/// Histories of any shape, drawn from a seed, for the git program to judge.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "sources/git/libgit2.hpp"
#include "unit/sources/git/made_repository.hpp"

namespace hondana::git {

struct history_shape {
  enum class clocks : std::uint8_t { right, coarse, wrong };  ///< Coarse: many commits of one second.
  std::uint64_t seed = 1;
  std::size_t commits = 100;
  clocks time = clocks::right;
  std::size_t branching = 30;  ///< Of a hundred commits, how many do not follow the one before.
  std::size_t merging = 25;    ///< Of a hundred commits, how many are merges.
  bool has_files = true;
};

/// Names tests after their shape.
void PrintTo(const history_shape& shape, std::ostream* to);

/// For `git fast-import`: a handful of files with lines that occur often, edited, renamed, copied, removed and brought back, in
/// commits that are merged by two and more, as they are and changed. The branch main has all of them.
[[nodiscard]] std::string drawn_history(const history_shape& shape);

/// Imports it.
void import_history(const made_repository& into, const std::string& stream);

/// With libgit2; the test fails when it cannot be opened.
[[nodiscard]] repository_pointer opened(const std::string& path);
[[nodiscard]] git_oid id_at(git_repository* in, const std::string& revision);
[[nodiscard]] git_oid id_from(const std::string& digits);

/// Paths of all files at a revision.
[[nodiscard]] std::vector<std::string> files_at(const std::string& folder, const std::string& revision);

/// Without their ends; a line that is not ended counts.
[[nodiscard]] std::vector<std::string> lines_of(const std::string& text);

}  // namespace hondana::git
