/// Watches the served folders for changes, and notifies the server.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <hondana/clock.hpp>
#include <hondana/provider.hpp>

#include "sources/files/change_tracker.hpp"
#include "sources/files/indexer.hpp"
#include "sources/files/options.hpp"
#include "sources/files/root.hpp"

namespace hondana::files {

/// One thread, started with the first folder that is walked or the first file that is watched. Threads: any.
///
/// A root on a network file system is polled every `options::refresh_interval`, because the kernel does not report changes by
/// other machines. The same applies when this user may watch no more folders. The log says so once. As often, each root is
/// checked for being deleted or replaced: the kernel sends no event for a folder that is still open.
class watcher {
 public:
  /// Callbacks besides the server's listener, called by the thread.
  struct callbacks {
    std::function<void(const std::shared_ptr<const served_root>&, const std::string& path, bool may_affect_names)> on_changed;
    std::function<void()> on_modifying;  ///< A file is being written. `on_changed` follows when the writing has stopped.
    std::function<void()> on_lost;       ///< Anything may have changed.
    std::function<std::string(std::string_view uri)> find_title;
  };

  watcher(root_list roots, const options& options, callbacks callbacks);
  /// Stops the thread. Leaves it behind if it is stuck in a system call for more than a second.
  ~watcher();
  watcher(const watcher&) = delete;
  watcher& operator=(const watcher&) = delete;

  /// Sets the listener for changes; null: none.
  void set_listener(std::shared_ptr<change_listener> listener);
  /// Watches `uri`, which names `path` in `root`.
  void watch(const std::string& uri, std::shared_ptr<const served_root> root, std::string path);
  void unwatch(const std::string& uri);
  /// A folder is about to be listed: changes in it are reported from now on.
  void add_folder(const served_root& root, const std::string& path);
  /// As `change_tracker::make_validator`. Also null if the kernel does not watch the root.
  [[nodiscard]] std::shared_ptr<const cache_validator> make_validator(const served_root& root, const std::string& path) const;
  /// A file is read repeatedly: the folders on its path are watched from now on, as far as possible.
  void watch_path(const served_root& root, const std::string& path);
  /// Checks whether a root was replaced or removed. If so, logs that, and has everything checked again.
  void check_root(const served_root& root);
  /// The same for every root.
  void check_roots();
  /// Waits until the indexer has been notified of every change before this call, at most until `deadline`.
  void catch_up(const request_context& context, monotonic_clock::time_point deadline) const;
  /// The pointer keeps the state of the watcher alive.
  [[nodiscard]] std::shared_ptr<const delivery_monitor> delivery() const;
  /// Notifies the listener that the list has changed.
  void notify_list_changed();
  /// Whether the kernel watches every root.
  [[nodiscard]] bool watches_all_roots() const;

 private:
  struct state;
  std::shared_ptr<state> state_;
};

}  // namespace hondana::files
