/// Calls a function at an interval, as long as somebody wants to hear of it.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "sources/metrics/series/sample.hpp"

namespace hondana::metrics {

/// One thread while there is something to call, none otherwise. Threads: any; none holds it while the function runs, except
/// that what ends it from elsewhere waits for it.
class following {
 public:
  /// `every` is asked again and again, and what it says holds at once, or within a second.
  explicit following(std::function<series::duration()> every) : every_(std::move(every)) {}
  ~following() { tell({}); }
  following(const following&) = delete;
  following& operator=(const following&) = delete;

  /// From now on; empty: no more, and afterwards it does not run, unless it is what calls this.
  void tell(std::function<void()> told);
  /// Calls nothing, as after an empty `tell`, until it goes on with what it had or is told something else.
  void pause();
  void go_on();

 private:
  void begin();
  static void end(std::jthread thread);
  void run(const std::stop_token& stop);

  std::function<series::duration()> every_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::function<void()> told_{};
  std::jthread thread_{};
};

}  // namespace hondana::metrics
