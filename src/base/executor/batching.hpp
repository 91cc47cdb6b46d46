/// Helpers for threads that serve many connections: batches of messages, long jobs in steps, and prefetching.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>

#include <hondana/clock.hpp>

namespace hondana::executor {

/// A batch of messages that all arrived before it began.
/// Any moment during the batch is a valid observation time for all of its answers, so one lookup can serve all of them.
/// Threads: one. Batches must not be nested on one thread.
class message_batch {
 public:
  using clock = monotonic_clock;

  message_batch() noexcept {
    current_id_ = ++last_id_;
    has_time_ = false;
  }
  message_batch(const message_batch&) = delete;
  message_batch& operator=(const message_batch&) = delete;
  ~message_batch() { current_id_ = 0; }

  /// The number of the calling thread's batch, unique on that thread; 0 outside of a batch.
  [[nodiscard]] static std::uint64_t current_id() noexcept { return current_id_; }

  /// The time of the first call in the current batch; the current time outside of a batch.
  /// Suitable for deadlines, because batches are short.
  [[nodiscard]] static clock::time_point now() noexcept {
    if (current_id_ == 0) return clock::now();
    if (!has_time_) {
      time_ = clock::now();
      has_time_ = true;
    }
    return time_;
  }

 private:
  static inline thread_local constinit std::uint64_t current_id_ = 0;
  static inline thread_local constinit std::uint64_t last_id_ = 0;
  static inline thread_local constinit clock::time_point time_{};
  static inline thread_local constinit bool has_time_ = false;
};

/// A thread that interleaves a long job with its other work: between two steps it handles other arrivals. Threads: any.
class step_executor {
 public:
  step_executor() = default;
  step_executor(const step_executor&) = delete;
  step_executor& operator=(const step_executor&) = delete;
  virtual ~step_executor() = default;
  /// Calls `step` on the thread repeatedly until it returns false. The first call never happens before this function returns.
  /// After the thread has ended, `step` is not called. Jobs start in the order of the calls.
  virtual void run_in_steps(std::function<bool()> step) = 0;
};

/// Prefetches the object at `object` into the CPU cache.
/// With very many streams, cache misses dominate the cost of sending a few bytes to each. Null and dangling pointers are
/// harmless.
template <class Object>
void prefetch(const Object* object) noexcept {
  if (object == nullptr) return;
  constexpr std::size_t line_bytes = 64;
  const auto* bytes = reinterpret_cast<const char*>(object);
  for (std::size_t i = 0; i < sizeof(Object); i += line_bytes) __builtin_prefetch(bytes + i);
}

}  // namespace hondana::executor
