/// The rate limit of requests to Drive, which serves waiting readers first.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <stop_token>

#include <hondana/clock.hpp>

#include "sources/gdrive/drive/drive_error.hpp"

namespace hondana::drive {

/// Whose request it is. Those in front go first.
enum class lane : std::uint8_t {
  reading,   ///< Somebody waits for it.
  polling,   ///< What has changed.
  crawling,  ///< Everything else.
};
inline constexpr std::size_t lanes = 3;

struct rate {
  double per_second = 20;     ///< At most this many at once after a rest. More than 0.
  double per_minute = 1'200;  ///< More than 0.
};

/// Two token buckets, and a time before which nothing goes because Drive has said so. Threads: any.
class budget {
 public:
  using clock = monotonic_clock;

  explicit budget(rate allowed);

  /// Waits for a turn. A lane goes only when nobody waits in one before it, except that every sixteenth turn is of whoever
  /// waits longest. Errors: when the turn would come after `until`, at once and with `retry`: rate_limited where Google has
  /// said that nothing is to go, else busy; cancelled. Their texts are without what was to be done.
  [[nodiscard]] answer<void> take(lane of, clock::time_point until, const std::stop_token& stop);
  /// Nothing goes for so long; a longer pause of before stays.
  void pause(clock::duration so_long);

  struct figures {
    std::uint64_t taken = 0;   ///< Turns given, ever.
    std::uint64_t waited = 0;  ///< Of these, not at once.
    std::uint64_t pauses = 0;
    std::size_t waiting = 0;       ///< Now.
    clock::duration paused_for{};  ///< From now on.
  };
  [[nodiscard]] figures now() const;

 private:
  struct bucket {
    double most;
    double a_second;
    double left;
  };
  void fill(clock::time_point at);
  void wake();
  [[nodiscard]] clock::time_point next_turn(clock::time_point at) const;
  [[nodiscard]] bool is_first(lane of) const noexcept;

  mutable std::mutex mutex_;
  std::condition_variable_any turn_;
  bucket second_, minute_;
  clock::time_point filled_;
  clock::time_point paused_until_{};
  std::size_t waiting_[lanes] = {};
  std::uint64_t news_ = 0;  // changes whenever somebody else may be first
  figures told_{};
};

}  // namespace hondana::drive
