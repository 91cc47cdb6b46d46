/// A condition on a time series (above, below, absent, for how long), and the check of samples against it.
#include "sources/metrics/condition.hpp"

#include <cmath>
#include <set>

#include "sources/metrics/exposition/writer.hpp"
#include "sources/metrics/series/aggregation.hpp"

namespace hondana::metrics {

bool series_condition::is_met_by(double value) const noexcept {
  if (above && below) {
    const bool is_higher = value > *above, is_lower = value < *below;
    return *above < *below ? is_higher && is_lower : is_higher || is_lower;
  }
  return (above && value > *above) || (below && value < *below);
}

std::string series_condition::to_text() const {
  std::string out;
  const auto add = [&](const std::string& word) { out += (out.empty() ? "" : " ") + word; };
  if (above) add("above " + exposition::format_number(*above));
  if (above && below) add(*above < *below ? "and" : "or");
  if (below) add("below " + exposition::format_number(*below));
  if (is_absent) add(above || below ? "or absent" : "absent");
  if (hold_duration > 0) add("for " + series::to_text(hold_duration));
  return out;
}

condition_status evaluate_condition(const std::vector<series::sample>& samples, const series_condition& condition,
                                    series::instant end, series::duration gap) {
  condition_status out;
  std::optional<series::instant> active_since, last;
  bool is_first = true;
  for (const auto& sample : samples) {
    if (sample.time > end) break;
    if (std::isnan(sample.value)) continue;
    if (last && sample.time - *last > gap) {
      active_since.reset();
      is_first = true;
    }
    if (!condition.is_met_by(sample.value)) {
      active_since.reset();
    } else if (!active_since) {
      active_since = sample.time;
      out.may_be_earlier = is_first;
    }
    is_first = false;
    last = sample.time;
    out.value = sample.value;
    out.value_at = sample.time;
  }
  if (!last || end - *last > gap) return out;
  out.current = condition_status::state::quiet;
  if (!active_since) return out;
  out.active_since = *active_since;
  out.current =
      end - *active_since >= condition.hold_duration ? condition_status::state::met : condition_status::state::pending;
  return out;
}

std::vector<series::sample> absence_samples(const std::vector<series::time_series>& series_list,
                                            const std::vector<series::instant>& known_steps) {
  std::set<series::instant> covered;
  for (const auto& series : series_list)
    for (const auto& sample : series.samples) covered.insert(sample.time);
  std::vector<series::sample> out;
  out.reserve(known_steps.size());
  for (const auto step : known_steps) out.push_back({step, covered.contains(step) ? 0.0 : 1.0});
  return out;
}

}  // namespace hondana::metrics
