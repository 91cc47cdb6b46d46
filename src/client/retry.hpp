/// Timeouts of calls with several attempts, and retries that the server asks for.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <stop_token>

#include <hondana/client_types.hpp>
#include <hondana/clock.hpp>
#include <hondana/error.hpp>

namespace hondana::outbound {

/// A deadline that is `timeout` after construction. Threads: any.
class deadline_timer {
 public:
  using clock = monotonic_clock;

  explicit deadline_timer(std::chrono::milliseconds timeout) : deadline_(clock::now() + std::min(timeout, max_timeout)) {}

  [[nodiscard]] bool has_expired() const { return clock::now() >= deadline_; }
  /// Returns the remaining time; 1 ms if it has expired.
  [[nodiscard]] std::chrono::milliseconds remaining() const {
    return std::max(std::chrono::duration_cast<std::chrono::milliseconds>(deadline_ - clock::now()),
                    std::chrono::milliseconds(1));
  }
  [[nodiscard]] clock::time_point deadline() const noexcept { return deadline_; }

 private:
  static constexpr std::chrono::milliseconds max_timeout = std::chrono::hours(24 * 365);
  clock::time_point deadline_;
};

/// How many times `call_with_retries` calls `attempt` again.
inline constexpr int max_retries = 2;
/// With a longer `failure::retry_after`, there is no retry.
inline constexpr std::chrono::milliseconds max_retry_delay{30'000};

/// Sleeps for `duration`. Returns false, at once, if a stop is requested on either token.
[[nodiscard]] bool sleep_unless_stopped(const std::stop_token& stop, const std::stop_token& closing,
                                        std::chrono::milliseconds duration);

/// Calls `attempt` with `options`. While it fails with a `failure::retry_after` that fits into the remaining time, waits and
/// calls it again, with the remaining time as timeout. `default_timeout`: the timeout if `options` has none. `closing`: also
/// ends the wait. Errors: those of the last attempt; cancelled.
template <class Attempt>
auto call_with_retries(const call_options& options, std::chrono::milliseconds default_timeout, const std::stop_token& closing,
                       Attempt attempt) -> decltype(attempt(options)) {
  const deadline_timer deadline(options.timeout.value_or(default_timeout));
  const deadline_timer total_deadline(options.total_timeout.value_or(default_timeout));
  auto outcome = attempt(options);
  for (int retries = 0; retries < max_retries && !outcome && outcome.error().retry_after; ++retries) {
    const auto delay = *outcome.error().retry_after;
    if (delay > max_retry_delay || deadline_timer::clock::now() + delay >= deadline.deadline()) break;
    if (options.total_timeout && deadline_timer::clock::now() + delay >= total_deadline.deadline()) break;
    if (!sleep_unless_stopped(options.stop, closing, delay))
      return fail(errc::cancelled, "the call was cancelled while the server was busy");
    auto retry_options = options;
    retry_options.timeout = deadline.remaining();
    if (options.total_timeout) retry_options.total_timeout = total_deadline.remaining();
    outcome = attempt(retry_options);
  }
  return outcome;
}

}  // namespace hondana::outbound
