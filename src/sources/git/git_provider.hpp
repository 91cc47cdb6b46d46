/// The provider of `git://` resources: history, trees, files at revisions, and diffs.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/capabilities.hpp>
#include <hondana/provider.hpp>

#include "sources/git/git_uri.hpp"
#include "sources/git/repository.hpp"
#include "sources/git/repository_watcher.hpp"

namespace hondana::git {

/// Which repositories are served, and how.
struct git_options {
  /// Paths of work trees or bare repositories. If one of them cannot be served, `open` fails.
  std::vector<std::string> repositories{};
  /// Folders: all repositories at and below them are served. Those that cannot be served are left out, and `log` gets the
  /// reason.
  std::vector<std::string> folders{};
  /// Further folders that the repositories' pointers may lead into, such as the main repository of a linked work tree. Pointers
  /// may always lead into `repositories` and `folders`.
  std::vector<std::string> pointer_roots{};
  std::size_t max_depth = 4;            ///< Levels that are searched below each of `folders`.
  std::size_t max_repositories = 1000;  ///< In each of `folders`. Further ones are left out.
  /// Mask secrets in contents, patches and messages. Files whose names suggest credentials are never served.
  bool redact = true;
  /// Files that are never served, at any revision or from a work tree: absolute paths without links.
  std::vector<std::string> protected_paths{};
  bool watch = true;                            ///< Watch the repositories, and notify clients of changes.
  std::function<void(std::string_view)> log{};  ///< May be empty. Threads: any.
};

/// Documents the `git` scheme.
[[nodiscard]] scheme_documentation describe_scheme();

/// Serves git repositories. Searches for them only in `open`. Writes and runs nothing, and reads only the folders of the
/// repositories. Threads: any.
class git_provider final : public provider,
                           public entry_source,
                           public folder_source,
                           public template_source,
                           public completion_source,
                           public change_source,
                           public watch_source,
                           public list_watch_source,
                           public health_source {
 public:
  /// Finds and opens the repositories. Errors: those of `locate` for one of `repositories`, naming the path; invalid_argument
  /// if there is no repository; source_unavailable.
  [[nodiscard]] static result<std::shared_ptr<git_provider>> open(git_options options);

  /// Whether a bare repository at this path is served.
  [[nodiscard]] bool serves_bare(const std::string& path) const;

  [[nodiscard]] std::string name() const override;
  [[nodiscard]] std::vector<std::string> claims() const override;
  [[nodiscard]] scheme_documentation documentation() const override;
  [[nodiscard]] result<list_result> list(const list_request& request) override;
  [[nodiscard]] result<read_result> read(const read_request& request) override;
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
  [[nodiscard]] provider_traits traits() const noexcept override;
  [[nodiscard]] hondana::provider_health health() const override;

 private:
  using repositories = std::map<std::string, std::shared_ptr<repository>, std::less<>>;  // by slug

  git_provider(git_options options, repositories served, std::vector<std::string> omitted);

  /// The address and the repository of a call, with a handle.
  struct resolved_call;
  /// Parses a URI, and acquires a handle of its repository. Errors: those of `parse_address` and `resolve_in`;
  /// resource_not_found for an unknown repository, and for a URI that the caller may not see or, if `is_read`, not read.
  [[nodiscard]] result<resolved_call> resolve(const std::string& uri, const request_context& context, bool is_read) const;

  /// Acquires a handle. If no descriptors are left, closes all idle handles and tries again. Errors: those of
  /// `repository::acquire`; source_unavailable if descriptors are still missing.
  [[nodiscard]] static result<resolved_call> resolve_in(const std::shared_ptr<repository>& served, address target);

  /// The input of an operation, and whether its result is incomplete.
  struct attempt;
  /// Runs `find`, which returns a `resolved_call`, and then `operation` with an `attempt`. Returns the result of `operation`.
  /// Runs both again, once, if objects were missing that may have been added since the handle was opened, or if no descriptors
  /// were left. Errors: those of `find` and `operation`; source_unavailable if descriptors are still missing, or if files of
  /// the repository were truncated.
  template <class Find, class Work>
  [[nodiscard]] static auto run_call(const git_options& options, const request_context& context, const Find& find,
                                     const Work& operation);

  const git_options options_;
  const repositories repositories_;
  const std::vector<std::string> omitted_;             // paths of repositories and folders that are not served completely
  const std::unique_ptr<repository_watcher> watcher_;  // null: `watch` is false
};

}  // namespace hondana::git
