/// How long one call of the authorization server may take.
#pragma once

#include <algorithm>
#include <chrono>

#include <hondana/clock.hpp>

namespace hondana::authentication {

/// At most ten seconds, and at least a moment, so that a deadline that is over is a timeout like any other.
[[nodiscard]] inline std::chrono::milliseconds time_left(std::chrono::steady_clock::time_point deadline) {
  const auto now = monotonic_clock::now();
  constexpr std::chrono::milliseconds most{10'000};
  if (deadline - most >= now) return most;
  return std::max(std::chrono::duration_cast<std::chrono::milliseconds>(deadline - now), std::chrono::milliseconds(1));
}

}  // namespace hondana::authentication
