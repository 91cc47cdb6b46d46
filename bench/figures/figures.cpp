/// Medians and quantiles.
#include "figures.hpp"

#include <algorithm>
#include <cstddef>
#include <stdexcept>

namespace bench {
namespace {

template <class Value>
Value value_at(std::vector<Value>& values, double part) {
  if (values.empty()) throw std::runtime_error("nothing was measured");
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(part * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

}  // namespace

double quantile(std::vector<double> values, double part) { return value_at(values, part); }
double median(std::vector<double> values) { return value_at(values, 0.5); }

double median_ratio(const std::vector<double>& ours, const std::vector<double>& theirs) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < std::min(ours.size(), theirs.size()); ++i) ratios.push_back(ours[i] / theirs[i]);
  return median(std::move(ratios));
}

void figures::add(outcome what, double processor_seconds, long peak) {
  rates.push_back(static_cast<double>(what.answers) / what.seconds);
  costs.push_back(processor_seconds * 1e6 / static_cast<double>(what.answers));
  p50.push_back(value_at(what.round_trips, 0.5));
  p99.push_back(value_at(what.round_trips, 0.99));
  peak_kib = std::max(peak_kib, peak);
}

}  // namespace bench
