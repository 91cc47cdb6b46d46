/// Watches the served folders for changes, and notifies the server.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <hondana/capabilities.hpp>
#include <hondana/clock.hpp>
#include <hondana/provider.hpp>

#include "sources/files/change_tracker.hpp"
#include "sources/files/indexer.hpp"
#include "sources/files/options.hpp"
#include "sources/files/root.hpp"

namespace hondana::files {

/// Watches with one thread, which the first call of `watch`, `add_folder` or `watch_path` starts, if `options::watches`.
/// Threads: any.
///
/// A root on a network file system is polled every `options::refresh_interval`, because the kernel does not report changes by
/// other machines. So is a root with a folder that the kernel cannot watch, for example because of this user's limit. The log
/// says so once. In the same interval, the thread checks whether a root was deleted or replaced, for which the kernel may send
/// no event.
class watcher {
 public:
  /// Callbacks besides the listener. The thread calls them; callers of `check_root` and `check_roots` also call `on_lost`. Only
  /// `on_changed` must be set.
  struct callbacks {
    /// The entry at a path, or something below it, has changed. `may_affect_names`: entries may have been added or removed.
    std::function<void(const std::shared_ptr<const served_root>&, const std::string& path, bool may_affect_names)> on_changed;
    std::function<void()> on_modifying;  ///< A file is being written. `on_changed` follows when the writing has stopped.
    std::function<void()> on_lost;       ///< Anything may have changed.
    /// Returns the title for a notification about a URI; empty if unknown.
    std::function<std::string(std::string_view uri)> find_title;
  };

  watcher(root_list roots, const options& options, callbacks callbacks);
  /// Stops the thread. Detaches it if it is stuck in a system call for more than a second.
  ~watcher();
  watcher(const watcher&) = delete;
  watcher& operator=(const watcher&) = delete;

  /// Sets the listener for changes; null: none.
  void set_listener(std::shared_ptr<change_listener> listener);
  /// Notifies the listener of changes of `uri`, which names `path` in `root` and need not exist. Must not be called again
  /// before `unwatch`.
  void watch(const std::string& uri, std::shared_ptr<const served_root> root, std::string path);
  void unwatch(const std::string& uri);
  /// Has the kernel watch a folder. If the kernel cannot, polls the root from now on. Must be called before the folder is
  /// listed.
  void add_folder(const served_root& root, const std::string& path);
  /// As `change_tracker::make_validator`. Also null if the root is polled or no thread runs.
  [[nodiscard]] std::shared_ptr<const cache_validator> make_validator(const served_root& root, const std::string& path) const;
  /// Has the kernel watch the folders above a file that is read repeatedly, so that `make_validator` succeeds. Ignores
  /// failures.
  void watch_path(const served_root& root, const std::string& path);
  /// Checks whether the folder of a root was replaced or removed. If so, logs that, calls `on_lost`, and has all watched URIs
  /// of the root checked.
  void check_root(const served_root& root);
  /// Checks every root, as `check_root`.
  void check_roots();
  /// Waits until every kernel event before this call has been passed to the callbacks, at most until `deadline` or the deadline
  /// of `context`. Does not wait if no thread runs, or if a root was polled from the start.
  void catch_up(const request_context& context, monotonic_clock::time_point deadline) const;
  /// The monitor of kernel events, for validators. The pointer keeps the state of the watcher alive.
  [[nodiscard]] std::shared_ptr<const delivery_monitor> delivery() const;
  /// Notifies the listener that the list has changed. Threads: any.
  void notify_list_changed();
  /// Whether every root exists and is watched by the kernel. False if no thread runs.
  [[nodiscard]] bool watches_all_roots() const;

 private:
  struct state;
  std::shared_ptr<state> state_;
};

}  // namespace hondana::files
