/// What pools are counted by.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "figures/families.hpp"
#include "work/pool.hpp"

namespace hondana::work {

/// Why a job was not taken.
enum class rejection : std::uint8_t { full, callers_share, stuck, closed, no_thread };

/// The figures of one pool; its name is a label. `now`: what it is doing.
struct pool_figures {
  pool_figures(const std::string& name, const std::function<pool_counts()>& now);

  std::shared_ptr<figures::times> waited;
  std::shared_ptr<figures::sums> rejected;  ///< By `rejection`.
  std::array<std::shared_ptr<const figures::part>, 3> gauges;
};

}  // namespace hondana::work
