/// Helpers for threads that serve many connections: batches of messages, long jobs in steps, and prefetching.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>

#include <hondana/clock.hpp>

namespace hondana::executor {

/// Marks the time in which a thread handles messages that have all arrived before.
/// All answers of a batch may be based on the state at any moment of it. One look at a file or clock can therefore serve all.
/// Threads: one. A thread must not have two batches at once.
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

  /// The number of the calling thread's current batch, unique on that thread; 0: there is none.
  [[nodiscard]] static std::uint64_t current_id() noexcept { return current_id_; }

  /// The time of the first call in the calling thread's current batch; without a batch, the current time.
  /// Exact enough for deadlines, because batches are short.
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

/// A thread that runs long jobs in steps, and does its other work between two steps. Threads: any.
class step_executor {
 public:
  step_executor() = default;
  step_executor(const step_executor&) = delete;
  step_executor& operator=(const step_executor&) = delete;
  virtual ~step_executor() = default;
  /// Makes the thread call `step` repeatedly until it returns false. Does not call `step` itself.
  /// Jobs start in the order of the calls. When the thread ends, jobs end early.
  virtual void run_in_steps(std::function<bool()> step) = 0;
};

/// Prefetches an object into the CPU cache. Null and dangling pointers are harmless.
/// With very many streams, cache misses dominate the cost of sending a few bytes to each.
template <class Object>
void prefetch(const Object* object) noexcept {
  if (object == nullptr) return;
  constexpr std::size_t line_bytes = 64;
  const auto* bytes = reinterpret_cast<const char*>(object);
  for (std::size_t i = 0; i < sizeof(Object); i += line_bytes) __builtin_prefetch(bytes + i);
}

}  // namespace hondana::executor
