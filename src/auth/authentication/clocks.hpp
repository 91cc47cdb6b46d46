/// The clocks of authenticators, which tests replace.
#pragma once

#include <chrono>
#include <functional>

#include <hondana/clock.hpp>

namespace hondana::authentication {

using wall_time = std::chrono::sys_time<std::chrono::seconds>;
using steady_time = std::chrono::steady_clock::time_point;

/// Wall clock and monotonic clock.
struct clocks {
  std::function<wall_time()> wall = [] {
    return std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now());
  };
  std::function<steady_time()> steady = [] { return monotonic_clock::now(); };
};

}  // namespace hondana::authentication
