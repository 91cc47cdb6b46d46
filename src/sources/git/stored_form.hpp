/// Converts files of a work tree to the form in which git stores them.
#pragma once

#include <map>
#include <string>

#include <hondana/error.hpp>

#include "sources/git/libgit2.hpp"
#include "sources/git/work_tree.hpp"

namespace hondana::git {

/// Applies what `.gitattributes`, `info/attributes`, core.autocrlf and core.eol select: encodings, line ends and `$Id$`. With
/// the filter of Git LFS, the result is the pointer that it stores. Other filters have no effect, because no programs are run.
/// If an attribute file that concerns a path is not a regular file, or is larger than 1 MiB, that path is not converted.
/// Threads: as the repository's handle.
class stored_form {
 public:
  explicit stored_form(git_repository* repo) noexcept : repo_(repo) {}

  /// Replaces the bytes of the file at `path` by those that `git add` stores. Errors: those of `work_tree::inspect`;
  /// source_unavailable if libgit2 cannot convert the content.
  [[nodiscard]] result<void> convert(const work_tree& tree, const std::string& path, std::string& bytes);

 private:
  /// Whether libgit2 can read the attribute files of `folder` and of the folders above it. `folder`: empty, or ends in a slash.
  [[nodiscard]] result<bool> has_usable_attributes(const work_tree& tree, const std::string& folder);

  git_repository* repo_;
  std::map<std::string, bool, std::less<>> usable_folders_;
};

}  // namespace hondana::git
