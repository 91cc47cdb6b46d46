/// Timeouts of calls with several attempts, and retries that the server asks for.
#include "client/retry.hpp"

#include <condition_variable>
#include <mutex>

#include <hondana/clock.hpp>

namespace hondana::outbound {

bool sleep_unless_stopped(const std::stop_token& stop, const std::stop_token& closing, std::chrono::milliseconds duration) {
  std::mutex mutex;
  std::condition_variable_any changed;
  bool is_over = false;
  const std::stop_callback on_close(closing, [&] {
    const std::lock_guard lock(mutex);
    is_over = true;
    changed.notify_all();
  });
  std::unique_lock lock(mutex);
  (void)monotonic_clock::wait_for(changed, lock, stop, duration, [&] { return is_over; });
  return !is_over && !stop.stop_requested();
}

}  // namespace hondana::outbound
