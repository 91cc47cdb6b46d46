/// Executors run jobs: thread pools with a bounded queue in which callers take turns, and an executor without threads.
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

/// Identifies jobs of the same operation on the same target, which need about the same CPU time. 0: unknown.
using job_kind = std::uint64_t;

/// Makes a job kind. `operation`: a number that the calling code chooses, different for each operation.
[[nodiscard]] inline job_kind make_job_kind(std::uint64_t operation, std::string_view target) noexcept {
  return (std::hash<std::string_view>{}(target) * 31 + operation) | 1;
}

/// Records which kinds of jobs used at least `costly_threshold` of CPU time in their last run. Threads: any.
/// Kinds share 1021 slots, so a kind can replace another one.
class cost_history {
 public:
  static constexpr std::chrono::milliseconds costly_threshold{2};

  /// Whether the last run of this kind was costly. False if it is unknown.
  [[nodiscard]] bool is_costly(job_kind kind) const noexcept {
    return kind != 0 && slot(kind).load(std::memory_order_relaxed) == kind;
  }
  /// Records the CPU time that a run of this kind used.
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

/// `request`: the job begins to answer a request. `continuation`: it continues an answer, and runs before all requests.
enum class job_priority { request, continuation };

/// Runs jobs, immediately or on a thread.
class executor {
 public:
  executor() = default;
  executor(const executor&) = delete;
  executor& operator=(const executor&) = delete;
  virtual ~executor() = default;

  /// Runs `job` once, on a thread of this executor or before `submit` returns. `job` must not throw. Threads: any.
  ///
  /// `deadline`: when the caller stops waiting. The job is not ended then, but counts as stuck if it still runs.
  /// `caller`: the caller's name. Callers with waiting requests take turns, one job each. All jobs without a name count as one
  /// caller, to which the limits per caller do not apply.
  /// `kind`: `thread_pool` limits how many requests of costly kinds run at once.
  ///
  /// On error, `job` is destroyed without being run.
  /// Errors, whose text names the executor:
  /// - overloaded, with `retry_after`: for requests, if the queue or the caller's share of it is full. For all jobs, if no
  ///   thread can be started.
  /// - source_unavailable: every thread is stuck, or the executor is closed.
  virtual result<void> submit(task job, clock::time_point deadline, job_priority priority = job_priority::request,
                              std::string_view caller = {}, job_kind kind = 0) = 0;
};

/// Runs each job before `submit` returns, on the calling thread. For sources that never block.
class inline_executor final : public executor {
 public:
  result<void> submit(task job, clock::time_point deadline, job_priority priority = job_priority::request,
                      std::string_view caller = {}, job_kind kind = 0) override;
};

/// A pool's current load.
struct pool_load {
  std::size_t threads = 0;  ///< `pool_limits::max_threads`, not the number of started threads.
  std::size_t running = 0;  ///< Running jobs, including continuations.
  std::size_t waiting = 0;  ///< Waiting jobs, including continuations.
};

/// The limits of a pool. All values must be at least 1.
struct pool_limits {
  std::size_t max_threads = 1;                                                   ///< Without the thread for continuations.
  std::size_t max_waiting = 1024;                                                ///< Waiting requests, without continuations.
  std::size_t max_waiting_per_caller = std::numeric_limits<std::size_t>::max();  ///< Waiting requests of one named caller.
  std::size_t max_running_per_caller = std::numeric_limits<std::size_t>::max();  ///< Running requests of one named caller.
};

/// A thread pool with a bounded queue. Threads start when they are first needed.
/// When all threads are busy, one extra thread runs continuations only, so that answers that have begun do not wait for slow
/// requests.
/// Costly requests (`cost_history`) leave one thread and one processor free, if there are two or more. Costly and other
/// requests alternate while both wait.
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
  /// Changes the limits. No waiting or running job is dropped. Surplus threads end after their current job. Threads: any.
  void set_limits(const pool_limits& limits);

  /// Threads: any.
  [[nodiscard]] pool_load load() const;

  /// Rejects new jobs, drops waiting jobs, and waits until `deadline` for running jobs.
  /// Returns true if all threads have ended. Otherwise abandons the others: a job must own everything that it accesses.
  bool close(clock::time_point deadline);

 private:
  struct state;
  std::shared_ptr<state> state_;
};

/// `large`: the kind of the job is costly (`cost_history`).
enum class job_cost : std::uint8_t { small, large };

struct waiting_job {
  task job;
  clock::time_point deadline;
  clock::time_point queued_at{};
  job_kind kind = 0;
  job_cost cost = job_cost::small;
};

/// A queue in which callers take turns, one job each. Jobs of one caller and cost keep their order. Threads: one at a time.
class caller_queue {
 public:
  /// The jobs of one caller. Its address is stable while the caller has waiting or running jobs.
  struct caller_jobs {
    std::string_view name{};                       // the caller's name, as a view of the key in `callers_`
    std::array<std::list<waiting_job>, 2> jobs{};  // waiting jobs, indexed by cost
    std::size_t running = 0;                       // the number of running jobs
  };

  /// The number of waiting jobs.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// The number of waiting jobs of one caller.
  [[nodiscard]] std::size_t waiting(std::string_view caller) const;
  /// The number of callers that have an entry, for tests and metrics.
  [[nodiscard]] std::size_t caller_count() const noexcept { return callers_.size(); }
  void push(std::string_view caller, waiting_job job);
  /// Whether a job of this cost waits whose caller has fewer than `max_running` running jobs or no name.
  [[nodiscard]] bool has_next(job_cost cost, std::size_t max_running);
  /// Removes and returns the next job, with the entry of its caller. The job counts as running until `finish`.
  /// Call it only if `has_next` returns true for the same arguments.
  [[nodiscard]] std::pair<waiting_job, caller_jobs*> pop(job_cost cost, std::size_t max_running);
  /// Marks a job as finished. `caller`: the entry that `pop` returned with the job. It may be deleted.
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
