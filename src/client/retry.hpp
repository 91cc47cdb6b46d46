/// The time left for several calls, and retries when a server asks for them.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <stop_token>

#include <hondana/client_types.hpp>
#include <hondana/clock.hpp>
#include <hondana/error.hpp>

namespace hondana::outbound {

/// Counts from when it is made. Threads: any, as for a const object.
class time_left {
 public:
  using clock = monotonic_clock;

  explicit time_left(std::chrono::milliseconds time) : until_(clock::now() + std::min(time, longest)) {}

  [[nodiscard]] bool is_over() const { return clock::now() >= until_; }
  /// Never less than a millisecond.
  [[nodiscard]] std::chrono::milliseconds time() const {
    return std::max(std::chrono::duration_cast<std::chrono::milliseconds>(until_ - clock::now()), std::chrono::milliseconds(1));
  }
  [[nodiscard]] clock::time_point until() const noexcept { return until_; }

 private:
  static constexpr std::chrono::milliseconds longest = std::chrono::hours(24 * 365);
  clock::time_point until_;
};

/// How often, and for how long at a time, a server is believed that asks to wait.
inline constexpr int most_waits = 2;
inline constexpr std::chrono::milliseconds longest_wait{30'000};

/// False when one of them is requested before the time has passed.
[[nodiscard]] bool wait_unless(const std::stop_token& one, const std::stop_token& other, std::chrono::milliseconds time);

/// Calls `attempt` with `how`, and again where the server has refused and said after how long to come back, if the call has
/// that much time left. `usual`: its time where `how` does not say. `closing`: ends the waiting, too.
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
