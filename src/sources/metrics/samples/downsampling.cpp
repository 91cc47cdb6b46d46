/// Down-samples old samples: averages gauges, and keeps the turning points of counters.
#include "sources/metrics/samples/downsampling.hpp"

#include <cmath>
#include <cstddef>

namespace hondana::samples {
namespace {

series::instant step_index(series::instant time, series::duration step) noexcept {
  return time / step - (time % step < 0 ? 1 : 0);
}

std::vector<series::sample> downsample_counter(const std::vector<series::sample>& samples, series::duration step) {
  std::vector<series::sample> out;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const bool is_end =
        i == 0 || i + 1 == samples.size() || step_index(samples[i].time, step) != step_index(samples[i + 1].time, step);
    const bool is_near_reset =
        (i > 0 && (samples[i].value < samples[i - 1].value || series::is_stale(samples[i - 1].value))) ||
        (i + 1 < samples.size() && (samples[i + 1].value < samples[i].value || series::is_stale(samples[i + 1].value)));
    if (is_end || is_near_reset || series::is_stale(samples[i].value)) out.push_back(samples[i]);
  }
  return out;
}

std::vector<series::sample> downsample_gauge(const std::vector<series::sample>& samples, series::duration step) {
  std::vector<series::sample> out;
  double mean = 0;
  std::size_t count = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (series::is_stale(samples[i].value)) {
      out.push_back(samples[i]);
      continue;
    }
    if (!std::isnan(samples[i].value)) {
      ++count;
      // A running mean, so that the sum of large numbers does not overflow to infinity. If a value is infinite, so is the mean.
      mean = std::isinf(samples[i].value) || std::isinf(mean)
                 ? mean + samples[i].value
                 : mean + (samples[i].value / static_cast<double>(count) - mean / static_cast<double>(count));
    }
    const bool is_last = i + 1 == samples.size() || series::is_stale(samples[i + 1].value) ||
                         step_index(samples[i].time, step) != step_index(samples[i + 1].time, step);
    if (!is_last) continue;
    out.push_back({samples[i].time, count == 0 ? samples[i].value : mean});
    mean = 0;
    count = 0;
  }
  return out;
}

}  // namespace

std::vector<series::sample> downsample(const std::vector<series::sample>& samples, bool is_counter, series::duration step) {
  return is_counter ? downsample_counter(samples, step) : downsample_gauge(samples, step);
}

}  // namespace hondana::samples
