/// Signals as function calls on a thread of their own.
#pragma once

#include <functional>
#include <thread>

namespace hondana::cli {

/// Blocks SIGTERM, SIGINT and SIGHUP in this thread and in all threads that it starts, ignores SIGPIPE, and calls back when
/// signals arrive. Also blocks SIGUSR2, which it uses itself. Create it before any thread that could receive these signals.
/// Only one instance at a time.
class signals {
 public:
  /// Blocks SIGHUP, so that it stays pending until an instance exists instead of ending the process. Call before other threads
  /// exist.
  static void block_reloads();
  /// Calls `stop` for SIGTERM and SIGINT, and `reload` for SIGHUP, on the signal thread. A second SIGTERM or SIGINT ends the
  /// process at once.
  signals(std::function<void()> stop, std::function<void()> reload);
  /// Waits for a running callback. The signals stay blocked.
  ~signals();
  signals(const signals&) = delete;
  signals& operator=(const signals&) = delete;

 private:
  void wait();

  std::function<void()> stop_;
  std::function<void()> reload_;
  std::thread thread_;
};

}  // namespace hondana::cli
