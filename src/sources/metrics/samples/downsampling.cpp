/// Down-samples old samples: averages gauges, and keeps the turning points of counters.
#include "sources/metrics/samples/downsampling.hpp"

#include <cmath>
#include <cstddef>

namespace hondana::samples {
namespace {

series::instant step_of(series::instant at, series::duration step) noexcept { return at / step - (at % step < 0 ? 1 : 0); }

std::vector<series::sample> corners_of(const std::vector<series::sample>& of, series::duration step) {
  std::vector<series::sample> out;
  for (std::size_t i = 0; i < of.size(); ++i) {
    const bool is_end = i == 0 || i + 1 == of.size() || step_of(of[i].at, step) != step_of(of[i + 1].at, step);
    const bool is_beside = (i > 0 && (of[i].value < of[i - 1].value || series::is_stale(of[i - 1].value))) ||
                           (i + 1 < of.size() && (of[i + 1].value < of[i].value || series::is_stale(of[i + 1].value)));
    if (is_end || is_beside || series::is_stale(of[i].value)) out.push_back(of[i]);
  }
  return out;
}

std::vector<series::sample> means_of(const std::vector<series::sample>& of, series::duration step) {
  std::vector<series::sample> out;
  double mean = 0;
  std::size_t count = 0;
  for (std::size_t i = 0; i < of.size(); ++i) {
    if (series::is_stale(of[i].value)) {
      out.push_back(of[i]);
      continue;
    }
    if (!std::isnan(of[i].value)) {
      ++count;
      // A running mean, so that the sum of large numbers does not overflow to infinity. If a value is infinite, so is the mean.
      mean = std::isinf(of[i].value) || std::isinf(mean)
                 ? mean + of[i].value
                 : mean + (of[i].value / static_cast<double>(count) - mean / static_cast<double>(count));
    }
    const bool is_last =
        i + 1 == of.size() || series::is_stale(of[i + 1].value) || step_of(of[i].at, step) != step_of(of[i + 1].at, step);
    if (!is_last) continue;
    out.push_back({of[i].at, count == 0 ? of[i].value : mean});
    mean = 0;
    count = 0;
  }
  return out;
}

}  // namespace

std::vector<series::sample> coarse_of(const std::vector<series::sample>& of, bool is_counter, series::duration step) {
  return is_counter ? corners_of(of, step) : means_of(of, step);
}

}  // namespace hondana::samples
