/// Watches folders for changes, by inotify or by polling, and rescans those that changed.
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
  std::chrono::milliseconds quiet_time{50};  ///< Time without events after which the folders are rescanned.
  std::chrono::milliseconds max_delay{500};  ///< Maximum time from the first event to the rescan.
  /// Whether an event permits an immediate rescan, because no related event follows it. Empty: never.
  std::function<bool(const folder_event&)> allows_immediate_rescan{};
  /// Interval of rescans for folders that cannot be watched, and after a failed rescan.
  std::chrono::milliseconds rescan_interval{2000};
  std::size_t max_folders = 100'000;  ///< Maximum number of watched folders.
  std::function<void(std::string_view)> log{};
};

/// Watches folders and calls `rescan` to rescan them, on one thread of its own. Threads: any.
///
/// `rescan` walks the folders and must call `add_folder` for each of them, which watches it. `rescan` is called again when
/// events in the folders have stopped for a while. It is called every `rescan_interval` if a folder is on a network file
/// system, or if this user cannot watch more folders. The log reports this once. After a failed rescan, the next one follows
/// after `rescan_interval`.
class folder_watcher {
 public:
  /// The trees with events since the last rescan, as indexes in `folders`; empty: any tree may have changed.
  using trees = std::set<std::size_t>;

  /// `folders`: the paths, for the log. `rescan`: rescans the folders and returns whether it succeeded.
  /// It is called on the watcher's thread, with a stop token and a deadline of one minute.
  folder_watcher(std::vector<std::string> folders, std::function<bool(const request_context&, const trees&)> rescan,
                 watcher_options options);
  /// Ends the thread. Detaches it if it is blocked in a system call for more than a second.
  ~folder_watcher();
  folder_watcher(const folder_watcher&) = delete;
  folder_watcher& operator=(const folder_watcher&) = delete;

  /// Starts the thread, which rescans all folders first. Has no effect if it is already running.
  void start();
  /// Requests a rescan of one of `folders` now. Has no effect before `start`.
  void request_rescan(std::size_t folder);
  /// Watches a folder that is about to be read, so that later changes are noticed. Has no effect before `start`.
  void add_folder(std::size_t folder, const std::string& path, int descriptor) { folder_adder()(folder, path, descriptor); }
  /// `add_folder` as a function that may outlive this object. It then has no effect. It owns nothing.
  [[nodiscard]] std::function<void(std::size_t, const std::string&, int)> folder_adder() const;
  /// A function that switches one of `folders` to polling every `rescan_interval`, because part of it cannot be watched.
  /// `reason`: the reason for the log. The function may outlive this object.
  [[nodiscard]] std::function<void(std::size_t, const std::string& reason)> polling_switch() const;
  /// Whether the kernel watches every folder; false before `start`.
  [[nodiscard]] bool is_complete() const;

 private:
  struct state;
  std::shared_ptr<state> state_;
};

}  // namespace hondana::watch
