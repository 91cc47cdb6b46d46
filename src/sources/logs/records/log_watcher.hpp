/// Watches the files of a log, and notifies when they are written or rotated.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include <hondana/error.hpp>

#include "sources/logs/records/rotated_files.hpp"

namespace hondana::records {

/// Watches the files of a log on one thread, with inotify. If that is not possible, or the folder does not exist, examines the
/// files every `poll_interval` instead.
class log_watcher {
 public:
  static constexpr std::chrono::milliseconds report_interval{15};  ///< Changes within this time are reported together.
  static constexpr std::chrono::milliseconds poll_interval{500};

  /// Starts the thread, which calls both functions. If it cannot be started, they are never called.
  /// `on_change`: called at once after a change, and then at most every `report_interval` while changes continue. Called once
  /// more when a last line without a line end counts as complete. `check`: called before `on_change` after changes other than
  /// writes, when the log may have become readable or unreadable.
  log_watcher(log_file_set set, std::function<void()> on_change, std::function<void()> check);
  /// Ends the thread. Waits for a running `on_change`, which is not called after this returns. May be called by `on_change`.
  ~log_watcher();
  log_watcher(const log_watcher&) = delete;
  log_watcher& operator=(const log_watcher&) = delete;

 private:
  struct state;
  std::shared_ptr<state> state_;
};

}  // namespace hondana::records
