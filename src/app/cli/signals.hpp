/// Signals as function calls on a thread of their own.
#pragma once

#include <functional>
#include <thread>

namespace hondana::cli {

/// Blocks SIGTERM, SIGINT and SIGHUP in this thread and all it starts, ignores SIGPIPE, and calls back when they arrive.
/// Made before any other thread that would take signals; one at a time.
class signals {
 public:
  /// From now on SIGHUP waits until there is somebody to hear it, and ends nothing. Before other threads exist.
  static void hold_reloads();
  /// `stop` is called for SIGTERM and SIGINT; a second one of either ends the process at once. `reload` for SIGHUP.
  signals(std::function<void()> stop, std::function<void()> reload);
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
