/// Pauses between attempts.
#include "base/executor/backoff.hpp"

#include <condition_variable>
#include <mutex>
#include <random>

#include <hondana/clock.hpp>

namespace hondana::executor {

std::chrono::milliseconds random_delay(std::chrono::milliseconds max) {
  thread_local std::minstd_rand random(std::random_device{}());
  return std::chrono::milliseconds(std::uniform_int_distribution<std::chrono::milliseconds::rep>(0, max.count())(random));
}

bool sleep_unless_stopped(std::chrono::milliseconds duration, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any stopped;
  std::unique_lock lock(mutex);
  static_cast<void>(monotonic_clock::wait_for(stopped, lock, stop, duration, [] { return false; }));
  return !stop.stop_requested();
}

}  // namespace hondana::executor
