/// Time that passes four times as fast, for tests that wait for pauses of seconds.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

#include <hondana/clock.hpp>

namespace hondana_test {

/// Moves a manual clock on as long as it exists. Deadlines of the objects under test shrink to a quarter, so these must be
/// minutes.
class fast_time {
 public:
  fast_time() = default;
  fast_time(const fast_time&) = delete;
  fast_time& operator=(const fast_time&) = delete;

 private:
  void pass(const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any never;
    std::unique_lock lock(mutex);
    while (!never.wait_for(lock, stop, std::chrono::milliseconds(1), [&stop] { return stop.stop_requested(); })) {
      clock_.advance(std::chrono::milliseconds(4));
    }
  }

  hondana::manual_clock clock_;
  std::jthread thread_{[this](const std::stop_token& stop) { pass(stop); }};
};

}  // namespace hondana_test
