/// Watches trees of folders for changes, by inotify or by polling, and rescans those that changed.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <hondana/provider.hpp>

#include "os/watch/inotify.hpp"

namespace hondana::watch {

/// How folders are watched.
struct watcher_options {
  std::string subject = "files";             ///< For the log: "changes of <subject> in <path> are polled every 2000 ms".
  std::chrono::milliseconds quiet_time{50};  ///< Time without events before a rescan.
  std::chrono::milliseconds max_delay{500};  ///< Maximum time from the first event to the rescan.
  /// Whether a rescan may follow an event immediately, because no related event will come. Empty: never.
  /// Called on the watcher's thread.
  std::function<bool(const folder_event&)> allows_immediate_rescan{};
  /// Interval of rescans while a tree is polled, and the delay after a failed rescan.
  std::chrono::milliseconds rescan_interval{2000};
  std::size_t max_folders = 100'000;            ///< Maximum number of watched folders.
  std::function<void(std::string_view)> log{};  ///< Called from any thread, one call at a time.
};

/// Watches trees of folders, and calls the function `rescan` on one thread of its own. Threads: any.
///
/// `rescan` walks the trees, and must call `add_folder` for each folder, which watches it. After events in watched folders,
/// `rescan` is called when `quiet_time` or `max_delay` has passed.
/// A tree on a network file system, or with folders that the kernel cannot watch, is polled: `rescan` is called every
/// `rescan_interval`. This is logged once for each tree.
class folder_watcher {
 public:
  /// The trees with events since the last rescan, as indexes in `folders`; empty: any tree may have changed.
  using trees = std::set<std::size_t>;

  /// `folders`: the paths of the roots of the trees, used for the log only.
  /// `rescan`: rescans trees and returns whether that succeeded. An exception counts as a failure. The context has a stop
  /// token, and a deadline of one minute.
  folder_watcher(std::vector<std::string> folders, std::function<bool(const request_context&, const trees&)> rescan,
                 watcher_options options);
  /// Stops the thread, and waits for it at most a second. A call of `rescan` that takes longer continues without this object.
  ~folder_watcher();
  folder_watcher(const folder_watcher&) = delete;
  folder_watcher& operator=(const folder_watcher&) = delete;

  /// Starts the thread, which first rescans all trees. Does nothing if it is already running.
  void start();
  /// Requests a rescan of a tree, without delay. Does not wait for it. Does nothing before `start`.
  /// `folder`: the tree, as an index in `folders`.
  void request_rescan(std::size_t folder);
  /// Watches a folder. Call it before the folder is read, so that later changes are noticed. Does nothing before `start`.
  /// `folder`: its tree, as an index in `folders`. `path`: relative to the root of the tree; empty: the root.
  /// `descriptor`: of the open folder, needed only during the call.
  void add_folder(std::size_t folder, const std::string& path, int descriptor) { folder_adder()(folder, path, descriptor); }
  /// Returns `add_folder` as a function that may outlive this object, and then does nothing.
  [[nodiscard]] std::function<void(std::size_t, const std::string&, int)> folder_adder() const;
  /// Returns a function that makes a tree polled, for folders that cannot be watched. Its first argument is an index in
  /// `folders`. `reason`: why, for the log. The function may outlive this object.
  [[nodiscard]] std::function<void(std::size_t, const std::string& reason)> polling_switch() const;
  /// Whether no tree is polled; false before `start`.
  [[nodiscard]] bool is_complete() const;

 private:
  struct state;
  std::shared_ptr<state> state_;
};

}  // namespace hondana::watch
