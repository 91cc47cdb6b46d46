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

struct git_options {
  /// Work trees or bare folders; each must be a repository that can be served.
  std::vector<std::string> repositories{};
  /// Folders at and below which all repositories are served that can be; why another is left out is told to `log`.
  std::vector<std::string> folders{};
  /// Where pointers of repositories may lead, besides themselves and `folders`: the main repository of a linked work tree.
  std::vector<std::string> within{};
  std::size_t depth = 4;  ///< Folders between one of `folders` and a repository.
  std::size_t most_repositories = 1000;
  /// Secrets in contents, patches and messages are masked. Files whose names say that they hold credentials are never served.
  bool redact = true;
  /// Files that are served at no revision and not as they are in a work tree: absolute, links resolved.
  std::vector<std::string> keep_back{};
  bool watch = true;  ///< Changes are heard from the kernel; else found when somebody asks.
  std::function<void(std::string_view)> log{};
};

/// The documentation of the scheme.
[[nodiscard]] scheme_documentation describe();

/// Nothing is written, run, or read outside of what the repositories' places say. Repositories are found when it opens.
/// Threads: any.
class git_provider final : public provider {
 public:
  /// Errors: of `locate` for `repositories`, naming the path; invalid_argument when none is found.
  [[nodiscard]] static result<std::shared_ptr<git_provider>> open(git_options from);

  /// Whether a bare repository is served that lies there.
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

  /// Errors: of `parse_address`; resource_not_found for repositories that there are not, and for what the caller may not see,
  /// or read where `is_read`.
  struct target;
  [[nodiscard]] result<target> find(const std::string& uri, const call& by, bool is_read) const;

  /// Errors: of `repository::take`; source_unavailable where no descriptor is left.
  [[nodiscard]] static result<target> target_in(const std::shared_ptr<repository>& of, address at);

  /// What a call may use, and what it tells.
  struct attempt;
  /// What `work` makes of an attempt. Once more with another handle where objects were lacking that may have come since the
  /// first was opened, and where no descriptor was left, which closes those that are idle. Errors: of `find` and `work`;
  /// source_unavailable where descriptors are lacking all the same, and where files of the repository became shorter.
  template <class Find, class Work>
  [[nodiscard]] static auto answered(const git_options& options, const call& by, const Find& find, const Work& work);

  const git_options options_;
  const repositories repositories_;
  const std::vector<std::string> left_out_;   // paths
  const std::unique_ptr<followed> followed_;  // null: nothing is watched
};

}  // namespace hondana::git
