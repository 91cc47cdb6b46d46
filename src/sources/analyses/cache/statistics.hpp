/// What a cache has been good for.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "sources/analyses/cache/analysis.hpp"

namespace hondana::analyses {

/// Sums of milliseconds stay here when they would be above.
inline constexpr std::uint64_t most_milliseconds = 9'000'000'000'000'000'000u;

/// Of one task type, since the store was made. Costs are what the analyses that were served had cost.
struct task_statistics {
  std::uint64_t hits = 0;        ///< Served fresh.
  std::uint64_t stale_hits = 0;  ///< Served and marked as stale.
  std::uint64_t misses = 0;      ///< Nothing that could be served.
  std::uint64_t failures = 0;    ///< Answered with a failure that is still remembered.
  std::uint64_t computed = 0;    ///< Analyses that were put whole.
  std::uint64_t below = 0;       ///< Of these, below their thresholds.
  double cost_saved = 0;
  double cost_spent = 0;  ///< Of those computed.
  std::uint64_t milliseconds_saved = 0;
  std::uint64_t milliseconds_spent = 0;

  task_statistics& operator+=(const task_statistics& more) noexcept;
  bool operator==(const task_statistics&) const = default;
};

struct statistics {
  std::array<task_statistics, count_of_tasks> by_task{};

  [[nodiscard]] task_statistics& of(task_type which) noexcept { return by_task[static_cast<std::size_t>(which)]; }
  [[nodiscard]] const task_statistics& of(task_type which) const noexcept { return by_task[static_cast<std::size_t>(which)]; }
  [[nodiscard]] task_statistics all() const noexcept;
  statistics& operator+=(const statistics& more) noexcept;
  bool operator==(const statistics&) const = default;
};

}  // namespace hondana::analyses
