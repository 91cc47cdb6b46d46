/// How long tests wait for an event that must come, and waiting for a condition that nothing announces.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace hondana_test {

/// The deadline of every wait for an event that must come: minutes, so that no test depends on the speed of the machine.
inline constexpr std::chrono::minutes event_deadline{3};

/// Whether `condition` becomes true before the deadline; looks every few milliseconds. Only where nothing announces the event.
template <class Condition>
[[nodiscard]] bool eventually(Condition condition, std::chrono::steady_clock::duration deadline = event_deadline) {
  const auto end = std::chrono::steady_clock::now() + deadline;
  std::mutex mutex;
  std::condition_variable never;
  std::unique_lock lock(mutex);
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= end) return false;
    never.wait_for(lock, std::chrono::milliseconds(3));
  }
  return true;
}

}  // namespace hondana_test
