/// Calls functions at given times, for deadlines.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/executor/thread_pool.hpp"

namespace hondana::executor {

/// One thread, started with the first timer, that runs short functions when they are due.
class timers {
 public:
  using id = std::uint64_t;

  timers();
  /// Discards pending timers and waits for a running function, unless that function is what destroys this object.
  ~timers();
  timers(const timers&) = delete;
  timers& operator=(const timers&) = delete;

  /// Runs `callback` at `due_at` unless cancelled. Threads: any. `callback` must be short and must not throw.
  id schedule(clock::time_point due_at, std::function<void()> callback);
  /// Cancels a timer. Has no effect on a timer that has run.
  void cancel(id timer);

 private:
  struct state;
  std::shared_ptr<state> state_;  // shared with the thread
};

}  // namespace hondana::executor
