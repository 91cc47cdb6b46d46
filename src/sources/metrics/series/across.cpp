/// Sums, extremes, spreads and the greatest of series.
#include "sources/metrics/series/across.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>

namespace hondana::series {
namespace {

std::size_t step_of(const sample& one, const range& at) noexcept {
  return static_cast<std::size_t>((one.at - at.start) / at.step);
}

/// What is known of a group at one step.
struct folded {
  double value = 0;
  double mean = 0;
  std::uint32_t count = 0;
};

void fold_mean(folded& into, double value) {
  // An infinite mean stays, and would be NaN by the way it is computed below.
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

/// The series of each group, in order.
std::map<identity, std::vector<std::size_t>> groups_of(const std::vector<points>& from, const aggregation& how) {
  std::map<identity, std::vector<std::size_t>> out;
  for (std::size_t i = 0; i < from.size(); ++i) out[grouped(from[i].of, how.labels, how.is_without)].push_back(i);
  return out;
}

std::vector<points> folded_groups(const std::vector<points>& from, const aggregation& how, const range& at) {
  std::vector<points> out;
  if (from.empty()) return out;  // and no memory for each step
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

/// The k greatest (or least) of what is offered, one after the other. Which of equal ones stay depends on how the heap is kept,
/// so it is kept as Prometheus keeps its own: the least on top, and NaN below everything.
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

}  // namespace hondana::series
