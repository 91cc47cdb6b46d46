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
struct compensated_sum {
  double high = 0;
  double low = 0;

  [[nodiscard]] compensated_sum plus(const compensated_sum& other) const noexcept {
    const double sum = high + other.high;
    if (!std::isfinite(sum)) return {sum, 0};
    const double back = sum - high;
    const double error = (high - (sum - back)) + (other.high - back);
    return {sum, low + other.low + error};
  }
  [[nodiscard]] double value() const noexcept { return high + low; }
};

/// Combines `get(i)` for all i in a sliding window [begin, end). All calls together take time linear in the number of values.
/// `T` has an associative `plus`.
template <class T, class Get>
class sliding_window {
 public:
  explicit sliding_window(Get get) : get_(std::move(get)) {}

  /// The window must not be empty, and neither end may decrease.
  [[nodiscard]] T combine(std::size_t begin, std::size_t end) {
    if (begin >= pivot_) rebuild(begin, end);
    for (; end_ < end; ++end_) {
      tail_ = has_tail_ ? tail_.plus(get_(end_)) : get_(end_);
      has_tail_ = true;
    }
    const T& suffix = suffixes_[pivot_ - 1 - begin];
    return has_tail_ ? suffix.plus(tail_) : suffix;
  }

 private:
  /// Computes `suffixes_` for [begin, end): the combination of all values from each index to `end`, last index first. Values
  /// added later are combined in `tail_`.
  void rebuild(std::size_t begin, std::size_t end) {
    suffixes_.clear();
    for (std::size_t i = end; i-- > begin;) suffixes_.push_back(suffixes_.empty() ? get_(i) : get_(i).plus(suffixes_.back()));
    pivot_ = end_ = end;
    has_tail_ = false;
  }

  Get get_;
  std::vector<T> suffixes_{};
  T tail_{};
  std::size_t pivot_ = 0;
  std::size_t end_ = 0;
  bool has_tail_ = false;
};

/// The labels of a group: those of `original` that the aggregation keeps.
[[nodiscard]] identity group_identity(const identity& original, const std::vector<std::string>& labels, bool is_without);

/// Aggregates across series; `aggregation.across` is not none. `input` and the result are in order of identity, and each sample
/// is at a step of `range`.
[[nodiscard]] std::vector<time_series> aggregate_across(const std::vector<time_series>& input, const aggregation& aggregation,
                                                        const range& range);

/// One series for each quantile and group of buckets. `input`: as above, with labels `le`. Errors: invalid_argument if no
/// series has `le`.
[[nodiscard]] result<std::vector<time_series>> compute_quantiles(const std::vector<time_series>& input, const aggregation& agg,
                                                                 const range& range);

namespace {

std::size_t step_index(const sample& sample, const range& range) noexcept {
  return static_cast<std::size_t>((sample.time - range.start) / range.step);
}

/// The intermediate result of a group at one step.
struct accumulator {
  double value = 0;
  double mean = 0;
  std::uint32_t count = 0;
};

void accumulate_mean(accumulator& state, double value) {
  // An infinite mean stays infinite. The formula below would turn it into NaN.
  if (std::isinf(state.mean) && (std::isinf(value) ? (state.mean > 0) == (value > 0) : !std::isnan(value))) return;
  const auto count = static_cast<double>(state.count);
  state.mean += value / count - state.mean / count;
}

void accumulate(accumulator& state, double value, across op) {
  if (state.count++ == 0) {
    state.mean = value;
    state.value = op == across::stddev ? 0 : value;
    return;
  }
  switch (op) {
    case across::sum:
      state.value += value;
      break;
    case across::avg:
      accumulate_mean(state, value);
      break;
    case across::min:
      if (state.value > value || std::isnan(state.value)) state.value = value;
      break;
    case across::max:
      if (state.value < value || std::isnan(state.value)) state.value = value;
      break;
    case across::stddev: {
      const double distance = value - state.mean;
      state.mean += distance / state.count;
      state.value += distance * (value - state.mean);
      break;
    }
    case across::none:
    case across::count:
    case across::topk:
    case across::bottomk:
      break;
  }
}

double final_value(const accumulator& state, across op) noexcept {
  switch (op) {
    case across::avg:
      return state.mean;
    case across::count:
      return state.count;
    case across::stddev:
      return std::sqrt(state.value / state.count);
    default:
      return state.value;
  }
}

/// The indexes of the series in each group, in order.
std::map<identity, std::vector<std::size_t>> group_series(const std::vector<time_series>& input,
                                                          const aggregation& aggregation) {
  std::map<identity, std::vector<std::size_t>> out;
  for (std::size_t i = 0; i < input.size(); ++i)
    out[group_identity(input[i].id, aggregation.labels, aggregation.is_without)].push_back(i);
  return out;
}

std::vector<time_series> aggregate_groups(const std::vector<time_series>& input, const aggregation& aggregation,
                                          const range& range) {
  std::vector<time_series> out;
  if (input.empty()) return out;  // and allocate no memory for the steps
  std::vector<accumulator> steps(range.steps());
  for (auto& [identity, members] : group_series(input, aggregation)) {
    std::fill(steps.begin(), steps.end(), accumulator{});
    for (const auto i : members)
      for (const auto& sample : input[i].samples)
        accumulate(steps[step_index(sample, range)], sample.value, aggregation.across);
    time_series group{identity, {}};
    for (std::size_t step = 0; step < steps.size(); ++step)
      if (steps[step].count > 0)
        group.samples.push_back(
            {range.start + static_cast<duration>(step) * range.step, final_value(steps[step], aggregation.across)});
    if (!group.samples.empty()) out.push_back(std::move(group));
  }
  return out;
}

/// The k greatest, or least, of the offered values. Which of several equal values stay depends on the heap, so it works as in
/// Prometheus: the least on top, and NaN below everything.
class bounded_heap {
 public:
  struct entry {
    double value;
    std::size_t series;
  };
  bounded_heap(std::size_t k, bool is_bottom) : k_(k), is_bottom_(is_bottom) {}

  void clear() { heap_.clear(); }
  [[nodiscard]] const std::vector<entry>& entries() const noexcept { return heap_; }

  void offer(entry candidate) {
    if (heap_.size() < k_) {
      heap_.push_back(candidate);
      sift_up(heap_.size() - 1);
      return;
    }
    const double worst = heap_.front().value;
    if (!(is_bottom_ ? worst > candidate.value : worst < candidate.value) && !std::isnan(worst)) return;
    std::swap(heap_.front(), heap_.back());
    heap_.pop_back();
    sift_down();
    heap_.push_back(candidate);
    sift_up(heap_.size() - 1);
  }

 private:
  [[nodiscard]] bool is_worse(const entry& a, const entry& b) const noexcept {
    return std::isnan(a.value) || (is_bottom_ ? a.value > b.value : a.value < b.value);
  }
  void sift_up(std::size_t position) {
    while (position > 0) {
      const auto parent = (position - 1) / 2;
      if (!is_worse(heap_[position], heap_[parent])) return;
      std::swap(heap_[position], heap_[parent]);
      position = parent;
    }
  }
  void sift_down() {
    for (std::size_t position = 0;;) {
      auto child = 2 * position + 1;
      if (child >= heap_.size()) return;
      if (child + 1 < heap_.size() && is_worse(heap_[child + 1], heap_[child])) ++child;
      if (!is_worse(heap_[child], heap_[position])) return;
      std::swap(heap_[position], heap_[child]);
      position = child;
    }
  }

  std::size_t k_;
  bool is_bottom_;
  std::vector<entry> heap_{};
};

std::vector<time_series> select_top(const std::vector<time_series>& input, const aggregation& aggregation, const range& range) {
  std::vector<std::vector<sample>> chosen(input.size());
  std::vector<std::size_t> next(input.size(), 0);
  bounded_heap heap(aggregation.k, aggregation.across == across::bottomk);
  for (const auto& [name, members] : group_series(input, aggregation)) {
    instant time = range.start;
    for (std::size_t step = 0; step < range.steps(); ++step, time += range.step) {
      heap.clear();
      for (const auto i : members) {
        const auto& samples = input[i].samples;
        if (next[i] < samples.size() && samples[next[i]].time == time) heap.offer({samples[next[i]++].value, i});
      }
      for (const auto& entry : heap.entries()) chosen[entry.series].push_back({time, entry.value});
    }
  }
  std::vector<time_series> out;
  for (std::size_t i = 0; i < input.size(); ++i)
    if (!chosen[i].empty()) out.push_back({input[i].id, std::move(chosen[i])});
  return out;
}

}  // namespace

identity group_identity(const identity& original, const std::vector<std::string>& labels, bool is_without) {
  const auto is_named = [&labels](std::string_view name) {
    return std::find(labels.begin(), labels.end(), name) != labels.end();
  };
  identity out;
  if (!is_without && is_named("__name__")) out.name = original.name;
  std::copy_if(original.labels.begin(), original.labels.end(), std::back_inserter(out.labels),
               [&](const label& entry) { return is_named(entry.first) != is_without; });
  return out;
}

std::vector<time_series> aggregate_across(const std::vector<time_series>& input, const aggregation& aggregation,
                                          const range& range) {
  if (aggregation.across == across::topk || aggregation.across == across::bottomk)
    return aggregation.k == 0 ? std::vector<time_series>{} : select_top(input, aggregation, range);
  return aggregate_groups(input, aggregation, range);
}

namespace {

/// Calls `value_of` for each step with the samples [begin, end) of the window that ends there. It returns false if there is no
/// value.
template <class Function>
std::vector<sample> evaluate_steps(const std::vector<sample>& samples, duration window, const range& range, Function value_of) {
  std::vector<sample> out;
  const auto steps = range.steps();
  std::size_t begin = 0, end = 0;
  instant time = range.start;
  for (std::size_t step = 0; step < steps; ++step, time += range.step) {
    while (end < samples.size() && samples[end].time <= time) ++end;
    while (begin < end && samples[begin].time < time - window) ++begin;
    if (begin == end) continue;
    double value = 0;
    if (value_of(begin, end, time, value)) out.push_back({time, value});
  }
  return out;
}

std::vector<sample> latest_values(const std::vector<sample>& samples, const range& range, duration lookback) {
  return evaluate_steps(samples, lookback, range, [&](std::size_t, std::size_t end, instant, double& value) {
    value = samples[end - 1].value;
    return !is_stale(value);
  });
}

/// The factor that extends a change from the samples to the whole window, as in Prometheus. If the first or last sample is
/// close to the edge of the window, the change is extended to the edge. Otherwise it is extended by half the average distance
/// of samples.
double extrapolation_factor(const std::vector<sample>& samples, std::size_t begin, std::size_t end, instant time,
                            duration window, bool is_counter, double change) {
  const auto seconds = [](duration length) { return static_cast<double>(length) / 1000; };
  const auto& first = samples[begin];
  const auto& last = samples[end - 1];
  double to_start = seconds(first.time - (time - window));
  const double to_end = seconds(time - last.time);
  const double covered = seconds(last.time - first.time);
  const double distance = covered / static_cast<double>(end - begin - 1);
  // A counter was never below zero.
  if (is_counter && change > 0 && first.value >= 0) to_start = std::min(to_start, covered * (first.value / change));
  const double edge_distance = distance * 1.1;
  const double extended =
      covered + (to_start < edge_distance ? to_start : distance / 2) + (to_end < edge_distance ? to_end : distance / 2);
  return extended / covered;
}

std::vector<sample> compute_changes(const std::vector<sample>& samples, over_time function, duration window,
                                    const range& range) {
  const bool is_counter = function != over_time::delta;
  // The value that a counter lost by a reset, at the first sample after it.
  const auto reset_loss = [&samples](std::size_t i) {
    const double previous = samples[i - 1].value;
    return compensated_sum{samples[i].value < previous ? previous : 0, 0};
  };
  sliding_window<compensated_sum, decltype(reset_loss)> losses(reset_loss);
  return evaluate_steps(samples, window, range, [&](std::size_t begin, std::size_t end, instant time, double& value) {
    if (end - begin < 2) return false;
    value = samples[end - 1].value - samples[begin].value;
    if (is_counter) value += losses.combine(begin + 1, end).value();
    double factor = extrapolation_factor(samples, begin, end, time, window, is_counter, value);
    if (function == over_time::rate) factor /= static_cast<double>(window) / 1000;
    value *= factor;
    return true;
  });
}

std::vector<sample> instant_rates(const std::vector<sample>& samples, duration window, const range& range) {
  return evaluate_steps(samples, window, range, [&](std::size_t begin, std::size_t end, instant, double& value) {
    if (end - begin < 2) return false;
    const auto& last = samples[end - 1];
    const auto& previous = samples[end - 2];
    if (last.time == previous.time) return false;
    value = (last.value < previous.value ? last.value : last.value - previous.value) /
            (static_cast<double>(last.time - previous.time) / 1000);
    return true;
  });
}

std::vector<sample> sums(const std::vector<sample>& samples, duration window, const range& range) {
  const auto value_at = [&samples](std::size_t i) { return compensated_sum{samples[i].value, 0}; };
  sliding_window<compensated_sum, decltype(value_at)> sum(value_at);
  return evaluate_steps(samples, window, range, [&](std::size_t begin, std::size_t end, instant, double& value) {
    value = sum.combine(begin, end).value();
    return true;
  });
}

/// The sum of a window may overflow although its mean does not. So this also adds scaled-down values.
struct scaled_sum {
  static constexpr double scale = 0x1p-64;
  compensated_sum sum{}, scaled{};

  [[nodiscard]] scaled_sum plus(const scaled_sum& other) const noexcept {
    return {sum.plus(other.sum), scaled.plus(other.scaled)};
  }
};

std::vector<sample> means(const std::vector<sample>& samples, duration window, const range& range) {
  const auto value_at = [&samples](std::size_t i) {
    return scaled_sum{{samples[i].value, 0}, {samples[i].value * scaled_sum::scale, 0}};
  };
  sliding_window<scaled_sum, decltype(value_at)> sum(value_at);
  return evaluate_steps(samples, window, range, [&](std::size_t begin, std::size_t end, instant, double& value) {
    const auto total = sum.combine(begin, end);
    const auto count = static_cast<double>(end - begin);
    value = std::isfinite(total.sum.high) ? total.sum.value() / count : total.scaled.value() / count / scaled_sum::scale;
    return true;
  });
}

/// NaN only if all values are NaN.
template <bool is_max>
struct extreme {
  double value = 0;

  [[nodiscard]] extreme plus(const extreme& other) const noexcept {
    const bool is_other = (is_max ? other.value > value : other.value < value) || std::isnan(value);
    return is_other ? other : *this;
  }
};

template <bool is_max>
std::vector<sample> extremes(const std::vector<sample>& samples, duration window, const range& range) {
  const auto value_at = [&samples](std::size_t i) { return extreme<is_max>{samples[i].value}; };
  sliding_window<extreme<is_max>, decltype(value_at)> window_extreme(value_at);
  return evaluate_steps(samples, window, range, [&](std::size_t begin, std::size_t end, instant, double& value) {
    value = window_extreme.combine(begin, end).value;
    return true;
  });
}

std::vector<sample> counts(const std::vector<sample>& samples, duration window, const range& range) {
  return evaluate_steps(samples, window, range, [](std::size_t begin, std::size_t end, instant, double& value) {
    value = static_cast<double>(end - begin);
    return true;
  });
}

std::vector<sample> aggregate_windows(const std::vector<sample>& samples, over_time function, duration window,
                                      const range& range) {
  switch (function) {
    case over_time::rate:
    case over_time::increase:
    case over_time::delta:
      return compute_changes(samples, function, window, range);
    case over_time::irate:
      return instant_rates(samples, window, range);
    case over_time::avg:
      return means(samples, window, range);
    case over_time::min:
      return extremes<false>(samples, window, range);
    case over_time::max:
      return extremes<true>(samples, window, range);
    case over_time::sum:
      return sums(samples, window, range);
    case over_time::count:
      return counts(samples, window, range);
    case over_time::last:
      break;
  }
  return {};
}

}  // namespace

std::vector<sample> aggregate_over_time(const std::vector<sample>& samples, over_time function, duration window,
                                        const range& range, duration lookback) {
  if (function == over_time::last) return latest_values(samples, range, lookback);
  const auto is_end_of_series = [](const sample& sample) { return is_stale(sample.value); };
  if (std::none_of(samples.begin(), samples.end(), is_end_of_series))
    return aggregate_windows(samples, function, window, range);
  std::vector<sample> fresh;
  fresh.reserve(samples.size());
  std::remove_copy_if(samples.begin(), samples.end(), std::back_inserter(fresh), is_end_of_series);
  return aggregate_windows(fresh, function, window, range);
}

namespace {

constexpr double no_value = std::numeric_limits<double>::quiet_NaN();

/// Merges buckets with the same bound, and raises each count to at least the counts of lower buckets. Lower counts occur if not
/// all buckets were scraped at the same time. Returns the number of buckets left.
std::size_t normalize_buckets(std::span<bucket> buckets) {
  std::size_t last = 0;
  for (std::size_t i = 1; i < buckets.size(); ++i) {
    if (buckets[i].upper == buckets[last].upper)
      buckets[last].count += buckets[i].count;
    else
      buckets[++last] = buckets[i];
  }
  double running_max = buckets[0].count;
  for (auto& bucket : buckets.first(last + 1)) {
    if (bucket.count > running_max) running_max = bucket.count;
    if (bucket.count < running_max) bucket.count = running_max;
  }
  return last + 1;
}

/// `buckets`: in increasing order of bounds. They are modified.
double interpolate_quantile(double quantile, std::span<bucket> buckets) {
  if (std::isnan(quantile)) return no_value;
  if (quantile < 0) return -std::numeric_limits<double>::infinity();
  if (quantile > 1) return std::numeric_limits<double>::infinity();
  if (buckets.empty() || buckets.back().upper != std::numeric_limits<double>::infinity()) return no_value;
  buckets = buckets.first(normalize_buckets(buckets));
  const double total = buckets.back().count;
  if (buckets.size() < 2 || total == 0) return no_value;
  double rank = quantile * total;
  // If NaN breaks the order, the result is still that of a binary search, as in Prometheus.
  std::size_t index = 0;
  for (std::size_t end = buckets.size() - 1; index < end;) {
    const auto middle = index + (end - index) / 2;
    if (buckets[middle].count >= rank)
      end = middle;
    else
      index = middle + 1;
  }
  if (index == buckets.size() - 1) return buckets[index - 1].upper;
  if (index == 0 && buckets[0].upper <= 0) return buckets[0].upper;
  const double lower = index > 0 ? buckets[index - 1].upper : 0;
  const double count_below = index > 0 ? buckets[index - 1].count : 0;
  rank -= count_below;
  return lower + (buckets[index].upper - lower) * (rank / (buckets[index].count - count_below));
}

/// The value of `le`. NaN if it is invalid.
double bound_of(const identity& identity) {
  const auto text = identity.value_of("le");
  return text.empty() ? no_value : parse_number(text).value_or(no_value);
}

struct bucket_series {
  double upper;
  const std::vector<sample>* counts;
  std::size_t next = 0;
};

/// Appends one value per quantile for each step that has buckets. `output`: one series per quantile.
void add_steps(std::vector<bucket_series>& group, const std::vector<double>& quantiles, const range& range,
               std::vector<time_series>& output) {
  std::sort(group.begin(), group.end(), [](const bucket_series& a, const bucket_series& b) { return a.upper < b.upper; });
  std::vector<bucket> current, scratch;
  instant time = range.start;
  for (std::size_t step = 0; step < range.steps(); ++step, time += range.step) {
    current.clear();
    for (auto& member : group)
      if (member.next < member.counts->size() && (*member.counts)[member.next].time == time)
        current.push_back({member.upper, (*member.counts)[member.next++].value});
    if (current.empty()) continue;
    for (std::size_t i = 0; i < quantiles.size(); ++i) {
      scratch = current;
      output[i].samples.push_back({time, interpolate_quantile(quantiles[i], scratch)});
    }
  }
}

/// Adds the label `quantile`.
identity with_quantile_label(identity identity, double quantile) {
  std::erase_if(identity.labels, [](const label& entry) { return entry.first == "quantile"; });
  const auto position =
      std::find_if(identity.labels.begin(), identity.labels.end(), [](const label& entry) { return entry.first > "quantile"; });
  identity.labels.emplace(position, "quantile", format_number(quantile));
  return identity;
}

}  // namespace

double quantile_of(double quantile, std::vector<bucket> buckets) {
  std::erase_if(buckets, [](const bucket& bucket) { return std::isnan(bucket.upper); });
  std::sort(buckets.begin(), buckets.end(), [](const bucket& a, const bucket& b) { return a.upper < b.upper; });
  return interpolate_quantile(quantile, buckets);
}

result<std::vector<time_series>> compute_quantiles(const std::vector<time_series>& input, const aggregation& agg,
                                                   const range& range) {
  const bool has_buckets =
      std::any_of(input.begin(), input.end(), [](const time_series& series) { return !series.id.value_of("le").empty(); });
  if (!input.empty() && !has_buckets)
    return fail(errc::invalid_argument,
                "agg: quantiles require a histogram, and this metric has no buckets (no label le); leave out the quantile");
  aggregation sums;
  sums.across = across::sum;
  sums.labels = agg.labels;
  sums.is_without = agg.is_without;
  if (!agg.is_without) sums.labels.emplace_back("le");
  const auto summed = aggregate_across(input, sums, range);
  std::map<identity, std::vector<bucket_series>> groups;
  for (const auto& counts : summed)
    if (const double upper = bound_of(counts.id); !std::isnan(upper))
      groups[group_identity(counts.id, {"le"}, true)].push_back({upper, &counts.samples});
  std::vector<time_series> out;
  for (auto& [identity, group] : groups) {
    std::vector<time_series> quantile_series;
    quantile_series.reserve(agg.quantiles.size());
    for (const double quantile : agg.quantiles) quantile_series.push_back({with_quantile_label(identity, quantile), {}});
    add_steps(group, agg.quantiles, range, quantile_series);
    for (auto& series : quantile_series)
      if (!series.samples.empty()) out.push_back(std::move(series));
  }
  std::sort(out.begin(), out.end(), [](const time_series& a, const time_series& b) { return a.id < b.id; });
  return out;
}

namespace {

bool is_before(const time_series& a, const time_series& b) { return a.id < b.id; }

}  // namespace

result<std::vector<time_series>> evaluate(std::vector<time_series> input, const aggregation& aggregation, const range& range,
                                          duration lookback) {
  const auto time = aggregation.time.value_or(over_time::last);
  // Prometheus adds series up in the order of their full identities, with names.
  if (!std::is_sorted(input.begin(), input.end(), is_before)) std::sort(input.begin(), input.end(), is_before);
  for (auto& series : input) {
    series.samples = aggregate_over_time(series.samples, time, aggregation.window, range, lookback);
    if (time != over_time::last) series.id.name.clear();
  }
  std::erase_if(input, [](const time_series& entry) { return entry.samples.empty(); });
  if (!std::is_sorted(input.begin(), input.end(), is_before)) std::sort(input.begin(), input.end(), is_before);
  if (std::adjacent_find(input.begin(), input.end(), [](const time_series& a, const time_series& b) { return a.id == b.id; }) !=
      input.end())
    return fail(errc::invalid_argument,
                "agg: series of several metrics have the same labels and differ only in their names; request one metric");
  if (!aggregation.quantiles.empty()) return compute_quantiles(input, aggregation, range);
  if (aggregation.across != across::none) return aggregate_across(input, aggregation, range);
  return input;
}

}  // namespace hondana::series
