/// How long analyses are kept, and what they have to reach, by task type.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>

#include <hondana/error.hpp>

#include "sources/analyses/cache/analysis.hpp"
#include "sources/analyses/cache/store.hpp"

namespace hondana::analyses {

struct task_policy {
  milliseconds fresh = std::chrono::hours(1);     ///< Above 0.
  milliseconds stale = std::chrono::minutes(30);  ///< How much longer it may be served, marked as stale; 0: not at all.
  thresholds wanted{};                            ///< Beside the analysis's own: the stricter ones hold.
};

struct policy {
  /// In the order of `task_type`.
  std::array<task_policy, count_of_tasks> by_task{
      task_policy{std::chrono::hours(1), std::chrono::minutes(30), {0.7, 0.6, 2}},
      task_policy{std::chrono::hours(24), std::chrono::hours(6), {0.8, 0.7, 3}},
      task_policy{std::chrono::hours(24 * 7), std::chrono::milliseconds(0), {0.9, 0.8, 4}},
  };
  milliseconds failures = std::chrono::seconds(30);  ///< How long a failure is remembered; 0: not at all.
  milliseconds lease = std::chrono::minutes(2);      ///< Where a claimant asks for none.
  milliseconds longest_lease = std::chrono::hours(1);
  std::size_t most_waiting = 256;  ///< Claimants of one process that wait for others at the same time.
  limits kept{};

  [[nodiscard]] const task_policy& of(task_type which) const noexcept { return by_task[static_cast<std::size_t>(which)]; }
  [[nodiscard]] task_policy& of(task_type which) noexcept { return by_task[static_cast<std::size_t>(which)]; }
};
/// Errors: invalid_argument, naming the value that is out of its range.
[[nodiscard]] result<void> check(const policy& what);

}  // namespace hondana::analyses
