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

#include <hondana/error.hpp>
#include <hondana/provider.hpp>

#include "os/watch/folder_watcher.hpp"
#include "sources/git/git_uri.hpp"
#include "sources/git/libgit2.hpp"
#include "sources/git/repository.hpp"
#include "sources/git/repository_location.hpp"

namespace hondana::git {

/// Watches the references of repositories with one thread. Objects and the files of a work tree are never watched.
///
/// Git puts a file in place by renaming it; then the repository is checked at once. After other events it is checked when there
/// were none for 20 ms. Threads: any.
class reference_watcher {
 public:
  /// Called by the thread to find out what has changed in the repository with this index. False: it failed, and is called
  /// again.
  using check_callback = std::function<bool(const request_context&, std::size_t repository)>;

  reference_watcher(const std::vector<repository_location>& locations, check_callback check,
                    std::function<void(std::string_view)> log);

  /// Starts with a check of each repository, unless it has started already.
  void start() { watcher_->start(); }
  /// Has one repository checked now. Does nothing before `start`.
  void request_rescan(std::size_t repository) { watcher_->request_rescan(first_trees_.at(repository)); }
  /// Whether the kernel reports every change; false before `start`.
  [[nodiscard]] bool is_complete() const { return watcher_->is_complete(); }

 private:
  std::vector<std::size_t> first_trees_;  // of each repository
  std::unique_ptr<watch::folder_watcher> watcher_;
};

/// When a file was last put in place in a folder of references. In nanoseconds since the epoch, by the clock of the file
/// system. The present time if there are more folders than are checked.
[[nodiscard]] std::int64_t latest_change_time(const repository_location& location);

/// The state of a repository, in parts. Equal etags mean an equal state.
struct reference_etags {
  bool has_commits = false;  ///< HEAD leads to a commit.
  std::string head;          ///< The branch, the commit, and the operation in progress.
  std::string branches;      ///< Local and remote branches, and the target of each.
  std::string tags;          ///< The same.
  std::string index;         ///< The state of the index file.
  std::string config;        ///< The state of the configuration files, which contain the remotes and upstreams.
};

/// Cost: O(references). Errors: source_unavailable; cancelled if `is_stopped` returns true.
[[nodiscard]] result<reference_etags> read_reference_etags(git_repository* repo, const repository_location& location,
                                                           const std::function<bool()>& is_stopped);

/// Notifies a listener of changes. Checks the watched resources each time references have moved.
///
/// A resource has changed if a read of it would return another version. A log, which may begin anywhere, has changed if a
/// branch, a tag or HEAD has. Of the work tree, only the index is watched; edits of files are not reported. The list has
/// changed when the first commit is made, or when HEAD is on a branch without commits again.
///
/// Changes between `watch` and the first check are reported, too: the folders that git renames into show when they happened.
/// Threads: any.
class repository_watcher {
 public:
  /// `repositories`: sorted by slug.
  repository_watcher(std::vector<std::shared_ptr<repository>> repositories, bool redact,
                     std::function<void(std::string_view)> log);
  /// Nothing is reported after this returns, except by a check that is stuck in a system call.
  ~repository_watcher();
  repository_watcher(const repository_watcher&) = delete;
  repository_watcher& operator=(const repository_watcher&) = delete;

  /// As the provider's calls of these names.
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
