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

/// One thread for all repositories. Only folders of references are watched, never objects or the files of a work tree.
///
/// git puts a file in place by renaming: then it is looked at at once; else when nothing has happened for 20 ms.
/// Threads: any.
class notices {
 public:
  /// Finds out, by the thread, what has changed in the repository of that number. False: it could not, and is asked again.
  using look = std::function<bool(const call&, std::size_t repository)>;

  notices(const std::vector<place>& of, look with_each, std::function<void(std::string_view)> log);

  /// Begins with a look at each, unless it has begun already.
  void start() { lookout_->start(); }
  /// Has one looked at now; before `start` it does nothing.
  void look_at(std::size_t repository) { lookout_->look_at(first_trees_.at(repository)); }
  /// Whether the kernel tells of every change; false before `start`.
  [[nodiscard]] bool is_complete() const { return lookout_->is_complete(); }

 private:
  std::vector<std::size_t> first_trees_;  // of each repository
  std::unique_ptr<watch::lookout> lookout_;
};

/// When something was last put in place where references are, by the clock of the file system: nanoseconds since 1970. Now,
/// where there are more folders than are looked at.
[[nodiscard]] std::int64_t latest_change_in(const place& at);

/// What is equal is of the same state.
struct reference_marks {
  bool has_commits = false;  ///< HEAD leads to one.
  std::string head;          ///< The branch, the commit, and what is under way.
  std::string branches;      ///< Local and remote ones, and what each leads to.
  std::string tags;          ///< The same.
  std::string index;         ///< The state of the index file.
  std::string config;        ///< Of the configuration, which has the remotes and upstreams.
};

/// Cost: O(references). Errors: source_unavailable; cancelled when `is_stopped` says so.
[[nodiscard]] result<reference_marks> marks_of(git_repository* in, const place& at, const std::function<bool()>& is_stopped);

/// Tells a listener of changes, by looking at what is followed each time that references have moved.
///
/// A resource has changed when a read of it would give another version; a log, which may begin anywhere, when a branch, a tag
/// or HEAD is another. Of the work tree only the index is heard of: whoever edits a file tells nobody. The list has changed
/// when the first commit is made, or HEAD is on a branch without one again.
///
/// What happens between `attach` and the first look is told as well: the folders that git renames into say when that was.
/// Threads: any.
class followed {
 public:
  /// `in` in the order of their slugs.
  followed(std::vector<std::shared_ptr<repository>> in, bool redact, std::function<void(std::string_view)> log);
  /// Nothing is told any more once this returns, but by a look that is stuck in a system call.
  ~followed();
  followed(const followed&) = delete;
  followed& operator=(const followed&) = delete;

  /// As the calls of `provider` of these names.
  void watch(std::shared_ptr<change_listener> to);
  void attach(const std::string& uri);
  void detach(const std::string& uri);
  void attach_list();
  void detach_list();

  /// Whether the kernel tells of every change; false while nobody follows anything.
  [[nodiscard]] bool is_complete() const { return notices_->is_complete(); }

 private:
  struct state;
  std::shared_ptr<state> state_;
  std::unique_ptr<notices> notices_;
};

}  // namespace hondana::git
