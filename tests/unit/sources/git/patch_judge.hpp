/// Histories file by file, written by `git fast-import` in one go, and what git says about the patch of each of their commits.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "sources/git/libgit2.hpp"

namespace hondana::git {

/// Commits on `main`, one after the other.
class written_history {
 public:
  /// Begins a commit; its parent is the one before, or none for the first.
  written_history& commit();
  /// Begins one with other parents, by their numbers from 1; the first gives the files it begins with.
  written_history& commit_on(const std::vector<std::size_t>& parents);
  written_history& file(std::string_view path, std::string_view bytes, std::string_view mode = "100644");
  written_history& link(std::string_view path, std::string_view target) { return file(path, target, "120000"); }
  written_history& submodule(std::string_view path, char digit);
  written_history& remove(std::string_view path);
  /// How many commits there are; the number of the last.
  [[nodiscard]] std::size_t size() const noexcept { return count_; }

  /// Writes them into a repository.
  void write_to(const std::string& folder) const;

 private:
  std::string stream_;
  std::size_t count_ = 0;
};

/// A commit and the one it is compared with; empty: none.
struct judged_commit {
  std::string id, parent;
};
/// Of all references, newest first, against their first parents.
std::vector<judged_commit> judged_commits_of(const std::string& folder);

/// Fails the test where the patch of a commit, or its numbers, are not what the git program writes. `folder` should be bare:
/// elsewhere git asks the attributes of the work tree.
void compare_patches_with_git(const std::string& folder, const std::vector<judged_commit>& commits);
void compare_numbers_with_git(const std::string& folder, const std::vector<judged_commit>& commits);
/// Both for all commits of a history.
void expect_equal_patches(const written_history& history);

repository_pointer open_judged(const std::string& folder);
/// Of a commit by its name; empty: null, as before the first commit.
tree_pointer judged_tree(git_repository* in, const std::string& commit);

}  // namespace hondana::git
