/// Calls functions at given times, for deadlines.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/executor/thread_pool.hpp"

namespace hondana::executor {

/// Timers on one thread, which starts with the first timer. Threads: any.
class timers {
 public:
  using id = std::uint64_t;

  timers();
  /// Discards pending timers, and waits for a running callback unless the callback itself destroys this object.
  ~timers();
  timers(const timers&) = delete;
  timers& operator=(const timers&) = delete;

  /// Schedules `callback` to run once at `due_at`, on the thread of the timers. It must be short and must not throw.
  id schedule(clock::time_point due_at, std::function<void()> callback);
  /// Cancels a timer. Does nothing if its callback has run or is running, and does not wait for it.
  void cancel(id timer);

 private:
  struct state;
  std::shared_ptr<state> state_;  // shared with the thread
};

}  // namespace hondana::executor
