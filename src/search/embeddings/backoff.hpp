/// Back-off for a failing embedding service.
#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>
#include <optional>

#include <hondana/clock.hpp>

namespace hondana::embeddings {

/// Decides whether to call a service that failed. The first pause is 1 s; it doubles with each further failure, up to 60 s. A
/// longer pause that the service requests is used instead, up to an hour. After a pause, one caller may try while the others
/// still wait. Threads: any.
class backoff {
 public:
  using clock = monotonic_clock;

  /// The remaining pause. No value: call the service now, and report success or failure within `timeout`.
  [[nodiscard]] std::optional<std::chrono::milliseconds> remaining_delay(clock::time_point now,
                                                                         std::chrono::milliseconds timeout);
  void report_success();
  /// Reports a failure. Concurrent calls count once: a call that `started` before the last failure does not count.
  /// `retry_after`: the pause that the service requests.
  void report_failure(clock::time_point started, clock::time_point now,
                      std::optional<std::chrono::milliseconds> retry_after = {});
  /// The number of failures in a row.
  [[nodiscard]] std::size_t failures() const;

 private:
  mutable std::mutex mutex_;
  std::size_t failures_ = 0;
  clock::time_point last_failure_{};
  clock::time_point blocked_until_{};
};

}  // namespace hondana::embeddings
