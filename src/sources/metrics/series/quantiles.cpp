/// Quantiles of classic histograms.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <span>
#include <utility>

#include "sources/metrics/series/across.hpp"

namespace hondana::series {
namespace {

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

/// Buckets with the same bound become one, and none counts less than one below it, as it may where not all of them were scraped
/// at once. How many are left.
std::size_t made_whole(std::span<bucket> buckets) {
  std::size_t last = 0;
  for (std::size_t i = 1; i < buckets.size(); ++i) {
    if (buckets[i].upper == buckets[last].upper)
      buckets[last].count += buckets[i].count;
    else
      buckets[++last] = buckets[i];
  }
  double most = buckets[0].count;
  for (auto& one : buckets.first(last + 1)) {
    if (one.count > most) most = one.count;
    if (one.count < most) one.count = most;
  }
  return last + 1;
}

/// `buckets`: by rising bounds; they are changed.
double quantile_in(double quantile, std::span<bucket> buckets) {
  if (std::isnan(quantile)) return nothing;
  if (quantile < 0) return -std::numeric_limits<double>::infinity();
  if (quantile > 1) return std::numeric_limits<double>::infinity();
  if (buckets.empty() || buckets.back().upper != std::numeric_limits<double>::infinity()) return nothing;
  buckets = buckets.first(made_whole(buckets));
  const double observed = buckets.back().count;
  if (buckets.size() < 2 || observed == 0) return nothing;
  double rank = quantile * observed;
  // Of what is not in order because of NaN the same is found as by halving it elsewhere.
  std::size_t at = 0;
  for (std::size_t end = buckets.size() - 1; at < end;) {
    const auto middle = at + (end - at) / 2;
    if (buckets[middle].count >= rank)
      end = middle;
    else
      at = middle + 1;
  }
  if (at == buckets.size() - 1) return buckets[at - 1].upper;
  if (at == 0 && buckets[0].upper <= 0) return buckets[0].upper;
  const double lower = at > 0 ? buckets[at - 1].upper : 0;
  const double below = at > 0 ? buckets[at - 1].count : 0;
  rank -= below;
  return lower + (buckets[at].upper - lower) * (rank / (buckets[at].count - below));
}

/// Of `le`; NaN: it is none.
double bound_of(const identity& of) {
  const auto text = of.value_of("le");
  return text.empty() ? nothing : number_in(text).value_or(nothing);
}

struct bounded {
  double upper;
  const std::vector<sample>* counts;
  std::size_t next = 0;
};

/// Appends one value of each quantile for each step at which there are buckets. `into`: as many as there are quantiles.
void add_steps(std::vector<bounded>& group, const std::vector<double>& quantiles, const range& at, std::vector<points>& into) {
  std::sort(group.begin(), group.end(), [](const bounded& a, const bounded& b) { return a.upper < b.upper; });
  std::vector<bucket> here, changed;
  instant now = at.start;
  for (std::size_t step = 0; step < at.steps(); ++step, now += at.step) {
    here.clear();
    for (auto& one : group)
      if (one.next < one.counts->size() && (*one.counts)[one.next].at == now)
        here.push_back({one.upper, (*one.counts)[one.next++].value});
    if (here.empty()) continue;
    for (std::size_t i = 0; i < quantiles.size(); ++i) {
      changed = here;
      into[i].samples.push_back({now, quantile_in(quantiles[i], changed)});
    }
  }
}

/// With a label `quantile`.
identity labelled(identity of, double quantile) {
  std::erase_if(of.labels, [](const label& one) { return one.first == "quantile"; });
  const auto at = std::find_if(of.labels.begin(), of.labels.end(), [](const label& one) { return one.first > "quantile"; });
  of.labels.emplace(at, "quantile", number_text(quantile));
  return of;
}

}  // namespace

double quantile_of(double quantile, std::vector<bucket> buckets) {
  std::erase_if(buckets, [](const bucket& one) { return std::isnan(one.upper); });
  std::sort(buckets.begin(), buckets.end(), [](const bucket& a, const bucket& b) { return a.upper < b.upper; });
  return quantile_in(quantile, buckets);
}

result<std::vector<points>> quantiles_of(const std::vector<points>& from, const aggregation& how, const range& at) {
  const bool has_buckets =
      std::any_of(from.begin(), from.end(), [](const points& one) { return !one.of.value_of("le").empty(); });
  if (!from.empty() && !has_buckets)
    return fail(errc::invalid_argument,
                "agg: quantiles require a histogram, and this metric has no buckets (no label le); leave out the quantile");
  aggregation sums;
  sums.across = across::sum;
  sums.labels = how.labels;
  sums.is_without = how.is_without;
  if (!how.is_without) sums.labels.emplace_back("le");
  const auto summed = across_series(from, sums, at);
  std::map<identity, std::vector<bounded>> groups;
  for (const auto& one : summed)
    if (const double upper = bound_of(one.of); !std::isnan(upper))
      groups[grouped(one.of, {"le"}, true)].push_back({upper, &one.samples});
  std::vector<points> out;
  for (auto& [name, group] : groups) {
    std::vector<points> made;
    made.reserve(how.quantiles.size());
    for (const double one : how.quantiles) made.push_back({labelled(name, one), {}});
    add_steps(group, how.quantiles, at, made);
    for (auto& one : made)
      if (!one.samples.empty()) out.push_back(std::move(one));
  }
  std::sort(out.begin(), out.end(), [](const points& a, const points& b) { return a.of < b.of; });
  return out;
}

}  // namespace hondana::series
