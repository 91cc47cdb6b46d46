/// A temporary repository in which `git check-ignore` tells what git itself decides.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace hondana::testing {

/// What git said about one path.
struct git_answer {
  std::string path;
  std::string source;  ///< Empty when no pattern matches.
  std::size_t line = 0;
  std::string pattern;  ///< Begins with `!` when the path is included again.

  [[nodiscard]] bool ignored() const { return !source.empty() && !pattern.starts_with('!'); }
};

/// Makes a repository below the test folder and removes it at the end. Failures throw std::runtime_error.
class git_repository {
 public:
  git_repository();
  ~git_repository();
  git_repository(const git_repository&) = delete;
  git_repository& operator=(const git_repository&) = delete;

  /// Whether a git program can be run at all.
  [[nodiscard]] static bool available();

  /// Writes a file, with the folders above it. Paths are relative to the repository.
  void write(const std::string& path, std::string_view bytes) const;
  void make_folder(const std::string& path) const;

  /// Asks git about all paths at once, with no configuration but the repository's. A path that does not exist is a file.
  /// Git reads a `:` at the start of a path as pathspec magic, so none may begin with it.
  [[nodiscard]] std::vector<git_answer> check_ignore(const std::vector<std::string>& paths) const;

 private:
  std::string home_;  // holds the repository and the files git's input and output go through
  std::string root_;
};

}  // namespace hondana::testing
