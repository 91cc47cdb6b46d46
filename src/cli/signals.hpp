/// Signals as function calls on a thread of their own.
#pragma once

#include <functional>
#include <thread>

namespace hondana::cli {

/// Blocks SIGTERM, SIGINT and SIGHUP in this thread and all it starts, ignores SIGPIPE, and calls back when they arrive.
/// Made in `main` before any other thread; one at a time.
class signals {
 public:
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
