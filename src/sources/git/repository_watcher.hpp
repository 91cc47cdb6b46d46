/// Watches the references of repositories, and notifies clients when a resource they subscribed to has changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/capabilities.hpp>
#include <hondana/error.hpp>
#include <hondana/provider.hpp>

#include "os/watch/folder_watcher.hpp"
#include "sources/git/git_uri.hpp"
#include "sources/git/libgit2.hpp"
#include "sources/git/repository.hpp"
#include "sources/git/repository_location.hpp"

namespace hondana::git {

/// Watches the git folders of repositories with one thread, except for objects. Does not watch the files of work trees.
///
/// After git renames a file, which is how it replaces references, calls the check at once. After other events, calls it when no
/// event has occurred for 20 ms. Threads: any.
class reference_watcher {
 public:
  /// Called on the watcher's thread to find out what has changed in a repository. `repository`: index in `locations`. Returns
  /// false if the check failed; it is then called again later.
  using check_callback = std::function<bool(const request_context&, std::size_t repository)>;

  /// `log`: may be empty.
  reference_watcher(const std::vector<repository_location>& locations, check_callback check,
                    std::function<void(std::string_view)> log);

  /// Starts the thread, which first checks each repository. Does nothing if it has been started.
  void start() { watcher_->start(); }
  /// Makes the thread check one repository soon. Does nothing before `start`.
  void request_rescan(std::size_t repository) { watcher_->request_rescan(first_trees_.at(repository)); }
  /// Whether the kernel reports every change; false before `start`.
  [[nodiscard]] bool is_complete() const { return watcher_->is_complete(); }

 private:
  std::vector<std::size_t> first_trees_;  // by repository: index of its first folder in the `folder_watcher`
  std::unique_ptr<watch::folder_watcher> watcher_;
};

/// Returns when an entry in a watched folder of the repository was last added, renamed or deleted: nanoseconds since 1970 on
/// the file system's clock. Returns the present time if there are too many folders to check.
[[nodiscard]] std::int64_t latest_change_time(const repository_location& location);

/// The state of a repository, in parts. Texts are equal if the states are equal.
struct reference_etags {
  bool has_commits = false;  ///< HEAD leads to a commit.
  std::string head;          ///< Covers the branch of HEAD, its commit, and the operation in progress.
  std::string branches;      ///< Covers all branches, replaced objects, and their targets.
  std::string tags;          ///< Covers all tags and their targets.
  std::string index;         ///< Covers size, times and inode of the index file.
  std::string config;        ///< Covers size, times and inode of the configuration files, with remotes and upstreams.
};

/// Reads the state of a repository. Cost: O(references). Errors: source_unavailable; cancelled if `is_stopped` returns true.
[[nodiscard]] result<reference_etags> read_reference_etags(git_repository* repo, const repository_location& location,
                                                           const std::function<bool()>& is_stopped);

/// Notifies a listener of changes. Checks the watched resources each time the references of their repository may have changed.
///
/// A resource has changed if a read would return another version. Exceptions: a log has changed if a branch, a tag or HEAD has.
/// Edits of files in the work tree are not noticed, only changes of the index. The list has changed if HEAD has its first
/// commit, or no commit any more.
///
/// Changes between `watch` and the first check are reported, too. Threads: any.
class repository_watcher {
 public:
  /// `redact`: as `git_options::redact`. `log`: may be empty.
  repository_watcher(std::vector<std::shared_ptr<repository>> repositories, bool redact,
                     std::function<void(std::string_view)> log);
  /// Afterwards, nothing is reported, except by a check that is stuck in a system call.
  ~repository_watcher();
  repository_watcher(const repository_watcher&) = delete;
  repository_watcher& operator=(const repository_watcher&) = delete;

  // As the functions of `provider` with these names. Without a listener, `watch` and `watch_list` do nothing.
  void set_listener(std::shared_ptr<change_listener> listener);
  void watch(const std::string& uri);
  void unwatch(const std::string& uri);
  void watch_list();
  void unwatch_list();

  /// Whether the kernel reports every change; false while nothing is watched.
  [[nodiscard]] bool is_complete() const { return reference_watcher_->is_complete(); }

 private:
  struct state;
  std::shared_ptr<state> state_;
  std::unique_ptr<reference_watcher> reference_watcher_;
};

}  // namespace hondana::git
