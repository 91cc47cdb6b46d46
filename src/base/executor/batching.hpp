/// Helpers of threads that serve many peers: batches of arrivals, long jobs in slices, and prefetching.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>

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

/// A thread that takes turns: between two steps of a job it does what else has come. Threads: any.
class turns {
 public:
  turns() = default;
  turns(const turns&) = delete;
  turns& operator=(const turns&) = delete;
  virtual ~turns() = default;
  /// Calls `step` on the thread, again and again until it returns false; never before this returns. After the thread's end
  /// nothing is called any more. Jobs begin in the order of the calls.
  virtual void take_turns(std::function<bool()> step) = 0;
};

/// Begins to bring what lies at `at` into the cache. With very many streams none of them is in it, and waiting for their memory
/// is most of what telling each of them a few bytes costs. Null and what is there no more do no harm.
template <class What>
void fetch(const What* at) noexcept {
  if (at == nullptr) return;
  constexpr std::size_t line = 64;
  const auto* bytes = reinterpret_cast<const char*>(at);
  for (std::size_t i = 0; i < sizeof(What); i += line) __builtin_prefetch(bytes + i);
}

}  // namespace hondana::executor
