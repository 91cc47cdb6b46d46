/// A repository made by the git program, which is the judge of what we say about it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hondana::git {

/// A folder of its own with a repository, removed in the end. The git program runs without the user's and the system's
/// configuration, with fixed names, and with times that go on by a minute with each commit.
class made_repository {
 public:
  /// `how` are arguments for `git init`.
  explicit made_repository(const std::vector<std::string>& how = {});
  ~made_repository();
  made_repository(const made_repository&) = delete;
  made_repository& operator=(const made_repository&) = delete;

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// The folder above, for other repositories and work trees; removed, too.
  [[nodiscard]] const std::string& above() const noexcept { return above_; }
  /// What `git -C path ARGUMENTS` prints, byte for byte; the test fails when it fails, with what it said.
  std::string git(const std::vector<std::string>& arguments, std::string_view input = {}) const;
  /// The same without failing the test: the exit code.
  int try_git(const std::vector<std::string>& arguments) const;
  /// Writes a file of the work tree, with the folders above it.
  void write(const std::string& file, std::string_view content) const;
  /// Everything as it stands now as a commit; its id.
  std::string commit(const std::string& message);

 private:
  std::string above_, path_;
  long commits_ = 0;
};

/// The git program in any folder, by the same rules.
std::string run_git(const std::string& folder, const std::vector<std::string>& arguments, std::string_view input = {});

}  // namespace hondana::git
