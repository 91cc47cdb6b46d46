/// Adding statistics up.
#include "sources/analyses/cache/statistics.hpp"

#include <algorithm>

namespace hondana::analyses {
namespace {

void add_time(std::uint64_t& to, std::uint64_t more) noexcept {
  const auto known = std::min(to, most_milliseconds);
  to = known + std::min(more, most_milliseconds - known);
}

}  // namespace

task_statistics& task_statistics::operator+=(const task_statistics& more) noexcept {
  hits += more.hits;
  stale_hits += more.stale_hits;
  misses += more.misses;
  failures += more.failures;
  computed += more.computed;
  below += more.below;
  cost_saved += more.cost_saved;
  cost_spent += more.cost_spent;
  add_time(milliseconds_saved, more.milliseconds_saved);
  add_time(milliseconds_spent, more.milliseconds_spent);
  return *this;
}

task_statistics statistics::all() const noexcept {
  task_statistics out;
  for (const auto& one : by_task) out += one;
  return out;
}

statistics& statistics::operator+=(const statistics& more) noexcept {
  for (std::size_t i = 0; i < by_task.size(); ++i) by_task[i] += more.by_task[i];
  return *this;
}

}  // namespace hondana::analyses
