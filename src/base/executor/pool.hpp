/// Bounded pools that run blocking calls, and know when they are stuck.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <hondana/clock.hpp>
#include <hondana/error.hpp>

#include "base/executor/known_costs.hpp"

namespace hondana::executor {

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

}  // namespace hondana::executor
