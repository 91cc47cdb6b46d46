/// What lies at one path, commit after commit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

#include "sources/git/commit_store.hpp"
#include "sources/git/library.hpp"

namespace hondana::git {

/// What a path leads to; a mode of 0: there is nothing.
struct path_entry {
  git_oid id{};
  std::uint32_t mode = 0;  ///< As git canonicalizes it: 100644, 100755, 120000, 40000, 160000.

  [[nodiscard]] bool is_there() const noexcept { return mode != 0; }
  [[nodiscard]] bool is_folder() const noexcept { return mode == GIT_FILEMODE_TREE; }
  [[nodiscard]] bool is_submodule() const noexcept { return mode == GIT_FILEMODE_COMMIT; }
  [[nodiscard]] bool is_link() const noexcept { return mode == GIT_FILEMODE_LINK; }
  bool operator==(const path_entry& other) const noexcept { return mode == other.mode && git_oid_equal(&id, &other.id) != 0; }
};

/// The trees from the root to a path in one commit, so that another commit's are read only where they differ.
struct path_trail {
  std::vector<git_oid> trees;  ///< The root first; shorter where a folder is not there.
  path_entry entry;            ///< What the path leads to. An empty folder is none, as for git.
};

/// A path cut at its slashes.
class path_steps {
 public:
  /// Slashes at the ends and double ones do not count.
  explicit path_steps(std::string_view path);

  /// What is at this path below the tree `root`; `like` is the trail of a similar commit, or null. Errors: of the store.
  [[nodiscard]] result<path_trail> trail(const commit_store& in, const git_oid& root, const path_trail* like) const;

 private:
  std::vector<std::string> steps_;
};

}  // namespace hondana::git
