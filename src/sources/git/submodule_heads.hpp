/// Finds the commits that are checked out in submodules.
#pragma once

#include <optional>
#include <string>

#include "sources/git/confined_roots.hpp"
#include "sources/git/libgit2.hpp"

namespace hondana::git {

/// Reads HEAD of submodules, without opening them as repositories. Reads only below the work tree and the git folder of the
/// repository that contains them. Threads: as the repository's handle.
class submodule_heads {
 public:
  explicit submodule_heads(git_repository* repo) noexcept : repo_(repo) {}

  /// The commit that is checked out in the submodule at `path`. nullopt: it is not initialized, has no commit, or its git
  /// folder is elsewhere, so that it cannot be compared.
  [[nodiscard]] std::optional<git_oid> checked_out_commit(const std::string& path);

 private:
  git_repository* repo_;
  std::optional<confined_roots> roots_;
};

}  // namespace hondana::git
