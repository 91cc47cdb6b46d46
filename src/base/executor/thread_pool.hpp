/// Thread pools with a bounded, fair queue for callers. They detect when all of their threads are stuck.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <hondana/clock.hpp>
#include <hondana/error.hpp>

namespace hondana::executor {

/// Identifies jobs of the same operation on the same target, which take about the same time. 0: unknown.
using job_kind = std::uint64_t;

/// `operation`: a number that the calling code chooses, different for each operation.
[[nodiscard]] inline job_kind make_job_kind(std::uint64_t operation, std::string_view target) noexcept {
  return (std::hash<std::string_view>{}(target) * 31 + operation) | 1;
}

/// Remembers which kinds of jobs used at least two milliseconds of CPU time in their last run. Threads: any.
/// Kinds share 1021 slots, so a kind can replace another one.
class cost_history {
 public:
  static constexpr std::chrono::milliseconds costly_threshold{2};

  [[nodiscard]] bool is_costly(job_kind kind) const noexcept {
    return kind != 0 && slot(kind).load(std::memory_order_relaxed) == kind;
  }
  /// Records the CPU time that a job of this kind used.
  void record(job_kind kind, std::chrono::nanoseconds cpu_time) noexcept {
    if (kind == 0) return;
    auto& costly = slot(kind);
    if (cpu_time >= costly_threshold) {
      costly.store(kind, std::memory_order_relaxed);
    } else if (costly.load(std::memory_order_relaxed) == kind) {
      costly.store(0, std::memory_order_relaxed);
    }
  }

 private:
  [[nodiscard]] std::atomic<job_kind>& slot(job_kind kind) noexcept { return slots_[kind % slots_.size()]; }
  [[nodiscard]] const std::atomic<job_kind>& slot(job_kind kind) const noexcept { return slots_[kind % slots_.size()]; }

  std::array<std::atomic<job_kind>, 1021> slots_{};
};

using clock = monotonic_clock;
using task = std::function<void()>;

/// The priority of a job. A `continuation` continues an answer that has already begun, and runs before all requests.
enum class job_priority { request, continuation };

/// Runs tasks, immediately or on a thread.
class executor {
 public:
  executor() = default;
  executor(const executor&) = delete;
  executor& operator=(const executor&) = delete;
  virtual ~executor() = default;

  /// Runs `job` once, on a thread of this executor or before `submit` returns. `job` must not throw. Threads: any.
  ///
  /// `deadline`: when the caller of the job stops waiting. A job that runs longer counts as stuck.
  /// `caller`: the caller's name. Callers with waiting jobs take turns, one job each. All jobs without a name count as one
  /// caller.
  /// `kind`: jobs of a kind known to be costly never occupy all threads and processors.
  ///
  /// On error, `job` is destroyed without being run.
  /// Errors, whose text names the executor:
  /// - overloaded, with `retry_after`: the queue or the caller's share of it is full (requests only), or no thread can be
  ///   started.
  /// - source_unavailable: every thread is stuck, or the executor is closed.
  virtual result<void> submit(task job, clock::time_point deadline, job_priority priority = job_priority::request,
                              std::string_view caller = {}, job_kind kind = 0) = 0;
};

/// Runs jobs before `submit` returns. For sources that never block.
class inline_executor final : public executor {
 public:
  result<void> submit(task job, clock::time_point deadline, job_priority priority = job_priority::request,
                      std::string_view caller = {}, job_kind kind = 0) override;
};

/// A pool's current load.
struct pool_load {
  std::size_t threads = 0;  ///< The limit, not the number of started threads.
  std::size_t running = 0;
  std::size_t waiting = 0;
};

/// The limits of a pool. All values are at least 1.
struct pool_limits {
  std::size_t max_threads = 1;
  std::size_t max_waiting = 1024;                                                ///< Waiting requests, without continuations.
  std::size_t max_waiting_per_caller = std::numeric_limits<std::size_t>::max();  ///< Waiting requests of one caller.
  std::size_t max_running_per_caller = std::numeric_limits<std::size_t>::max();  ///< Running requests of one caller.
};

/// A thread pool with a bounded queue. Threads start when they are first needed.
/// One extra thread runs continuations only, so that slow requests never interrupt an answer that has begun.
/// Costly requests leave at least one thread and one processor free. With a single thread, costly and other requests alternate.
class thread_pool final : public executor {
 public:
  /// `name`: the name of the pool in error messages and metrics.
  thread_pool(std::string name, const pool_limits& limits);
  thread_pool(std::string name, std::size_t max_threads, std::size_t max_waiting = 1024)
      : thread_pool(std::move(name), {.max_threads = max_threads, .max_waiting = max_waiting}) {}
  /// Calls `close` without waiting for running jobs.
  ~thread_pool() override;

  result<void> submit(task job, clock::time_point deadline, job_priority priority = job_priority::request,
                      std::string_view caller = {}, job_kind kind = 0) override;
  /// Changes the limits for future jobs. Waiting and running jobs are not affected. Threads: any.
  void set_limits(const pool_limits& limits);

  [[nodiscard]] pool_load load() const;

  /// Rejects new jobs, drops waiting jobs, and waits until `deadline` for running jobs. Abandons threads that still run then.
  /// Everything that an abandoned thread accesses must be owned by its job. Returns true if no thread was abandoned.
  bool close(clock::time_point deadline);

 private:
  struct state;
  std::shared_ptr<state> state_;
};

/// Whether a job is known to use much CPU time.
enum class job_cost : std::uint8_t { small, large };

struct waiting_job {
  task job;
  clock::time_point deadline;
  clock::time_point queued_at{};  ///< When the job was queued.
  job_kind kind = 0;
  job_cost cost = job_cost::small;
};

/// A fair queue: callers take turns, one job each. Jobs of one caller and cost keep their order. Threads: one at a time.
class caller_queue {
 public:
  /// The jobs of one caller. Its address is stable while the caller has waiting or running jobs.
  struct caller_jobs {
    std::string_view name{};                       // the key in the map
    std::array<std::list<waiting_job>, 2> jobs{};  // indexed by cost
    std::size_t running = 0;
  };

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t waiting(std::string_view caller) const;
  /// The number of callers that have an entry, for tests and metrics.
  [[nodiscard]] std::size_t caller_count() const noexcept { return callers_.size(); }
  /// Queues a job of `caller`.
  void push(std::string_view caller, waiting_job job);
  /// Whether a job of this cost can run when each named caller may have `max_running` running jobs.
  [[nodiscard]] bool has_next(job_cost cost, std::size_t max_running);
  /// Removes the next job, which counts as running until `finish`. Call only if `has_next` returned true.
  [[nodiscard]] std::pair<waiting_job, caller_jobs*> pop(job_cost cost, std::size_t max_running);
  /// Marks a job from `pop` as finished. `caller`: the entry that `pop` returned.
  void finish(caller_jobs* caller);
  /// Removes and returns all waiting jobs.
  [[nodiscard]] std::list<waiting_job> drain();

 private:
  using caller_map = std::map<std::string, caller_jobs, std::less<>>;
  [[nodiscard]] std::list<caller_jobs*>::iterator find_next(job_cost cost, std::size_t max_running);

  caller_map callers_;
  std::array<std::list<caller_jobs*>, 2> waiting_;  // indexed by cost: callers with waiting jobs of that cost
  std::size_t size_ = 0;
};

}  // namespace hondana::executor
