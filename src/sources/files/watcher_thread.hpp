/// The watcher's thread, the state it shares, and the URIs that clients watch.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <hondana/clock.hpp>

#include "os/disk/file_stamp.hpp"
#include "os/watch/debounce.hpp"
#include "os/watch/inotify.hpp"
#include "sources/files/change_tracker.hpp"
#include "sources/files/root.hpp"
#include "sources/files/watcher.hpp"

namespace hondana::files {

/// A task for the thread.
struct watch_task {
  enum class task_kind {
    watch,         ///< Adds `uri` to the watched URIs.
    unwatch,       ///< Removes `uri` from them.
    check_subtree  ///< Checks all watched URIs at and below `path` in `root`.
  } kind = task_kind::watch;
  std::string uri;                          ///< Empty for `check_subtree`.
  std::shared_ptr<const served_root> root;  ///< Null for `unwatch`.
  std::string path;
  std::int64_t watched_since = 0;  ///< For `watch`: when the client began to watch, by `disk::wall_clock`.
};

/// The URIs that clients watch, and the paths whose changes affect them. Threads: one at a time.
class watched_uris {
 public:
  /// Adds `uri`, which names `path` in `root`. Returns whether it may have changed since `watched_since` (by
  /// `disk::wall_clock`), according to its time stamp or that of the nearest existing folder above it. False if it is already
  /// watched.
  [[nodiscard]] bool add(const std::string& uri, std::shared_ptr<const served_root> root, const std::string& path,
                         std::int64_t watched_since);
  void remove(const std::string& uri);

  /// The watched URIs that a change at `path` affects: those that lead to it, also through a link, and those of its folder.
  /// With `includes_below`, also those below `path`.
  [[nodiscard]] std::vector<std::string> find_affected(const served_root& root, const std::string& path,
                                                       bool includes_below) const;
  /// All watched URIs of a root.
  [[nodiscard]] std::vector<std::string> uris_of(const served_root& root) const;
  /// Reads the stamp of the file again. Returns true if it has changed or is racy (`disk::is_racy`), so that clients must be
  /// notified. False if `uri` is not watched.
  [[nodiscard]] bool has_changed(const std::string& uri);
  /// Whether `uri` leads through a link, or did before the last check.
  [[nodiscard]] bool is_alias(const std::string& uri) const;
  /// Whether `uri` is, or last was, the folder that directly contains `path`.
  [[nodiscard]] bool has_entry(const std::string& uri, const served_root& root, const std::string& path) const;

  [[nodiscard]] std::size_t size() const noexcept { return by_uri_.size(); }

 private:
  using key = std::pair<const served_root*, std::string>;
  struct entry {
    std::shared_ptr<const served_root> root;
    std::string path;
    std::optional<disk::stamp> stamp;  // absent: it did not exist
    bool is_folder = false;            // as of the last check at which it existed
    bool is_alias = false;
    std::vector<std::string> access_paths;  // its path, the links on it, and its real path
  };

  /// Reads the stamp of the file, and records the paths that lead to it.
  void update(const std::string& uri, entry& entry);
  /// Removes the paths of `entry` from `by_path_`.
  void remove_paths(const std::string& uri, const entry& entry);

  std::unordered_map<std::string, entry> by_uri_;
  std::multimap<key, std::string> by_path_;
};

/// The path of the folder that contains `path`; empty: the root.
[[nodiscard]] inline std::string parent_folder(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string() : std::string(path.substr(0, slash));
}

/// The state of a watcher, shared with its thread. A root is identified by its index in `roots`, which is also its tree in
/// `folders`.
struct watcher::state : std::enable_shared_from_this<state> {
  state(root_list served_roots, const options& options, watcher::callbacks watch_callbacks)
      : roots(std::move(served_roots)),
        settings(options),
        callbacks(std::move(watch_callbacks)),
        polled(roots.size(), false),
        devices(roots.size(), 0) {}

  const root_list roots;
  const options settings;
  const watcher::callbacks callbacks;
  const watch::event_waiter waiter;  // of the thread

  mutable std::mutex mutex;  // guards the members up to `is_stopping`
  std::condition_variable thread_exited;
  std::condition_variable_any round_finished;  // notified after each iteration of the thread
  std::shared_ptr<change_listener> listener;
  using task_list = std::list<watch_task>;
  task_list tasks;
  // The tasks of kind `watch` in `tasks`, by URI. `unwatch` removes such a task, so that tasks do not pile up without a thread.
  std::unordered_map<std::string, task_list::iterator> pending_watches;
  std::vector<bool> polled;       // by root: whether it is polled instead of watched by the kernel
  std::vector<dev_t> devices;     // by root
  std::size_t watched_count = 0;  // watched URIs, including those of `pending_watches`
  bool is_started = false;        // `start` has succeeded; it then has no more effect
  bool is_running = false;        // the thread runs
  bool is_stopping = false;
  bool is_log_closed = false;  // the log may no longer exist; guarded by `log_mutex`
  std::mutex log_mutex;

  // Set before the thread starts. Shared with walks, and with validators.
  std::shared_ptr<watch::watched_folders> folders;  // null: no inotify queue is available, so all roots are polled
  std::shared_ptr<change_tracker> tracker;          // set if `folders` is
  delivery_monitor delivery{waiter.descriptor()};
  // Only used by the thread:
  watched_uris watched;
  watch::debouncer<watch::tree_path, watch::tree_path_hash> debouncer;
  std::chrono::steady_clock::time_point next_poll = std::chrono::steady_clock::time_point::max();  // max: no root is polled
  std::chrono::steady_clock::time_point next_root_check = monotonic_clock::now();

  void write_log(const std::string& line) {
    const std::lock_guard lock(log_mutex);
    if (settings.log && !is_log_closed) settings.log(line);
  }
  void wake_up() const noexcept { waiter.wake(); }
  /// The index of a root; nothing if it is not one of `roots`.
  [[nodiscard]] std::optional<std::size_t> index_of(const served_root& root) const {
    const auto match =
        std::find_if(roots.begin(), roots.end(), [&root](const auto& candidate) { return candidate.get() == &root; });
    if (match == roots.end()) return std::nullopt;
    return static_cast<std::size_t>(match - roots.begin());
  }

  /// The result of asking the kernel to watch a folder.
  struct watch_result {
    enum class result_kind {
      watched,
      removed,  ///< The folder no longer exists, was replaced, or is behind a link.
      remote,   ///< It is on a network file system.
      rejected  ///< The kernel has rejected it.
    } kind = result_kind::watched;
    int error = 0;  ///< For `rejected`: the errno. Otherwise 0.
  };
  // Called by any thread:
  /// With the lock held, which it releases meanwhile: starts the thread unless it was started. Returns whether a thread runs;
  /// false if `options::watches` is false.
  bool start(std::unique_lock<std::mutex>& lock);
  /// Starts the thread if necessary. Returns whether the kernel can watch this root; then `folders` is set. Does not watch any
  /// folder.
  bool ensure_watched(std::size_t index);
  /// Has the kernel watch one folder. `folders` must be set.
  watch_result add_folder(std::size_t index, const std::string& path);
  /// See `watcher::check_root`.
  void check_root(std::size_t index);
  void check_roots();
  /// Polls a root from now on, and logs why.
  void switch_to_polling(std::size_t index, const std::string& reason);
  void log_polling(std::size_t index, const std::string& reason);
  // Called by the thread only:
  /// The function of the thread.
  void run();
  /// Waits for events, tasks and due times, and handles them.
  void run_once();
  /// Handles the pending tasks, and at most 64 KiB of events. Returns false if there were no events.
  bool handle_events();
  /// Takes events from the queue and counts them in `tracker`. Returns false if there were none.
  bool read_events(std::vector<watch::folder_event>& events, bool& has_overflowed);
  void run_tasks();
  void handle_event(watch::folder_event event);
  /// Notifies clients of a change at `path`, and calls `on_changed`. `includes_below`: everything below `path` may have
  /// changed, too.
  void handle_change(std::size_t tree, const std::string& path, bool includes_below, bool may_affect_names);
  /// Notifies clients of those of `uris` that have changed. A folder that directly contains `path` in `changed_root` always
  /// counts as changed.
  void check_uris(const std::vector<std::string>& uris, const served_root* changed_root = nullptr,
                  const std::string& path = {});
  /// Checks the watched URIs of all roots, and calls `on_lost`.
  void check_all();
  /// Checks the watched URIs of polled roots, calls `on_lost`, and sets `next_poll`.
  void check_polled();
  /// Notifies the listener of a change of `uri`, also if it is an alias.
  void notify_content_changed(const std::string& uri);
  [[nodiscard]] std::chrono::steady_clock::time_point next_wakeup() const;
};

}  // namespace hondana::files
