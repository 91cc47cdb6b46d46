/// Bounded thread pools with a fair queue for callers, which detect when all of their threads are stuck.
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

/// Identifies requests for the same operation on the same thing, which take about the same time. 0: unknown.
using job_kind = std::uint64_t;

/// `operation`: a number of the caller's choice, different for each operation.
[[nodiscard]] inline job_kind kind_of(std::uint64_t operation, std::string_view target) noexcept {
  return (std::hash<std::string_view>{}(target) * 31 + operation) | 1;
}

/// Remembers which kinds of jobs used more than two milliseconds of processor time when they ran last. Kinds share 1021 slots,
/// so a kind may be forgotten when another one takes its slot. Threads: any.
class known_costs {
 public:
  static constexpr std::chrono::milliseconds least{2};

  [[nodiscard]] bool is_costly(job_kind kind) const noexcept {
    return kind != 0 && slot(kind).load(std::memory_order_relaxed) == kind;
  }
  /// Records the processor time that a job of this kind used.
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

/// What a job is to the requests that wait: a continuation goes on with an answer that has begun, and goes first.
enum class urgency { request, continuation };

/// Somewhere tasks run.
class lane {
 public:
  lane() = default;
  lane(const lane&) = delete;
  lane& operator=(const lane&) = delete;
  virtual ~lane() = default;

  /// Runs `job` once, on a thread of the lane or before returning. `deadline` is when its caller stops waiting: a job still
  /// running after it counts as stuck. `job` must not throw. `whose`: callers whose jobs wait have turns, one job each; of
  /// those without a name none counts as one caller's. Errors, and then `job` is dropped unrun: overloaded (the queue is full,
  /// or the caller's part of it, which keeps no continuation from its place), with `retry`; source_unavailable (every thread is
  /// stuck, or the lane has been closed); the text names the lane. `kind`: jobs of a kind that is known to be costly do not
  /// take all threads and processors from the others. Threads: any.
  virtual result<void> submit(task job, clock::time_point deadline, urgency how = urgency::request, std::string_view whose = {},
                              job_kind kind = 0) = 0;
};

/// Runs jobs before `submit` returns, for sources that never block.
class inline_lane final : public lane {
 public:
  result<void> submit(task job, clock::time_point deadline, urgency how = urgency::request, std::string_view whose = {},
                      job_kind kind = 0) override;
};

/// What a pool has to do, and has done.
struct pool_counts {
  std::size_t threads = 0;  ///< There may be so many.
  std::size_t running = 0;
  std::size_t waiting = 0;
};

/// How much of a pool there is. No number is 0.
struct pool_limits {
  std::size_t threads = 1;
  std::size_t waiting = 1024;                                          ///< Jobs, continuations apart.
  std::size_t waiting_each = std::numeric_limits<std::size_t>::max();  ///< Of one caller.
  std::size_t running_each = std::numeric_limits<std::size_t>::max();  ///< Likewise; the rest of its jobs wait.
};

/// A number of threads, started when first needed, behind a bounded queue; and one more that only continues, so that slow
/// requests never cut off an answer that has begun. Requests that are known to be costly leave one thread and one processor to
/// the other requests; with a single thread, costly and other requests take turns.
class pool final : public lane {
 public:
  /// `name` is what errors call it.
  pool(std::string name, const pool_limits& within);
  pool(std::string name, std::size_t threads, std::size_t waiting = 1024)
      : pool(std::move(name), {.threads = threads, .waiting = waiting}) {}
  /// As `close` with no patience.
  ~pool() override;

  result<void> submit(task job, clock::time_point deadline, urgency how = urgency::request, std::string_view whose = {},
                      job_kind kind = 0) override;
  /// From now on. Jobs that wait or run already are not touched. Threads: any.
  void limit_to(const pool_limits& within);

  [[nodiscard]] pool_counts counts() const;

  /// Refuses new jobs, drops waiting ones, waits for running ones until `until`, then abandons the threads that are still
  /// stuck; what they touch must be owned by their jobs. True when no thread was abandoned.
  bool close(clock::time_point until);

 private:
  struct state;
  std::shared_ptr<state> state_;
};

/// Whether a job is known to keep a processor busy for long.
enum class job_cost : std::uint8_t { small, large };

struct waiting_job {
  task job;
  clock::time_point deadline;
  clock::time_point since{};  ///< It waits.
  job_kind kind = 0;
  job_cost cost = job_cost::small;
};

/// Callers have turns, one job each; jobs of one caller and cost keep their order. Threads: one at a time.
class callers {
 public:
  /// One caller's jobs. Stays where it is while it has some that wait or run.
  struct line {
    std::string_view who{};                        // its key
    std::array<std::list<waiting_job>, 2> jobs{};  // by cost
    std::size_t running = 0;
  };

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t waiting(std::string_view who) const;
  /// Callers known of, for tests and figures.
  [[nodiscard]] std::size_t known() const noexcept { return lines_.size(); }
  void put(std::string_view who, waiting_job what);
  /// Whether there is a job of that cost that may run while a named caller may have `running_each` at once.
  [[nodiscard]] bool has_next(job_cost cost, std::size_t running_each);
  /// Takes it, and counts it as running until `done`. Call only when there is one.
  [[nodiscard]] std::pair<waiting_job, line*> take(job_cost cost, std::size_t running_each);
  void done(line* whose);
  /// Gives out all that wait.
  [[nodiscard]] std::list<waiting_job> clear();

 private:
  using lines = std::map<std::string, line, std::less<>>;
  [[nodiscard]] std::list<line*>::iterator next_turn(job_cost cost, std::size_t running_each);

  lines lines_;
  std::array<std::list<line*>, 2> turns_;  // of those with jobs of a cost that wait
  std::size_t size_ = 0;
};

}  // namespace hondana::executor
