/// Hears of changes in the folders of skills, from the kernel or by looking, and has them looked at anew.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <hondana/provider.hpp>

namespace hondana::skills {

/// How the folders are watched.
struct watching_options {
  /// Between two looks at folders that the kernel does not watch for us, or that could not be looked at.
  std::chrono::milliseconds look_after{2000};
  std::size_t max_watched = 100'000;  ///< Folders.
  std::function<void(std::string_view)> log{};
};

/// One thread. Threads: any.
///
/// Folders that are walked are covered. What happens in them has `look` called when it has been quiet for 50 ms, and at the
/// latest half a second after it began. On a network file system, and when this user may watch no more folders, `look` is
/// called every `look_after` instead; the log says so once. After a look that failed, the next comes after `look_after`.
class watching {
 public:
  /// `folders`: the paths, for the log. `look` walks all folders, and says whether it could; it is called by the thread, which
  /// gives it its own stop token and a deadline of a minute.
  watching(std::vector<std::string> folders, std::function<bool(const call&)> look, watching_options with);
  /// Ends the thread; leaves it behind when it is stuck in a system call for more than a second.
  ~watching();
  watching(const watching&) = delete;
  watching& operator=(const watching&) = delete;

  /// Begins with a look, unless it has begun already.
  void start();
  /// A folder is about to be read: what happens in it from now on is heard. Before `start` it does nothing.
  void cover(std::size_t which, const std::string& path, int descriptor) { coverer()(which, path, descriptor); }
  /// `cover`, for who may outlive this; it does nothing then.
  [[nodiscard]] std::function<void(std::size_t, const std::string&, int)> coverer() const;
  /// Whether every folder is watched by the kernel; false before `start`.
  [[nodiscard]] bool is_complete() const;

 private:
  struct state;
  std::shared_ptr<state> state_;
};

}  // namespace hondana::skills
