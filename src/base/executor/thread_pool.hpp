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
[[nodiscard]] inline job_kind kind_of(std::uint64_t operation, std::string_view target) noexcept {
  return (std::hash<std::string_view>{}(target) * 31 + operation) | 1;
}

/// Remembers which kinds of jobs used at least two milliseconds of CPU time in their last run. Threads: any.
/// Kinds share 1021 slots, so a kind can replace another one.
class known_costs {
 public:
  static constexpr std::chrono::milliseconds least{2};

  [[nodiscard]] bool is_costly(job_kind kind) const noexcept {
    return kind != 0 && slot(kind).load(std::memory_order_relaxed) == kind;
  }
  /// Records the CPU time that a job of this kind used.
  void record(job_kind kind, std::chrono::nanoseconds used) noexcept {
    if (kind == 0) return;
    auto& costly = slot(kind);
    if (used >= least) {
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
enum class urgency { request, continuation };

/// An executor: runs tasks, immediately or on a thread.
class lane {
 public:
  lane() = default;
  lane(const lane&) = delete;
  lane& operator=(const lane&) = delete;
  virtual ~lane() = default;

  /// Runs `job` once, on a thread of this executor or before `submit` returns. `job` must not throw. Threads: any.
  ///
  /// `deadline`: when the caller of the job stops waiting. A job that runs longer counts as stuck.
  /// `whose`: the caller's name. Callers with waiting jobs take turns, one job each. All jobs without a name count as one
  /// caller.
  /// `kind`: jobs of a kind known to be costly never occupy all threads and processors.
  ///
  /// On error, `job` is destroyed without being run.
  /// Errors, whose text names the executor:
  /// - overloaded, with `retry`: the queue or the caller's share of it is full (requests only), or no thread can be started.
  /// - source_unavailable: every thread is stuck, or the executor is closed.
  virtual result<void> submit(task job, clock::time_point deadline, urgency how = urgency::request, std::string_view whose = {},
                              job_kind kind = 0) = 0;
};

/// Runs jobs before `submit` returns. For sources that never block.
class inline_lane final : public lane {
 public:
  result<void> submit(task job, clock::time_point deadline, urgency how = urgency::request, std::string_view whose = {},
                      job_kind kind = 0) override;
};

/// A pool's current load.
struct pool_counts {
  std::size_t threads = 0;  ///< The limit, not the number of started threads.
  std::size_t running = 0;
  std::size_t waiting = 0;
};

/// The limits of a pool. All values are at least 1.
struct pool_limits {
  std::size_t threads = 1;
  std::size_t waiting = 1024;                                          ///< Waiting requests, without continuations.
  std::size_t waiting_each = std::numeric_limits<std::size_t>::max();  ///< Waiting requests of one caller.
  std::size_t running_each = std::numeric_limits<std::size_t>::max();  ///< Running requests of one caller.
};

/// A thread pool with a bounded queue. Threads start when they are first needed.
/// One extra thread runs continuations only, so that slow requests never interrupt an answer that has begun.
/// Costly requests leave at least one thread and one processor free. With a single thread, costly and other requests alternate.
class pool final : public lane {
 public:
  /// `name`: the name of the pool in error messages and metrics.
  pool(std::string name, const pool_limits& within);
  pool(std::string name, std::size_t threads, std::size_t waiting = 1024)
      : pool(std::move(name), {.threads = threads, .waiting = waiting}) {}
  /// Calls `close` without waiting for running jobs.
  ~pool() override;

  result<void> submit(task job, clock::time_point deadline, urgency how = urgency::request, std::string_view whose = {},
                      job_kind kind = 0) override;
  /// Changes the limits for future jobs. Waiting and running jobs are not affected. Threads: any.
  void limit_to(const pool_limits& within);

  [[nodiscard]] pool_counts counts() const;

  /// Rejects new jobs, drops waiting jobs, and waits until `until` for running jobs. Abandons threads that still run then.
  /// Everything that an abandoned thread accesses must be owned by its job. Returns true if no thread was abandoned.
  bool close(clock::time_point until);

 private:
  struct state;
  std::shared_ptr<state> state_;
};

/// Whether a job is known to use much CPU time.
enum class job_cost : std::uint8_t { small, large };

struct waiting_job {
  task job;
  clock::time_point deadline;
  clock::time_point since{};  ///< When the job was queued.
  job_kind kind = 0;
  job_cost cost = job_cost::small;
};

/// A fair queue: callers take turns, one job each. Jobs of one caller and cost keep their order. Threads: one at a time.
class callers {
 public:
  /// The jobs of one caller. Its address is stable while the caller has waiting or running jobs.
  struct line {
    std::string_view who{};                        // the key in the map
    std::array<std::list<waiting_job>, 2> jobs{};  // indexed by cost
    std::size_t running = 0;
  };

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t waiting(std::string_view who) const;
  /// The number of callers that have a line, for tests and metrics.
  [[nodiscard]] std::size_t known() const noexcept { return lines_.size(); }
  /// Queues a job of the caller `who`.
  void put(std::string_view who, waiting_job what);
  /// Whether a job of this cost can run when each named caller may have `running_each` running jobs.
  [[nodiscard]] bool has_next(job_cost cost, std::size_t running_each);
  /// Removes the next job, which counts as running until `done`. Call only if `has_next` returned true.
  [[nodiscard]] std::pair<waiting_job, line*> take(job_cost cost, std::size_t running_each);
  /// Marks a job from `take` as finished. `whose`: the line that `take` returned.
  void done(line* whose);
  /// Removes and returns all waiting jobs.
  [[nodiscard]] std::list<waiting_job> clear();

 private:
  using lines = std::map<std::string, line, std::less<>>;
  [[nodiscard]] std::list<line*>::iterator next_turn(job_cost cost, std::size_t running_each);

  lines lines_;
  std::array<std::list<line*>, 2> turns_;  // indexed by cost: callers with waiting jobs of that cost
  std::size_t size_ = 0;
};

}  // namespace hondana::executor
