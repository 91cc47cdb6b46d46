/// Which policies there can be.
#include "sources/analyses/cache/policy.hpp"

#include <string>

namespace hondana::analyses {
namespace {

using std::chrono::hours;

constexpr milliseconds longest = hours(24 * 366 * 10);

tl::unexpected<failure> out_of_range(const std::string& what, const std::string& range) {
  return fail(errc::invalid_argument, what + " must be " + range);
}

bool is_share(double number) noexcept { return number >= 0 && number <= 1; }

}  // namespace

result<void> check(const policy& what) {
  for (std::size_t i = 0; i < count_of_tasks; ++i) {
    const auto& one = what.by_task[i];
    const std::string of = " of " + std::string(name_of(static_cast<task_type>(i))) + " tasks";
    if (one.fresh <= milliseconds(0) || one.fresh > longest)
      return out_of_range("the time that analyses" + of + " are fresh", "above 0 and at most 10 years");
    if (one.stale < milliseconds(0) || one.stale > longest)
      return out_of_range("the time that analyses" + of + " may be returned as stale", "from 0 to 10 years");
    if (!is_share(one.wanted.confidence) || !is_share(one.wanted.consensus))
      return out_of_range("the lowest confidence and consensus" + of, "from 0 to 1");
    if (one.wanted.providers < 1 || one.wanted.providers > 64)
      return out_of_range("the lowest number of providers" + of, "from 1 to 64");
  }
  if (what.failures < milliseconds(0) || what.failures > hours(24))
    return out_of_range("the time that failures are remembered", "from 0 to a day");
  if (what.longest_lease < milliseconds(100) || what.longest_lease > hours(24))
    return out_of_range("the longest lease", "from 100 ms to a day");
  if (what.lease < milliseconds(100) || what.lease > what.longest_lease)
    return out_of_range("the lease", "from 100 ms to the longest lease");
  if (what.most_waiting > 100'000) return out_of_range("the number of waiting calls", "at most 100000");
  if (what.kept.bytes < (1u << 20) || what.kept.entries < 1 || what.kept.age <= milliseconds(0) || what.kept.age > longest)
    return out_of_range("the limits of the cache", "at least 1 MiB, one analysis and 1 ms, and at most 10 years");
  return {};
}

}  // namespace hondana::analyses
