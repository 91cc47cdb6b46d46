/// The remaining time of a call with several attempts, and retries that the server asks for.
#include "client/retry.hpp"

#include <condition_variable>
#include <mutex>

#include <hondana/clock.hpp>

namespace hondana::outbound {

bool wait_unless(const std::stop_token& one, const std::stop_token& other, std::chrono::milliseconds time) {
  std::mutex mutex;
  std::condition_variable_any changed;
  bool is_over = false;
  const std::stop_callback wake(other, [&] {
    const std::lock_guard lock(mutex);
    is_over = true;
    changed.notify_all();
  });
  std::unique_lock lock(mutex);
  (void)monotonic_clock::wait_for(changed, lock, one, time, [&] { return is_over; });
  return !is_over && !one.stop_requested();
}

}  // namespace hondana::outbound
