/// Helpers for threads that serve many connections: batches of arrivals, long jobs in slices, and prefetching.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>

#include <hondana/clock.hpp>

namespace hondana::executor {

/// A batch of messages that all arrived before it began.
/// Any moment during the batch is a valid observation time for all of its answers, so one lookup can serve all of them.
/// Threads: one. Rounds must not be nested on one thread.
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

  /// The number of the calling thread's round, unique on that thread; 0 outside of a round.
  [[nodiscard]] static std::uint64_t present() noexcept { return present_; }

  /// The time of the first call in the current round; the current time outside of a round.
  /// Suitable for deadlines, because rounds are short.
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

/// A thread that interleaves a long job with its other work: between two steps it handles other arrivals. Threads: any.
class turns {
 public:
  turns() = default;
  turns(const turns&) = delete;
  turns& operator=(const turns&) = delete;
  virtual ~turns() = default;
  /// Calls `step` on the thread repeatedly until it returns false. The first call never happens before this function returns.
  /// After the thread has ended, `step` is not called. Jobs start in the order of the calls.
  virtual void take_turns(std::function<bool()> step) = 0;
};

/// Prefetches the object at `at` into the CPU cache.
/// With very many streams, cache misses dominate the cost of sending a few bytes to each. Null and dangling pointers are
/// harmless.
template <class What>
void fetch(const What* at) noexcept {
  if (at == nullptr) return;
  constexpr std::size_t line = 64;
  const auto* bytes = reinterpret_cast<const char*>(at);
  for (std::size_t i = 0; i < sizeof(What); i += line) __builtin_prefetch(bytes + i);
}

}  // namespace hondana::executor
