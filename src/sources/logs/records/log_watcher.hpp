/// Watches the files of a log, and notifies when they are written or rotated.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include <hondana/error.hpp>

#include "sources/logs/records/rotated_files.hpp"

namespace hondana::records {

/// Watches the files of a log on one thread, with inotify. If that is not possible, or the folder does not exist, it checks
/// every `look_after` instead.
class following {
 public:
  static constexpr std::chrono::milliseconds together{15};  ///< Changes within this time are reported together.
  static constexpr std::chrono::milliseconds look_after{500};

  /// Both callbacks run on the thread.
  /// `changed`: called at once after a change, and then at most every `together` while changes continue. Called once more when
  /// a last line without a line end counts as complete.
  /// `look`: called after changes other than writes, to check what is wrong.
  following(set_place where, std::function<void()> changed, std::function<void()> look);
  /// `changed` is not called after this returns, unless it runs within `changed`.
  ~following();
  following(const following&) = delete;
  following& operator=(const following&) = delete;

 private:
  struct state;
  std::shared_ptr<state> state_;
};

}  // namespace hondana::records
