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
class notices {
 public:
  /// Called by the thread to find out what has changed in the repository with this index. False: it failed, and is called
  /// again.
  using look = std::function<bool(const call&, std::size_t repository)>;

  notices(const std::vector<place>& of, look with_each, std::function<void(std::string_view)> log);

  /// Starts with a check of each repository, unless it has started already.
  void start() { lookout_->start(); }
  /// Has one repository checked now. Does nothing before `start`.
  void look_at(std::size_t repository) { lookout_->look_at(first_trees_.at(repository)); }
  /// Whether the kernel reports every change; false before `start`.
  [[nodiscard]] bool is_complete() const { return lookout_->is_complete(); }

 private:
  std::vector<std::size_t> first_trees_;  // of each repository
  std::unique_ptr<watch::lookout> lookout_;
};

/// When a file was last put in place in a folder of references. In nanoseconds since the epoch, by the clock of the file
/// system. The present time if there are more folders than are checked.
[[nodiscard]] std::int64_t latest_change_in(const place& at);

/// The state of a repository, in parts. Equal marks mean an equal state.
struct reference_marks {
  bool has_commits = false;  ///< HEAD leads to a commit.
  std::string head;          ///< The branch, the commit, and the operation in progress.
  std::string branches;      ///< Local and remote branches, and the target of each.
  std::string tags;          ///< The same.
  std::string index;         ///< The state of the index file.
  std::string config;        ///< The state of the configuration files, which contain the remotes and upstreams.
};

/// Cost: O(references). Errors: source_unavailable; cancelled if `is_stopped` returns true.
[[nodiscard]] result<reference_marks> marks_of(git_repository* in, const place& at, const std::function<bool()>& is_stopped);

/// Notifies a listener of changes. Checks the attached resources each time references have moved.
///
/// A resource has changed if a read of it would return another version. A log, which may begin anywhere, has changed if a
/// branch, a tag or HEAD has. Of the work tree, only the index is watched; edits of files are not reported. The list has
/// changed when the first commit is made, or when HEAD is on a branch without commits again.
///
/// Changes between `attach` and the first check are reported, too: the folders that git renames into show when they happened.
/// Threads: any.
class followed {
 public:
  /// `in`: sorted by slug.
  followed(std::vector<std::shared_ptr<repository>> in, bool redact, std::function<void(std::string_view)> log);
  /// Nothing is reported after this returns, except by a check that is stuck in a system call.
  ~followed();
  followed(const followed&) = delete;
  followed& operator=(const followed&) = delete;

  /// As the provider's calls of these names.
  void watch(std::shared_ptr<change_listener> to);
  void attach(const std::string& uri);
  void detach(const std::string& uri);
  void attach_list();
  void detach_list();

  /// Whether the kernel reports every change; false while nothing is attached.
  [[nodiscard]] bool is_complete() const { return notices_->is_complete(); }

 private:
  struct state;
  std::shared_ptr<state> state_;
  std::unique_ptr<notices> notices_;
};

}  // namespace hondana::git
