/// The remaining time of a call with several attempts, and retries that the server asks for.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <stop_token>

#include <hondana/client_types.hpp>
#include <hondana/clock.hpp>
#include <hondana/error.hpp>

namespace hondana::outbound {

/// A deadline, counted from construction. Threads: any, like a const object.
class time_left {
 public:
  using clock = monotonic_clock;

  explicit time_left(std::chrono::milliseconds time) : until_(clock::now() + std::min(time, longest)) {}

  [[nodiscard]] bool is_over() const { return clock::now() >= until_; }
  /// The remaining time, at least 1 ms.
  [[nodiscard]] std::chrono::milliseconds time() const {
    return std::max(std::chrono::duration_cast<std::chrono::milliseconds>(until_ - clock::now()), std::chrono::milliseconds(1));
  }
  [[nodiscard]] clock::time_point until() const noexcept { return until_; }

 private:
  static constexpr std::chrono::milliseconds longest = std::chrono::hours(24 * 365);
  clock::time_point until_;
};

/// How many times a call is retried on the server's request, and the longest pause that is accepted.
inline constexpr int most_waits = 2;
inline constexpr std::chrono::milliseconds longest_wait{30'000};

/// Sleeps for `time`. Returns false if a stop is requested on either token before that.
[[nodiscard]] bool wait_unless(const std::stop_token& one, const std::stop_token& other, std::chrono::milliseconds time);

/// Calls `attempt` with `how`. Calls it again while the server rejects the call and names a delay that fits into the remaining
/// time. `usual`: the timeout if `how` has none. `closing`: also ends the wait.
template <class Attempt>
auto patiently(const call_options& how, std::chrono::milliseconds usual, const std::stop_token& closing, Attempt attempt)
    -> decltype(attempt(how)) {
  const time_left left(how.time.value_or(usual));
  const time_left whole(how.whole_time.value_or(usual));
  auto got = attempt(how);
  for (int waits = 0; waits < most_waits && !got && got.error().retry; ++waits) {
    const auto pause = *got.error().retry;
    if (pause > longest_wait || time_left::clock::now() + pause >= left.until()) break;
    if (!wait_unless(how.stop, closing, pause))
      return fail(errc::cancelled, "the call was cancelled while the server was busy");
    auto again = how;
    again.time = left.time();
    if (how.whole_time) again.whole_time = whole.time();
    got = attempt(again);
  }
  return got;
}

}  // namespace hondana::outbound
