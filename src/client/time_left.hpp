/// The time of something that takes several calls.
#pragma once

#include <algorithm>
#include <chrono>

#include <hondana/clock.hpp>

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

}  // namespace hondana::outbound
