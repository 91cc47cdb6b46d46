/// What pools are counted by.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/counters/families.hpp"
#include "base/executor/pool.hpp"

namespace hondana::executor {

/// Why a job was not taken.
enum class rejection : std::uint8_t { full, callers_share, stuck, closed, no_thread };

/// The figures of one pool; its name is a label. `now`: what it is doing.
struct pool_figures {
  pool_figures(const std::string& name, const std::function<pool_counts()>& now);

  std::shared_ptr<counters::times> waited;
  std::shared_ptr<counters::sums> rejected;  ///< By `rejection`.
  std::array<std::shared_ptr<const counters::part>, 3> gauges;
};

}  // namespace hondana::executor
