/// The provider of `git://` resources: history, trees, files at revisions, and diffs.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/provider.hpp>

#include "sources/git/git_uri.hpp"
#include "sources/git/repository.hpp"
#include "sources/git/repository_watcher.hpp"

namespace hondana::git {

/// Which repositories are served, and how.
struct git_options {
  /// Work trees or bare folders. Each must be a repository that can be served.
  std::vector<std::string> repositories{};
  /// Folders: all repositories at and below them are served. Those that cannot be are left out, and `log` gets the reason.
  std::vector<std::string> folders{};
  /// Where pointers of repositories may lead, besides themselves and `folders`: to the main repository of a linked work tree.
  std::vector<std::string> within{};
  std::size_t depth = 4;  ///< Levels between one of `folders` and a repository.
  std::size_t most_repositories = 1000;
  /// Mask secrets in contents, patches and messages. Files whose names suggest credentials are never served.
  bool redact = true;
  /// Files that are never served, at no revision and not from a work tree: absolute paths, links resolved.
  std::vector<std::string> keep_back{};
  bool watch = true;  ///< The kernel reports changes. Otherwise requests find them.
  std::function<void(std::string_view)> log{};
};

/// Documents the `git` scheme.
[[nodiscard]] scheme_documentation describe();

/// Serves git repositories, which are found when it opens. Writes and runs nothing, and reads only the folders of the
/// repositories. Threads: any.
class git_provider final : public provider {
 public:
  /// Errors: of `locate` for `repositories`, naming the path; invalid_argument if there is no repository.
  [[nodiscard]] static result<std::shared_ptr<git_provider>> open(git_options from);

  /// Whether it serves a bare repository at this path.
  [[nodiscard]] bool serves_bare(const std::string& path) const;

  [[nodiscard]] std::string name() const override;
  [[nodiscard]] std::vector<std::string> claims() const override;
  [[nodiscard]] scheme_documentation documentation() const override;
  [[nodiscard]] result<list_result> list(const list_request& request) override;
  [[nodiscard]] result<reading> read(const read_request& request) override;
  [[nodiscard]] bool lists_folders() const noexcept override;
  [[nodiscard]] result<resource> describe(const describe_request& request) override;
  [[nodiscard]] result<list_result> children(const children_request& request) override;
  [[nodiscard]] std::vector<resource_template> templates() const override;
  [[nodiscard]] result<complete_result> complete(const complete_request& request) override;
  void watch(std::shared_ptr<change_listener> to) override;
  void attach(const std::string& uri) override;
  void detach(const std::string& uri) override;
  void attach_list() override;
  void detach_list() override;
  [[nodiscard]] hondana::needs needs() const override;
  [[nodiscard]] hondana::masking masking() const noexcept override;
  [[nodiscard]] hondana::health health() const override;

 private:
  using repositories = std::map<std::string, std::shared_ptr<repository>, std::less<>>;

  git_provider(git_options options, repositories all, std::vector<std::string> left_out);

  /// Errors: of `parse_address`; resource_not_found for an unknown repository, and for a URI that the caller may not see or, if
  /// `is_read`, not read.
  struct target;
  [[nodiscard]] result<target> find(const std::string& uri, const call& by, bool is_read) const;

  /// Errors: of `repository::take`; source_unavailable if no descriptor is left.
  [[nodiscard]] static result<target> target_in(const std::shared_ptr<repository>& of, address at);

  /// What a call works with, and what it reports.
  struct attempt;
  /// Returns the result of `work`. Tries once more with another handle if objects were missing that may have been added since
  /// the first handle was opened. Also if no descriptor was left; then it closes idle handles first.
  /// Errors: of `find` and `work`; source_unavailable if descriptors are still missing, and if files of the repository were
  /// truncated.
  template <class Find, class Work>
  [[nodiscard]] static auto answered(const git_options& options, const call& by, const Find& find, const Work& work);

  const git_options options_;
  const repositories repositories_;
  const std::vector<std::string> left_out_;   // paths
  const std::unique_ptr<followed> followed_;  // null: nothing is watched
};

}  // namespace hondana::git
