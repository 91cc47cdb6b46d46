/// Statistics that tell whether a time series is unusual: outliers, counter resets and disks that fill up.
#include "sources/metrics/anomaly_detection.hpp"

#include <algorithm>
#include <cmath>

#include "sources/metrics/moment.hpp"

namespace hondana::metrics {
namespace {

constexpr std::size_t min_values = 12;
constexpr std::size_t recent_values = 3;
constexpr double min_spreads = 6;
constexpr double min_relative_change = 0.2;

/// `values` must not be empty.
double median_of(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

}  // namespace

std::optional<baseline> baseline_of(std::vector<double> values) {
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  if (values.size() < min_values) return std::nullopt;
  baseline out;
  out.count = values.size();
  const auto [min, max] = std::minmax_element(values.begin(), values.end());
  out.min = *min;
  out.max = *max;
  out.median = median_of(values);
  for (double& value : values) value = std::abs(value - out.median);
  constexpr double mad_scale = 1.4826;
  out.spread = mad_scale * median_of(values);
  return out;
}

std::optional<deviation> find_deviation(const std::vector<series::sample>& samples) {
  if (samples.size() < min_values + recent_values) return std::nullopt;
  const auto split = samples.end() - static_cast<std::ptrdiff_t>(recent_values);
  std::vector<double> recent, earlier, day_before;
  for (auto it = split; it != samples.end(); ++it)
    if (std::isfinite(it->value)) recent.push_back(it->value);
  if (recent.size() < recent_values) return std::nullopt;
  const auto now = samples.back().time;
  for (auto position = samples.begin(); position != split; ++position) {
    earlier.push_back(position->value);
    if (position->time >= now - day - hour / 2 && position->time <= now - day + hour / 2) day_before.push_back(position->value);
  }
  const auto baseline = baseline_of(std::move(earlier));
  if (!baseline) return std::nullopt;
  deviation out;
  out.current = median_of(recent);
  out.baseline = baseline->median;
  const auto difference = std::abs(out.current - baseline->median);
  const auto scale = std::max(std::abs(baseline->median), std::abs(out.current));
  // Nearly constant values have a spread close to zero. Without a minimum, any change would be many spreads away.
  const auto spread = std::max(baseline->spread, scale / 100);
  if (spread <= 0) return std::nullopt;
  out.distance = difference / spread;
  const bool is_beyond = out.current > baseline->max || out.current < baseline->min;
  if (!is_beyond || out.distance < min_spreads || difference < min_relative_change * std::abs(baseline->median))
    return std::nullopt;
  std::erase_if(day_before, [](double value) { return !std::isfinite(value); });
  if (day_before.size() >= recent_values && std::abs(out.current - median_of(day_before)) < min_relative_change * scale)
    return std::nullopt;
  out.weight = std::clamp(0.3 + 0.1 * std::log2(out.distance / min_spreads), 0.3, 0.7);
  return out;
}

std::vector<series::sample> rates_of(const std::vector<series::sample>& samples) {
  std::vector<series::sample> out;
  for (std::size_t i = 1; i < samples.size(); ++i) {
    const auto& previous = samples[i - 1];
    const auto& current = samples[i];
    if (current.time <= previous.time) continue;
    const auto increase = current.value < previous.value ? current.value : current.value - previous.value;
    out.push_back({current.time, increase * static_cast<double>(second) / static_cast<double>(current.time - previous.time)});
  }
  return out;
}

std::optional<series::instant> last_reset(const std::vector<series::sample>& samples, series::instant start) {
  for (auto i = samples.size(); i-- > 1;) {
    if (samples[i].time < start) break;
    if (samples[i].value < samples[i - 1].value) return samples[i].time;
  }
  return std::nullopt;
}

std::optional<series::duration> time_to_zero(const std::vector<series::sample>& samples) {
  if (samples.size() < min_values) return std::nullopt;
  const auto origin = samples.back().time;
  const auto count = static_cast<double>(samples.size());
  double mean_x = 0, mean_y = 0;
  for (const auto& sample : samples) {
    if (!std::isfinite(sample.value)) return std::nullopt;
    mean_x += static_cast<double>(sample.time - origin) / count;
    mean_y += sample.value / count;
  }
  double xx = 0, xy = 0, yy = 0;
  for (const auto& point : samples) {
    const auto x = static_cast<double>(point.time - origin) - mean_x, y = point.value - mean_y;
    xx += x * x;
    xy += x * y;
    yy += y * y;
  }
  if (xx <= 0 || yy <= 0 || xy >= 0) return std::nullopt;
  constexpr double min_r_squared = 0.8;
  if (xy * xy / (xx * yy) < min_r_squared) return std::nullopt;
  const auto end_value = mean_y - xy / xx * mean_x;
  const auto time_left = end_value <= 0 ? 0 : end_value / (-xy / xx);
  // Ten years: longer forecasts are useless, and could overflow the number of milliseconds.
  if (time_left > static_cast<double>(3650 * day)) return std::nullopt;
  return static_cast<series::duration>(time_left);
}

double filling_weight(series::duration time_to_full) noexcept {
  if (time_to_full <= hour) return 0.9;
  const auto hours = static_cast<double>(time_to_full) / static_cast<double>(hour);
  return std::clamp(0.9 - 0.6 * std::log(hours) / std::log(24.0), 0.3, 0.9);
}

}  // namespace hondana::metrics
