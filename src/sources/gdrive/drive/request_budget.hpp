/// Limits the rate of requests to Drive, and serves waiting readers first.
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

/// The priority class of a request, highest first.
enum class lane : std::uint8_t {
  reading,   ///< A caller waits for the answer.
  polling,   ///< Polls a change log.
  crawling,  ///< Everything else, such as a full listing.
};
inline constexpr std::size_t lanes = 3;

/// The rate limit of a client.
struct rate {
  double per_second = 20;     ///< Also the largest burst after a pause. More than 0.
  double per_minute = 1'200;  ///< More than 0.
};

/// Two token buckets (per second, per minute) and a time before which Drive allows no request. Threads: any.
class budget {
 public:
  using clock = monotonic_clock;

  explicit budget(rate allowed);

  /// Waits for a turn. A request waits while one of a higher priority does; every sixteenth turn goes to the lowest priority
  /// that waits. Errors: at once, with `retry`, if the turn would come after `until`: rate_limited if Google has requested a
  /// pause, else busy; cancelled. The caller adds to their texts what it was doing.
  [[nodiscard]] answer<void> take(lane of, clock::time_point until, const std::stop_token& stop);
  /// Allows no request for the given time. Does not shorten a pause that is already set.
  void pause(clock::duration so_long);

  struct figures {
    std::uint64_t taken = 0;   ///< Turns given since the start.
    std::uint64_t waited = 0;  ///< Turns that had to wait.
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
  std::uint64_t news_ = 0;  // changes whenever another request may be first
  figures told_{};
};

}  // namespace hondana::drive
