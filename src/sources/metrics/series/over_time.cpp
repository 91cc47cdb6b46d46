/// One series over time, at each step.
#include <algorithm>
#include <cmath>
#include <utility>

#include "sources/metrics/series/evaluation.hpp"
#include "sources/metrics/series/sliding.hpp"

namespace hondana::series {
namespace {

/// Of values in the window [begin, end) at the instant `at`; false: there is none.
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

/// How much of the window the samples stand for, if the series goes on as it does between them: as if it began and ended with
/// the window where its first and last sample are near enough, else half the usual distance further.
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
  // What a counter had before it began anew, at the first sample after that.
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

/// The sum of a window may be too large where its mean is not.
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

/// NaN only where there is nothing else.
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

}  // namespace hondana::series
