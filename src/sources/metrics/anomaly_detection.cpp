/// Statistics that tell whether a time series is unusual: outliers, counter resets and disks that fill up.
#include "sources/metrics/anomaly_detection.hpp"

#include <algorithm>
#include <cmath>

#include "sources/metrics/moment.hpp"

namespace hondana::metrics {
namespace {

constexpr std::size_t least_values = 12;
constexpr std::size_t last_values = 3;
constexpr double spreads_away = 6;
constexpr double part_away = 0.2;

/// `values` must not be empty.
double median_of(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

}  // namespace

std::optional<usual_values> usual_of(std::vector<double> values) {
  std::erase_if(values, [](double one) { return !std::isfinite(one); });
  if (values.size() < least_values) return std::nullopt;
  usual_values out;
  out.count = values.size();
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  out.least = *least;
  out.most = *most;
  out.median = median_of(values);
  for (double& one : values) one = std::abs(one - out.median);
  constexpr double of_normal = 1.4826;
  out.spread = of_normal * median_of(values);
  return out;
}

std::optional<departure> departure_of(const std::vector<series::sample>& samples) {
  if (samples.size() < least_values + last_values) return std::nullopt;
  const auto split = samples.end() - static_cast<std::ptrdiff_t>(last_values);
  std::vector<double> last, before, day_before;
  for (auto at = split; at != samples.end(); ++at)
    if (std::isfinite(at->value)) last.push_back(at->value);
  if (last.size() < last_values) return std::nullopt;
  const auto now = samples.back().at;
  for (auto at = samples.begin(); at != split; ++at) {
    before.push_back(at->value);
    if (at->at >= now - day - hour / 2 && at->at <= now - day + hour / 2) day_before.push_back(at->value);
  }
  const auto usual = usual_of(std::move(before));
  if (!usual) return std::nullopt;
  departure out;
  out.now = median_of(last);
  out.usual = usual->median;
  const auto away = std::abs(out.now - usual->median);
  const auto scale = std::max(std::abs(usual->median), std::abs(out.now));
  // Nearly constant values have a spread close to zero. Without a minimum, any change would be many spreads away.
  const auto spread = std::max(usual->spread, scale / 100);
  if (spread <= 0) return std::nullopt;
  out.distance = away / spread;
  const bool is_beyond = out.now > usual->most || out.now < usual->least;
  if (!is_beyond || out.distance < spreads_away || away < part_away * std::abs(usual->median)) return std::nullopt;
  std::erase_if(day_before, [](double one) { return !std::isfinite(one); });
  if (day_before.size() >= last_values && std::abs(out.now - median_of(day_before)) < part_away * scale) return std::nullopt;
  out.weight = std::clamp(0.3 + 0.1 * std::log2(out.distance / spreads_away), 0.3, 0.7);
  return out;
}

std::vector<series::sample> rates_of(const std::vector<series::sample>& counted) {
  std::vector<series::sample> out;
  for (std::size_t i = 1; i < counted.size(); ++i) {
    const auto& before = counted[i - 1];
    const auto& now = counted[i];
    if (now.at <= before.at) continue;
    const auto rise = now.value < before.value ? now.value : now.value - before.value;
    out.push_back({now.at, rise * static_cast<double>(second) / static_cast<double>(now.at - before.at)});
  }
  return out;
}

std::optional<series::instant> reset_of(const std::vector<series::sample>& counted, series::instant from) {
  for (auto i = counted.size(); i-- > 1;) {
    if (counted[i].at < from) break;
    if (counted[i].value < counted[i - 1].value) return counted[i].at;
  }
  return std::nullopt;
}

std::optional<series::duration> time_to_zero(const std::vector<series::sample>& left) {
  if (left.size() < least_values) return std::nullopt;
  const auto origin = left.back().at;
  const auto count = static_cast<double>(left.size());
  double mean_x = 0, mean_y = 0;
  for (const auto& one : left) {
    if (!std::isfinite(one.value)) return std::nullopt;
    mean_x += static_cast<double>(one.at - origin) / count;
    mean_y += one.value / count;
  }
  double xx = 0, xy = 0, yy = 0;
  for (const auto& one : left) {
    const auto x = static_cast<double>(one.at - origin) - mean_x, y = one.value - mean_y;
    xx += x * x;
    xy += x * y;
    yy += y * y;
  }
  if (xx <= 0 || yy <= 0 || xy >= 0) return std::nullopt;
  constexpr double near_a_line = 0.8;
  if (xy * xy / (xx * yy) < near_a_line) return std::nullopt;
  const auto at_end = mean_y - xy / xx * mean_x;
  const auto until = at_end <= 0 ? 0 : at_end / (-xy / xx);
  // Ten years: longer forecasts are useless, and could overflow the number of milliseconds.
  if (until > static_cast<double>(3650 * day)) return std::nullopt;
  return static_cast<series::duration>(until);
}

double weight_of_filling(series::duration until_full) noexcept {
  if (until_full <= hour) return 0.9;
  const auto hours = static_cast<double>(until_full) / static_cast<double>(hour);
  return std::clamp(0.9 - 0.6 * std::log(hours) / std::log(24.0), 0.3, 0.9);
}

}  // namespace hondana::metrics
