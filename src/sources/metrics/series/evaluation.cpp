/// Evaluates aggregations at regular steps, as Prometheus does: over time, across series, and quantiles of histograms.
#include "sources/metrics/series/evaluation.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace hondana::series {

/// A compensated sum: keeps the rounding errors of additions. Infinities and NaN propagate as in plain sums.
struct exact_sum {
  double high = 0;
  double low = 0;

  [[nodiscard]] exact_sum with(const exact_sum& other) const noexcept {
    const double sum = high + other.high;
    if (!std::isfinite(sum)) return {sum, 0};
    const double back = sum - high;
    const double lost = (high - (sum - back)) + (other.high - back);
    return {sum, low + other.low + lost};
  }
  [[nodiscard]] double value() const noexcept { return high + low; }
};

/// Combines `of(i)` for all i in a sliding window [begin, end). All calls together take time linear in the number of values.
/// `T` has an associative `with`.
template <class T, class Of>
class sliding {
 public:
  explicit sliding(Of of) : of_(std::move(of)) {}

  /// The window must not be empty, and neither end may decrease.
  [[nodiscard]] T over(std::size_t begin, std::size_t end) {
    if (begin >= turn_) turn(begin, end);
    for (; end_ < end; ++end_) {
      tail_ = has_tail_ ? tail_.with(of_(end_)) : of_(end_);
      has_tail_ = true;
    }
    const T& head = heads_[turn_ - 1 - begin];
    return has_tail_ ? head.with(tail_) : head;
  }

 private:
  /// Computes `heads_` for [begin, end): the combination of all values from each index to `end`, last index first. Values added
  /// later are combined in `tail_`.
  void turn(std::size_t begin, std::size_t end) {
    heads_.clear();
    for (std::size_t at = end; at-- > begin;) heads_.push_back(heads_.empty() ? of_(at) : of_(at).with(heads_.back()));
    turn_ = end_ = end;
    has_tail_ = false;
  }

  Of of_;
  std::vector<T> heads_{};
  T tail_{};
  std::size_t turn_ = 0;
  std::size_t end_ = 0;
  bool has_tail_ = false;
};

/// The labels of a group: those of `of` that the aggregation keeps.
[[nodiscard]] identity grouped(const identity& of, const std::vector<std::string>& labels, bool is_without);

/// Aggregates across series; `how.across` is not none. `from` and the result are in order of identity, and each sample is at a
/// step of `at`.
[[nodiscard]] std::vector<points> across_series(const std::vector<points>& from, const aggregation& how, const range& at);

/// One series for each quantile and group of buckets. `from`: as above, with labels `le`. Errors: invalid_argument if no series
/// has `le`.
[[nodiscard]] result<std::vector<points>> quantiles_of(const std::vector<points>& from, const aggregation& how,
                                                       const range& at);

namespace {

std::size_t step_of(const sample& one, const range& at) noexcept {
  return static_cast<std::size_t>((one.at - at.start) / at.step);
}

/// The intermediate result of a group at one step.
struct folded {
  double value = 0;
  double mean = 0;
  std::uint32_t count = 0;
};

void fold_mean(folded& into, double value) {
  // An infinite mean stays infinite. The formula below would turn it into NaN.
  if (std::isinf(into.mean) && (std::isinf(value) ? (into.mean > 0) == (value > 0) : !std::isnan(value))) return;
  const auto count = static_cast<double>(into.count);
  into.mean += value / count - into.mean / count;
}

void fold(folded& into, double value, across how) {
  if (into.count++ == 0) {
    into.mean = value;
    into.value = how == across::stddev ? 0 : value;
    return;
  }
  switch (how) {
    case across::sum:
      into.value += value;
      break;
    case across::avg:
      fold_mean(into, value);
      break;
    case across::min:
      if (into.value > value || std::isnan(into.value)) into.value = value;
      break;
    case across::max:
      if (into.value < value || std::isnan(into.value)) into.value = value;
      break;
    case across::stddev: {
      const double distance = value - into.mean;
      into.mean += distance / into.count;
      into.value += distance * (value - into.mean);
      break;
    }
    case across::none:
    case across::count:
    case across::topk:
    case across::bottomk:
      break;
  }
}

double outcome_of(const folded& of, across how) noexcept {
  switch (how) {
    case across::avg:
      return of.mean;
    case across::count:
      return of.count;
    case across::stddev:
      return std::sqrt(of.value / of.count);
    default:
      return of.value;
  }
}

/// The indexes of the series in each group, in order.
std::map<identity, std::vector<std::size_t>> groups_of(const std::vector<points>& from, const aggregation& how) {
  std::map<identity, std::vector<std::size_t>> out;
  for (std::size_t i = 0; i < from.size(); ++i) out[grouped(from[i].of, how.labels, how.is_without)].push_back(i);
  return out;
}

std::vector<points> folded_groups(const std::vector<points>& from, const aggregation& how, const range& at) {
  std::vector<points> out;
  if (from.empty()) return out;  // and allocate no memory for the steps
  std::vector<folded> steps(at.steps());
  for (auto& [name, members] : groups_of(from, how)) {
    std::fill(steps.begin(), steps.end(), folded{});
    for (const auto i : members)
      for (const auto& one : from[i].samples) fold(steps[step_of(one, at)], one.value, how.across);
    points group{name, {}};
    for (std::size_t step = 0; step < steps.size(); ++step)
      if (steps[step].count > 0)
        group.samples.push_back({at.start + static_cast<duration>(step) * at.step, outcome_of(steps[step], how.across)});
    if (!group.samples.empty()) out.push_back(std::move(group));
  }
  return out;
}

/// The k greatest, or least, of the offered values. Which of several equal values stay depends on the heap, so it works as in
/// Prometheus: the least on top, and NaN below everything.
class best {
 public:
  struct entry {
    double value;
    std::size_t series;
  };
  best(std::size_t k, bool is_least) : k_(k), is_least_(is_least) {}

  void clear() { heap_.clear(); }
  [[nodiscard]] const std::vector<entry>& entries() const noexcept { return heap_; }

  void offer(entry one) {
    if (heap_.size() < k_) {
      heap_.push_back(one);
      rise(heap_.size() - 1);
      return;
    }
    const double worst = heap_.front().value;
    if (!(is_least_ ? worst > one.value : worst < one.value) && !std::isnan(worst)) return;
    std::swap(heap_.front(), heap_.back());
    heap_.pop_back();
    sink();
    heap_.push_back(one);
    rise(heap_.size() - 1);
  }

 private:
  [[nodiscard]] bool is_worse(const entry& a, const entry& b) const noexcept {
    return std::isnan(a.value) || (is_least_ ? a.value > b.value : a.value < b.value);
  }
  void rise(std::size_t at) {
    while (at > 0) {
      const auto above = (at - 1) / 2;
      if (!is_worse(heap_[at], heap_[above])) return;
      std::swap(heap_[at], heap_[above]);
      at = above;
    }
  }
  void sink() {
    for (std::size_t at = 0;;) {
      auto below = 2 * at + 1;
      if (below >= heap_.size()) return;
      if (below + 1 < heap_.size() && is_worse(heap_[below + 1], heap_[below])) ++below;
      if (!is_worse(heap_[below], heap_[at])) return;
      std::swap(heap_[at], heap_[below]);
      at = below;
    }
  }

  std::size_t k_;
  bool is_least_;
  std::vector<entry> heap_{};
};

std::vector<points> best_of_groups(const std::vector<points>& from, const aggregation& how, const range& at) {
  std::vector<std::vector<sample>> chosen(from.size());
  std::vector<std::size_t> next(from.size(), 0);
  best kept(how.k, how.across == across::bottomk);
  for (const auto& [name, members] : groups_of(from, how)) {
    instant now = at.start;
    for (std::size_t step = 0; step < at.steps(); ++step, now += at.step) {
      kept.clear();
      for (const auto i : members) {
        const auto& samples = from[i].samples;
        if (next[i] < samples.size() && samples[next[i]].at == now) kept.offer({samples[next[i]++].value, i});
      }
      for (const auto& one : kept.entries()) chosen[one.series].push_back({now, one.value});
    }
  }
  std::vector<points> out;
  for (std::size_t i = 0; i < from.size(); ++i)
    if (!chosen[i].empty()) out.push_back({from[i].of, std::move(chosen[i])});
  return out;
}

}  // namespace

identity grouped(const identity& of, const std::vector<std::string>& labels, bool is_without) {
  const auto is_named = [&labels](std::string_view name) {
    return std::find(labels.begin(), labels.end(), name) != labels.end();
  };
  identity out;
  if (!is_without && is_named("__name__")) out.name = of.name;
  std::copy_if(of.labels.begin(), of.labels.end(), std::back_inserter(out.labels),
               [&](const label& one) { return is_named(one.first) != is_without; });
  return out;
}

std::vector<points> across_series(const std::vector<points>& from, const aggregation& how, const range& at) {
  if (how.across == across::topk || how.across == across::bottomk)
    return how.k == 0 ? std::vector<points>{} : best_of_groups(from, how, at);
  return folded_groups(from, how, at);
}

namespace {

/// Calls `value_of` for each step with the samples [begin, end) of the window that ends at `at`. It returns false if there is
/// no value.
template <class Function>
std::vector<sample> at_each_step(const std::vector<sample>& samples, duration window, const range& at, Function value_of) {
  std::vector<sample> out;
  const auto steps = at.steps();
  std::size_t begin = 0, end = 0;
  instant now = at.start;
  for (std::size_t step = 0; step < steps; ++step, now += at.step) {
    while (end < samples.size() && samples[end].at <= now) ++end;
    while (begin < end && samples[begin].at < now - window) ++begin;
    if (begin == end) continue;
    double value = 0;
    if (value_of(begin, end, now, value)) out.push_back({now, value});
  }
  return out;
}

std::vector<sample> last_at_each_step(const std::vector<sample>& samples, const range& at, duration look_back) {
  return at_each_step(samples, look_back, at, [&](std::size_t, std::size_t end, instant, double& value) {
    value = samples[end - 1].value;
    return !is_stale(value);
  });
}

/// The factor that extends a change from the samples to the whole window, as in Prometheus. If the first or last sample is
/// close to the edge of the window, the change is extended to the edge. Otherwise it is extended by half the average distance
/// of samples.
double extrapolation(const std::vector<sample>& samples, std::size_t begin, std::size_t end, instant now, duration window,
                     bool is_counter, double change) {
  const auto seconds = [](duration length) { return static_cast<double>(length) / 1000; };
  const auto& first = samples[begin];
  const auto& last = samples[end - 1];
  double to_start = seconds(first.at - (now - window));
  const double to_end = seconds(now - last.at);
  const double covered = seconds(last.at - first.at);
  const double distance = covered / static_cast<double>(end - begin - 1);
  // A counter was never below zero.
  if (is_counter && change > 0 && first.value >= 0) to_start = std::min(to_start, covered * (first.value / change));
  const double near_enough = distance * 1.1;
  const double all =
      covered + (to_start < near_enough ? to_start : distance / 2) + (to_end < near_enough ? to_end : distance / 2);
  return all / covered;
}

std::vector<sample> changes(const std::vector<sample>& samples, over_time how, duration window, const range& at) {
  const bool is_counter = how != over_time::delta;
  // The value that a counter lost by a reset, at the first sample after it.
  const auto lost_at = [&samples](std::size_t i) {
    const double before = samples[i - 1].value;
    return exact_sum{samples[i].value < before ? before : 0, 0};
  };
  sliding<exact_sum, decltype(lost_at)> lost(lost_at);
  return at_each_step(samples, window, at, [&](std::size_t begin, std::size_t end, instant now, double& value) {
    if (end - begin < 2) return false;
    value = samples[end - 1].value - samples[begin].value;
    if (is_counter) value += lost.over(begin + 1, end).value();
    double factor = extrapolation(samples, begin, end, now, window, is_counter, value);
    if (how == over_time::rate) factor /= static_cast<double>(window) / 1000;
    value *= factor;
    return true;
  });
}

std::vector<sample> instant_rates(const std::vector<sample>& samples, duration window, const range& at) {
  return at_each_step(samples, window, at, [&](std::size_t begin, std::size_t end, instant, double& value) {
    if (end - begin < 2) return false;
    const auto& last = samples[end - 1];
    const auto& before = samples[end - 2];
    if (last.at == before.at) return false;
    value = (last.value < before.value ? last.value : last.value - before.value) /
            (static_cast<double>(last.at - before.at) / 1000);
    return true;
  });
}

std::vector<sample> sums(const std::vector<sample>& samples, duration window, const range& at) {
  const auto one = [&samples](std::size_t i) { return exact_sum{samples[i].value, 0}; };
  sliding<exact_sum, decltype(one)> sum(one);
  return at_each_step(samples, window, at, [&](std::size_t begin, std::size_t end, instant, double& value) {
    value = sum.over(begin, end).value();
    return true;
  });
}

/// The sum of a window may overflow although its mean does not. So this also adds scaled-down values.
struct sum_and_share {
  static constexpr double share = 0x1p-64;
  exact_sum whole{}, part{};

  [[nodiscard]] sum_and_share with(const sum_and_share& other) const noexcept {
    return {whole.with(other.whole), part.with(other.part)};
  }
};

std::vector<sample> means(const std::vector<sample>& samples, duration window, const range& at) {
  const auto one = [&samples](std::size_t i) {
    return sum_and_share{{samples[i].value, 0}, {samples[i].value * sum_and_share::share, 0}};
  };
  sliding<sum_and_share, decltype(one)> sum(one);
  return at_each_step(samples, window, at, [&](std::size_t begin, std::size_t end, instant, double& value) {
    const auto all = sum.over(begin, end);
    const auto count = static_cast<double>(end - begin);
    value = std::isfinite(all.whole.high) ? all.whole.value() / count : all.part.value() / count / sum_and_share::share;
    return true;
  });
}

/// NaN only if all values are NaN.
template <bool is_max>
struct extreme {
  double value = 0;

  [[nodiscard]] extreme with(const extreme& other) const noexcept {
    const bool is_other = (is_max ? other.value > value : other.value < value) || std::isnan(value);
    return is_other ? other : *this;
  }
};

template <bool is_max>
std::vector<sample> extremes(const std::vector<sample>& samples, duration window, const range& at) {
  const auto one = [&samples](std::size_t i) { return extreme<is_max>{samples[i].value}; };
  sliding<extreme<is_max>, decltype(one)> most(one);
  return at_each_step(samples, window, at, [&](std::size_t begin, std::size_t end, instant, double& value) {
    value = most.over(begin, end).value;
    return true;
  });
}

std::vector<sample> counts(const std::vector<sample>& samples, duration window, const range& at) {
  return at_each_step(samples, window, at, [](std::size_t begin, std::size_t end, instant, double& value) {
    value = static_cast<double>(end - begin);
    return true;
  });
}

std::vector<sample> over_windows(const std::vector<sample>& samples, over_time how, duration window, const range& at) {
  switch (how) {
    case over_time::rate:
    case over_time::increase:
    case over_time::delta:
      return changes(samples, how, window, at);
    case over_time::irate:
      return instant_rates(samples, window, at);
    case over_time::avg:
      return means(samples, window, at);
    case over_time::min:
      return extremes<false>(samples, window, at);
    case over_time::max:
      return extremes<true>(samples, window, at);
    case over_time::sum:
      return sums(samples, window, at);
    case over_time::count:
      return counts(samples, window, at);
    case over_time::last:
      break;
  }
  return {};
}

}  // namespace

std::vector<sample> over(const std::vector<sample>& samples, over_time how, duration window, const range& at,
                         duration look_back) {
  if (how == over_time::last) return last_at_each_step(samples, at, look_back);
  const auto is_end_of_series = [](const sample& one) { return is_stale(one.value); };
  if (std::none_of(samples.begin(), samples.end(), is_end_of_series)) return over_windows(samples, how, window, at);
  std::vector<sample> fresh;
  fresh.reserve(samples.size());
  std::remove_copy_if(samples.begin(), samples.end(), std::back_inserter(fresh), is_end_of_series);
  return over_windows(fresh, how, window, at);
}

namespace {

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

/// Merges buckets with the same bound, and raises each count to at least the counts of lower buckets. Lower counts occur if not
/// all buckets were scraped at the same time. Returns the number of buckets left.
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

/// `buckets`: in increasing order of bounds. They are modified.
double quantile_in(double quantile, std::span<bucket> buckets) {
  if (std::isnan(quantile)) return nothing;
  if (quantile < 0) return -std::numeric_limits<double>::infinity();
  if (quantile > 1) return std::numeric_limits<double>::infinity();
  if (buckets.empty() || buckets.back().upper != std::numeric_limits<double>::infinity()) return nothing;
  buckets = buckets.first(made_whole(buckets));
  const double observed = buckets.back().count;
  if (buckets.size() < 2 || observed == 0) return nothing;
  double rank = quantile * observed;
  // If NaN breaks the order, the result is still that of a binary search, as in Prometheus.
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

/// The value of `le`. NaN if it is invalid.
double bound_of(const identity& of) {
  const auto text = of.value_of("le");
  return text.empty() ? nothing : number_in(text).value_or(nothing);
}

struct bounded {
  double upper;
  const std::vector<sample>* counts;
  std::size_t next = 0;
};

/// Appends one value per quantile for each step that has buckets. `into`: one series per quantile.
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

/// Adds the label `quantile`.
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

namespace {

bool is_before(const points& a, const points& b) { return a.of < b.of; }

}  // namespace

result<std::vector<points>> evaluate(std::vector<points> from, const aggregation& how, const range& at, duration look_back) {
  const auto time = how.time.value_or(over_time::last);
  // Prometheus adds series up in the order of their full identities, with names.
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
