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

/// How the folders are watched.
struct lookout_options {
  std::string what = "files";             ///< For the log: "changes of <what> in <path> are polled every 2000 ms".
  std::chrono::milliseconds quiet{50};    ///< After the latest of what happens, and
  std::chrono::milliseconds latest{500};  ///< after the first of it at the latest, it is looked at.
  /// Says of what has happened whether it may be looked at now, since nothing belonging to it follows. Empty: never.
  std::function<bool(const happening&)> is_whole{};
  /// Between two looks at folders that the kernel does not watch for us, or that could not be looked at.
  std::chrono::milliseconds look_after{2000};
  std::size_t max_watched = 100'000;  ///< Folders.
  std::function<void(std::string_view)> log{};
};

/// One thread. Threads: any.
///
/// Folders that are walked are covered. What happens in them has `look` called when it has been quiet for a while. On a network
/// file system, and when this user may watch no more folders, `look` is called every `look_after` instead; the log says so
/// once. After a look that failed, the next comes after `look_after`.
class lookout {
 public:
  /// The trees that something has happened in since the last look, by their place in `folders`; empty: perhaps in all.
  using trees = std::set<std::size_t>;

  /// `folders`: the paths, for the log. `look` walks the folders, and says whether it could; it is called by the thread, which
  /// gives it its own stop token and a deadline of a minute.
  lookout(std::vector<std::string> folders, std::function<bool(const call&, const trees&)> look, lookout_options with);
  /// Ends the thread; leaves it behind when it is stuck in a system call for more than a second.
  ~lookout();
  lookout(const lookout&) = delete;
  lookout& operator=(const lookout&) = delete;

  /// Begins with a look, unless it has begun already.
  void start();
  /// Has it look at one of `folders` now, as if something had happened there. Before `start` it does nothing.
  void look_at(std::size_t which);
  /// A folder is about to be read: what happens in it from now on is heard. Before `start` it does nothing.
  void cover(std::size_t which, const std::string& path, int descriptor) { coverer()(which, path, descriptor); }
  /// `cover`, for who may outlive this; it does nothing then, and keeps nothing alive.
  [[nodiscard]] std::function<void(std::size_t, const std::string&, int)> coverer() const;
  /// One of `folders` has what cannot be covered: from now on it is looked at every `look_after`, and the log says why. Keeps
  /// nothing alive either.
  [[nodiscard]] std::function<void(std::size_t, const std::string& why)> giver_up() const;
  /// Whether every folder is watched by the kernel; false before `start`.
  [[nodiscard]] bool is_complete() const;

 private:
  struct state;
  std::shared_ptr<state> state_;
};

}  // namespace hondana::watch
