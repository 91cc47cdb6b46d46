/// The clocks of authenticators. Tests replace them.
#pragma once

#include <chrono>
#include <functional>

#include <hondana/clock.hpp>

namespace hondana::authentication {

using wall_time = std::chrono::sys_time<std::chrono::seconds>;
using steady_time = std::chrono::steady_clock::time_point;

/// Functions that return the current time. None may be null.
struct clocks {
  /// For the times in tokens.
  std::function<wall_time()> wall = [] {
    return std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now());
  };
  /// For caches and pauses.
  std::function<steady_time()> steady = [] { return monotonic_clock::now(); };
};

}  // namespace hondana::authentication
