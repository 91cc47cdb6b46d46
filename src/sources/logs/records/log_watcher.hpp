/// Watches the files of a log, and notifies when they are written or rotated.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include <hondana/error.hpp>

#include "sources/logs/records/rotated_files.hpp"

namespace hondana::records {

/// One thread while it lives. The kernel tells it of the folder; where it cannot, and while the folder is not there, it looks
/// by itself, every `look_after`.
class following {
 public:
  static constexpr std::chrono::milliseconds together{15};  ///< What happens within it is told once.
  static constexpr std::chrono::milliseconds look_after{500};

  /// `changed` is called by the thread: at once when something happened, and then every `together` at most while it goes on;
  /// once more when a last line without an end has settled. `look` is called by the thread, too, whenever something happened,
  /// and says what is wrong now.
  following(set_place where, std::function<void()> changed, std::function<void()> look);
  /// `changed` is not called after this returned, but for from within it.
  ~following();
  following(const following&) = delete;
  following& operator=(const following&) = delete;

 private:
  struct state;
  std::shared_ptr<state> state_;
};

}  // namespace hondana::records
