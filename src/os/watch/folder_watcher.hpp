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
struct lookout_options {
  std::string what = "files";             ///< For the log: "changes of <what> in <path> are polled every 2000 ms".
  std::chrono::milliseconds quiet{50};    ///< Time without events after which the folders are rescanned.
  std::chrono::milliseconds latest{500};  ///< Maximum time from the first event to the rescan.
  /// Whether an event permits an immediate rescan, because no related event follows it. Empty: never.
  std::function<bool(const happening&)> is_whole{};
  /// Interval of rescans for folders that cannot be watched, and after a failed rescan.
  std::chrono::milliseconds look_after{2000};
  std::size_t max_watched = 100'000;  ///< Maximum number of watched folders.
  std::function<void(std::string_view)> log{};
};

/// Watches folders and calls `look` to rescan them, on one thread of its own. Threads: any.
///
/// `look` walks the folders and must call `cover` for each of them, which watches it. `look` is called again when events in
/// the folders have stopped for a while. It is called every `look_after` if a folder is on a network file system, or if this
/// user cannot watch more folders. The log reports this once. After a failed rescan, the next one follows after `look_after`.
class lookout {
 public:
  /// The trees with events since the last rescan, as indexes in `folders`; empty: any tree may have changed.
  using trees = std::set<std::size_t>;

  /// `folders`: the paths, for the log. `look`: rescans the folders and returns whether it succeeded.
  /// It is called on the watcher's thread, with a stop token and a deadline of one minute.
  lookout(std::vector<std::string> folders, std::function<bool(const call&, const trees&)> look, lookout_options with);
  /// Ends the thread. Detaches it if it is blocked in a system call for more than a second.
  ~lookout();
  lookout(const lookout&) = delete;
  lookout& operator=(const lookout&) = delete;

  /// Starts the thread, which rescans all folders first. Has no effect if it is already running.
  void start();
  /// Requests a rescan of one of `folders` now. Has no effect before `start`.
  void look_at(std::size_t which);
  /// Watches a folder that is about to be read, so that later changes are noticed. Has no effect before `start`.
  void cover(std::size_t which, const std::string& path, int descriptor) { coverer()(which, path, descriptor); }
  /// `cover` as a function that may outlive this object. It then has no effect. It owns nothing.
  [[nodiscard]] std::function<void(std::size_t, const std::string&, int)> coverer() const;
  /// A function that switches one of `folders` to polling every `look_after`, because part of it cannot be watched.
  /// `why`: the reason for the log. The function may outlive this object.
  [[nodiscard]] std::function<void(std::size_t, const std::string& why)> giver_up() const;
  /// Whether the kernel watches every folder; false before `start`.
  [[nodiscard]] bool is_complete() const;

 private:
  struct state;
  std::shared_ptr<state> state_;
};

}  // namespace hondana::watch
