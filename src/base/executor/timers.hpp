/// Calls functions at points in time, for deadlines.
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
  /// Forgets what is not due yet and waits for a function that is running, unless that function is what destroys it.
  ~timers();
  timers(const timers&) = delete;
  timers& operator=(const timers&) = delete;

  /// Runs `call` at `when` unless cancelled. Threads: any. `call` must be short and must not throw.
  id at(clock::time_point when, std::function<void()> call);
  /// Forgets a timer; harmless when it has run.
  void cancel(id timer);

 private:
  struct state;
  std::shared_ptr<state> state_;  // shared with the thread
};

}  // namespace hondana::executor
