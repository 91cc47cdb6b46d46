/// Samples to what was asked for: over time, and then across series.
#include "sources/metrics/series/evaluation.hpp"

#include <algorithm>
#include <utility>

#include "sources/metrics/series/across.hpp"

namespace hondana::series {
namespace {

bool is_before(const points& a, const points& b) { return a.of < b.of; }

}  // namespace

result<std::vector<points>> evaluate(std::vector<points> from, const aggregation& how, const range& at, duration look_back) {
  const auto time = how.time.value_or(over_time::last);
  // Prometheus adds up series in the order that they have with their names.
  if (!std::is_sorted(from.begin(), from.end(), is_before)) std::sort(from.begin(), from.end(), is_before);
  for (auto& one : from) {
    one.samples = over(one.samples, time, how.window, at, look_back);
    if (time != over_time::last) one.of.name.clear();
  }
  std::erase_if(from, [](const points& one) { return one.samples.empty(); });
  if (!std::is_sorted(from.begin(), from.end(), is_before)) std::sort(from.begin(), from.end(), is_before);
  if (std::adjacent_find(from.begin(), from.end(), [](const points& a, const points& b) { return a.of == b.of; }) != from.end())
    return fail(errc::invalid_argument,
                "agg: series of several metrics have the same labels and differ only in their names; request one metric");
  if (!how.quantiles.empty()) return quantiles_of(from, how, at);
  if (how.across != across::none) return across_series(from, how, at);
  return from;
}

}  // namespace hondana::series
