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
enum class request_priority : std::uint8_t {
  reading,   ///< A caller waits for the answer.
  polling,   ///< Polls a change log.
  crawling,  ///< Everything else, such as a full listing.
};
inline constexpr std::size_t priority_count = 3;

/// The rate limit of a client.
struct rate_quota {
  double per_second = 20;     ///< Also the largest burst after a pause. More than 0.
  double per_minute = 1'200;  ///< More than 0.
};

/// Two token buckets (per second, per minute) and a time before which Drive allows no request. Threads: any.
class request_budget {
 public:
  using clock = monotonic_clock;

  explicit request_budget(rate_quota quota);

  /// Waits for a turn. A request waits while one of a higher priority does; every sixteenth turn goes to the lowest priority
  /// that waits. Errors: at once, with `retry_after`, if the turn would come after `deadline`: rate_limited if Google has
  /// requested a pause, else busy; cancelled. The caller adds to their texts what it was doing.
  [[nodiscard]] api_result<void> acquire(request_priority priority, clock::time_point deadline, const std::stop_token& stop);
  /// Allows no request for the given time. Does not shorten a pause that is already set.
  void pause(clock::duration duration);

  struct statistics {
    std::uint64_t granted = 0;  ///< Turns given since the start.
    std::uint64_t delayed = 0;  ///< Turns that had to wait.
    std::uint64_t pauses = 0;
    std::size_t waiting = 0;            ///< Now.
    clock::duration remaining_pause{};  ///< From now on.
  };
  [[nodiscard]] statistics current_statistics() const;

 private:
  struct token_bucket {
    double capacity;
    double refill_rate;
    double tokens;
  };
  void refill(clock::time_point now);
  void wake_waiters();
  [[nodiscard]] clock::time_point next_grant(clock::time_point now) const;
  [[nodiscard]] bool is_first(request_priority priority) const noexcept;

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  token_bucket second_, minute_;
  clock::time_point refilled_at_;
  clock::time_point paused_until_{};
  std::size_t waiting_[priority_count] = {};
  std::uint64_t change_count_ = 0;  // changes whenever another request may be first
  statistics statistics_{};
};

}  // namespace hondana::drive
