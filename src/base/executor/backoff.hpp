/// Pauses between attempts.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <stop_token>

namespace hondana::executor {

/// Exponential back-off.
struct backoff {
  std::chrono::milliseconds first;
  std::chrono::milliseconds max;

  /// Returns the pause after this number of failures in a row, from 1: `first`, doubled with each further failure, at most
  /// `max`.
  [[nodiscard]] constexpr std::chrono::milliseconds delay(std::size_t failures) const noexcept {
    auto out = first;
    for (; failures > 1 && out < max && out.count() > 0; --failures) out *= 2;
    return std::min(out, max);
  }
};

/// Returns a random time between zero and `max`, so that clients that failed together do not retry together. Threads: any.
[[nodiscard]] std::chrono::milliseconds random_delay(std::chrono::milliseconds max);

/// Sleeps for `duration`. Returns false, at once, if a stop is requested. Threads: any.
[[nodiscard]] bool sleep_unless_stopped(std::chrono::milliseconds duration, const std::stop_token& stop);

}  // namespace hondana::executor
