/// The watcher's thread, the state it shares, and the URIs that clients watch.
#pragma once

#include <sys/eventfd.h>
#include <sys/types.h>
#include <unistd.h>

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
  enum class task_kind { watch, unwatch, check_subtree } kind = task_kind::watch;
  std::string uri;
  std::shared_ptr<const served_root> root;
  std::string path;
  std::int64_t watched_since = 0;  ///< By `disk::wall_clock`.
};

/// The URIs that clients watch, and the paths that they depend on. Threads: one at a time.
class watched_uris {
 public:
  /// Begins to watch `uri`, which names `path` in `root`. True if it has changed since `watched_since` (by `wall_clock`),
  /// judged by time stamps. These move in ticks, so in doubt the answer is true.
  [[nodiscard]] bool add(const std::string& uri, std::shared_ptr<const served_root> root, const std::string& path,
                         std::int64_t watched_since);
  void remove(const std::string& uri);

  /// The URIs that a change at `path` concerns: those with that path, also through a link, and the folder around it, whose
  /// content lists it. With `includes_below`, also those below the path.
  [[nodiscard]] std::vector<std::string> find_affected(const served_root& root, const std::string& path,
                                                       bool includes_below) const;
  /// All URIs of a root.
  [[nodiscard]] std::vector<std::string> uris_of(const served_root& root) const;
  /// Checks the file again. True if clients must be notified, also if the stamp cannot show a change.
  [[nodiscard]] bool has_changed(const std::string& uri);
  /// Whether it leads through a link, or did before the last check, and so is another name of a file that may have changed.
  [[nodiscard]] bool is_alias(const std::string& uri) const;
  /// Whether it is, or was, a folder whose content includes `path`.
  [[nodiscard]] bool has_entry(const std::string& uri, const served_root& root, const std::string& path) const;

  [[nodiscard]] std::size_t size() const noexcept { return by_uri_.size(); }

 private:
  using key = std::pair<const served_root*, std::string>;
  struct entry {
    std::shared_ptr<const served_root> root;
    std::string path;
    std::optional<disk::stamp> stamp;  // absent: it did not exist
    bool is_folder = false;
    bool is_alias = false;
    std::vector<std::string> access_paths;  // its path, the links on it, and its real path
  };

  /// Reads the state of the file, and records the paths that lead to it.
  void update(const std::string& uri, entry& entry);
  void remove_paths(const std::string& uri, const entry& entry);

  std::unordered_map<std::string, entry> by_uri_;
  std::multimap<key, std::string> by_path_;
};

/// The folder that contains a path; empty: the root.
[[nodiscard]] inline std::string parent_folder(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string() : std::string(path.substr(0, slash));
}

struct watcher::state : std::enable_shared_from_this<state> {
  state(root_list served_roots, const options& options, watcher::callbacks watch_callbacks)
      : roots(std::move(served_roots)),
        settings(options),
        callbacks(std::move(watch_callbacks)),
        polled(roots.size(), false),
        devices(roots.size(), 0) {}
  ~state() {
    if (wakeup >= 0) ::close(wakeup);
  }
  state(const state&) = delete;
  state& operator=(const state&) = delete;

  const root_list roots;
  const options settings;
  const watcher::callbacks callbacks;
  int wakeup = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

  mutable std::mutex mutex;
  std::condition_variable thread_exited;
  std::condition_variable_any round_finished;  // notified after each iteration of the thread
  std::shared_ptr<change_listener> listener;
  using task_list = std::list<watch_task>;
  task_list tasks;
  // Tasks for URIs that the thread does not watch yet. `unwatch` removes the task, so that short-lived ones do not pile up.
  std::unordered_map<std::string, task_list::iterator> pending_watches;
  std::vector<bool> polled;    // roots without kernel events
  std::vector<dev_t> devices;  // of each root
  std::size_t watched_count = 0;
  bool is_started = false;
  bool is_running = false;
  bool is_stopping = false;
  bool is_log_closed = false;  // the log may no longer exist
  std::mutex log_mutex;

  // Set before the thread starts. Shared with walks, and with validators.
  std::shared_ptr<watch::watched_folders> folders;
  std::shared_ptr<change_tracker> tracker;  // set if `folders` is
  delivery_monitor delivery{wakeup};
  // Only used by the thread:
  watched_uris watched;
  watch::debouncer<watch::tree_path, watch::tree_path_hash> debouncer;
  std::chrono::steady_clock::time_point next_poll = std::chrono::steady_clock::time_point::max();
  std::chrono::steady_clock::time_point next_root_check = monotonic_clock::now();

  void write_log(const std::string& line) {
    const std::lock_guard lock(log_mutex);
    if (settings.log && !is_log_closed) settings.log(line);
  }
  void wake_up() const noexcept { (void)::eventfd_write(wakeup, 1); }  // fails if full: then it is already signalled
  [[nodiscard]] std::optional<std::size_t> index_of(const served_root& root) const {
    const auto match =
        std::find_if(roots.begin(), roots.end(), [&root](const auto& candidate) { return candidate.get() == &root; });
    if (match == roots.end()) return std::nullopt;
    return static_cast<std::size_t>(match - roots.begin());
  }

  /// The result of asking the kernel to watch a folder.
  struct watch_result {
    enum class result_kind { watched, removed, remote, rejected } kind = result_kind::watched;
    int error = 0;  ///< An errno, if it was rejected.
  };
  bool start(std::unique_lock<std::mutex>& lock);
  bool ensure_watched(std::size_t index);
  watch_result add_folder(std::size_t index, const std::string& path);
  void check_root(std::size_t index);
  void check_roots();
  void switch_to_polling(std::size_t index, const std::string& reason);
  void log_polling(std::size_t index, const std::string& reason);
  void run();
  void run_once();
  bool handle_events();
  bool read_events(std::vector<watch::folder_event>& events, bool& has_overflowed);
  void run_tasks();
  void handle_event(watch::folder_event event);
  void handle_change(std::size_t tree, const std::string& path, bool includes_below, bool may_affect_names);
  void check_uris(const std::vector<std::string>& uris, const served_root* changed_root = nullptr,
                  const std::string& path = {});
  void check_all();
  void check_polled();
  void notify_content_changed(const std::string& uri);
  [[nodiscard]] std::chrono::steady_clock::time_point next_wakeup() const;
};

}  // namespace hondana::files
