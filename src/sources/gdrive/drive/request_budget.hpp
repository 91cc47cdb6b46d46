/// Limits the rate of requests to Drive. Requests of waiting callers come first.
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

/// The priority of a request, highest first.
enum class request_priority : std::uint8_t {
  reading,   ///< A caller waits for the answer.
  polling,   ///< For a change log.
  crawling,  ///< All other requests, such as those of a full listing.
};
inline constexpr std::size_t priority_count = 3;

/// The rate limit of a client.
struct rate_quota {
  double per_second = 20;     ///< More than 0. Also the number of requests that may follow at once after a pause.
  double per_minute = 1'200;  ///< More than 0.
};

/// Limits the rate of requests by two token buckets (per second, per minute), and by pauses that Google requests. Threads: any.
class request_budget {
 public:
  using clock = monotonic_clock;

  explicit request_budget(rate_quota quota);

  /// Waits until one request may be sent. Requests of a higher priority come first, but every sixteenth one is of the lowest
  /// priority that waits. Errors: cancelled; if the request would have to wait beyond `deadline`, at once and with
  /// `retry_after`: rate_limited during a pause, else busy. The public texts lack their beginning, "cannot …: ", which the
  /// caller must add.
  [[nodiscard]] api_result<void> acquire(request_priority priority, clock::time_point deadline, const std::stop_token& stop);
  /// Allows no request for this time from now. Never shortens a pause.
  void pause(clock::duration duration);

  struct statistics {
    std::uint64_t granted = 0;          ///< Number of requests that were allowed.
    std::uint64_t delayed = 0;          ///< Those of `granted` that had to wait.
    std::uint64_t pauses = 0;           ///< Number of calls of `pause`.
    std::size_t waiting = 0;            ///< Number of requests that wait now.
    clock::duration remaining_pause{};  ///< 0: there is no pause now.
  };
  [[nodiscard]] statistics current_statistics() const;

 private:
  struct token_bucket {
    double capacity;     ///< Maximum of `tokens`.
    double refill_rate;  ///< Tokens per second.
    double tokens;       ///< A request needs one.
  };
  // Call these functions with `mutex_` held.
  void refill(clock::time_point now);
  void wake_waiters();
  /// When the next request may be sent.
  [[nodiscard]] clock::time_point next_grant(clock::time_point now) const;
  /// Whether the next request must be of this priority.
  [[nodiscard]] bool is_first(request_priority priority) const noexcept;

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  token_bucket second_, minute_;
  clock::time_point refilled_at_;
  clock::time_point paused_until_{};
  std::size_t waiting_[priority_count] = {};  // number of waiting requests, by priority
  std::uint64_t change_count_ = 0;            // changes whenever another request may be first
  statistics statistics_{};
};

}  // namespace hondana::drive
