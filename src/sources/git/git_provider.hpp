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
  std::vector<std::string> pointer_roots{};
  std::size_t max_depth = 4;  ///< Levels between one of `folders` and a repository.
  std::size_t max_repositories = 1000;
  /// Mask secrets in contents, patches and messages. Files whose names suggest credentials are never served.
  bool redact = true;
  /// Files that are never served, at no revision and not from a work tree: absolute paths, links resolved.
  std::vector<std::string> protected_paths{};
  bool watch = true;  ///< The kernel reports changes. Otherwise requests find them.
  std::function<void(std::string_view)> log{};
};

/// Documents the `git` scheme.
[[nodiscard]] scheme_documentation describe_scheme();

/// Serves git repositories, which are found when it opens. Writes and runs nothing, and reads only the folders of the
/// repositories. Threads: any.
class git_provider final : public provider {
 public:
  /// Errors: of `locate` for `repositories`, naming the path; invalid_argument if there is no repository.
  [[nodiscard]] static result<std::shared_ptr<git_provider>> open(git_options options);

  /// Whether it serves a bare repository at this path.
  [[nodiscard]] bool serves_bare(const std::string& path) const;

  [[nodiscard]] std::string name() const override;
  [[nodiscard]] std::vector<std::string> claims() const override;
  [[nodiscard]] scheme_documentation documentation() const override;
  [[nodiscard]] result<list_result> list(const list_request& request) override;
  [[nodiscard]] result<read_result> read(const read_request& request) override;
  [[nodiscard]] bool has_folders() const noexcept override;
  [[nodiscard]] result<resource> describe(const describe_request& request) override;
  [[nodiscard]] result<list_result> children(const children_request& request) override;
  [[nodiscard]] std::vector<resource_template> templates() const override;
  [[nodiscard]] result<complete_result> complete(const complete_request& request) override;
  void set_listener(std::shared_ptr<change_listener> listener) override;
  void watch(const std::string& uri) override;
  void unwatch(const std::string& uri) override;
  void watch_list() override;
  void unwatch_list() override;
  [[nodiscard]] hondana::system_requirements requirements() const override;
  [[nodiscard]] hondana::secret_masking masking() const noexcept override;
  [[nodiscard]] hondana::provider_health health() const override;

 private:
  using repositories = std::map<std::string, std::shared_ptr<repository>, std::less<>>;

  git_provider(git_options options, repositories served, std::vector<std::string> omitted);

  /// Errors: of `parse_address`; resource_not_found for an unknown repository, and for a URI that the caller may not see or, if
  /// `is_read`, not read.
  struct resolved_call;
  [[nodiscard]] result<resolved_call> resolve(const std::string& uri, const request_context& context, bool is_read) const;

  /// Errors: of `repository::acquire`; source_unavailable if no descriptor is left.
  [[nodiscard]] static result<resolved_call> resolve_in(const std::shared_ptr<repository>& served, address target);

  /// What a call works with, and what it reports.
  struct attempt;
  /// Returns the result of `operation`. Tries once more with another handle if objects were missing that may have been added
  /// since the first handle was opened. Also if no descriptor was left; then it closes idle handles first. Errors: of `find`
  /// and `operation`; source_unavailable if descriptors are still missing, and if files of the repository were truncated.
  template <class Find, class Work>
  [[nodiscard]] static auto run_call(const git_options& options, const request_context& context, const Find& find,
                                     const Work& operation);

  const git_options options_;
  const repositories repositories_;
  const std::vector<std::string> omitted_;             // paths
  const std::unique_ptr<repository_watcher> watcher_;  // null: nothing is watched
};

}  // namespace hondana::git
