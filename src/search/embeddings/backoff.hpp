/// Back-off for a failing embedding service.
#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>
#include <optional>

#include <hondana/clock.hpp>

namespace hondana::embeddings {

/// Decides whether to call a service that failed. The first pause is 1 s; it doubles with each further failure, up to 60 s. A
/// longer pause that the service requests applies instead, up to an hour. After a pause, only one caller may try at first.
/// Threads: any.
class backoff {
 public:
  using clock = monotonic_clock;

  /// Returns the remaining pause. No value: call the service now, and report success or failure within `timeout`. If it has
  /// failed before, other callers get this time as their pause.
  [[nodiscard]] std::optional<std::chrono::milliseconds> remaining_delay(clock::time_point now,
                                                                         std::chrono::milliseconds timeout);
  void report_success();
  /// Reports a failure. Concurrent calls count once: a call that `started` before the last counted failure does not count.
  /// `retry_after`: the pause that the service requests. It applies even if the failure does not count.
  void report_failure(clock::time_point started, clock::time_point now,
                      std::optional<std::chrono::milliseconds> retry_after = {});
  /// Returns the number of failures counted since the last success.
  [[nodiscard]] std::size_t failures() const;

 private:
  mutable std::mutex mutex_;
  std::size_t failures_ = 0;
  clock::time_point last_failure_{};
  clock::time_point blocked_until_{};
};

}  // namespace hondana::embeddings
