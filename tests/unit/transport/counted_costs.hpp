/// Counts what threads other than the test's own allocate and lock. Its source replaces `operator new` in the whole test
/// program; it is left out under sanitizers, which replace it themselves.
#pragma once

#include <atomic>

namespace hondana_test {

/// Set by a thread that is not to be counted.
inline thread_local bool is_the_clients = false;
inline std::atomic<long> allocations_of_server{0};
inline std::atomic<long> locks_of_server{0};
inline void count_lock() noexcept {
  if (!is_the_clients) locks_of_server.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace hondana_test
