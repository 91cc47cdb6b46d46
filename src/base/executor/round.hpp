/// What has to be found out once for all that has arrived.
#pragma once

#include <chrono>
#include <cstdint>

#include <hondana/clock.hpp>

namespace hondana::executor {

/// While it lives, its thread answers only what had arrived before it began. How things are at any moment of it is as good for
/// each of these answers as how they are at any other: what costs something to find out needs to be found out once.
/// Threads: one; none begins inside of another.
class round {
 public:
  using clock = monotonic_clock;

  round() noexcept {
    present_ = ++latest_;
    has_time_ = false;
  }
  round(const round&) = delete;
  round& operator=(const round&) = delete;
  ~round() { present_ = 0; }

  /// The number of this thread's round, which no other of the thread has; 0 outside of one.
  [[nodiscard]] static std::uint64_t present() noexcept { return present_; }

  /// The time when this was first asked in this thread's round; outside of one, the time. For deadlines, where rounds are
  /// short.
  [[nodiscard]] static clock::time_point time() noexcept {
    if (present_ == 0) return clock::now();
    if (!has_time_) {
      time_ = clock::now();
      has_time_ = true;
    }
    return time_;
  }

 private:
  static inline thread_local constinit std::uint64_t present_ = 0;
  static inline thread_local constinit std::uint64_t latest_ = 0;
  static inline thread_local constinit clock::time_point time_{};
  static inline thread_local constinit bool has_time_ = false;
};

}  // namespace hondana::executor
