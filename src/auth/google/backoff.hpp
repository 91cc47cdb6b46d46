/// Pauses between attempts: truncated exponential back-off with full jitter.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <random>
#include <stop_token>

#include <hondana/clock.hpp>

namespace hondana::google {

/// Computes the pauses of one series of attempts. Spec: Google Drive API, "Resolve errors", exponential backoff. Threads: one
/// at a time.
class backoff {
 public:
  /// `first`: the longest first pause. `max_delay`: the longest of all pauses.
  backoff(std::chrono::milliseconds first, std::chrono::milliseconds max_delay) noexcept
      : limit_(first), max_delay_(max_delay) {}

  /// Returns a random pause between zero and a limit that doubles with each call, so that clients that failed together do not
  /// retry together.
  [[nodiscard]] std::chrono::milliseconds next() {
    const auto bound = std::min(limit_, max_delay_);
    limit_ = std::min(limit_ * 2, max_delay_);
    return std::chrono::milliseconds(std::uniform_int_distribution<std::chrono::milliseconds::rep>(0, bound.count())(random_));
  }

 private:
  std::chrono::milliseconds limit_;  // of the next pause
  std::chrono::milliseconds max_delay_;
  std::minstd_rand random_{std::random_device{}()};
};

/// Sleeps for `duration`, or until a stop is requested; then returns false.
inline bool wait_or_stop(std::chrono::steady_clock::duration duration, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any stopped;
  std::unique_lock lock(mutex);
  monotonic_clock::wait_for(stopped, lock, stop, duration, [] { return false; });
  return !stop.stop_requested();
}

}  // namespace hondana::google
