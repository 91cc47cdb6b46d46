/// A condition on a time series (above, below, absent, for how long), and the check of samples against it.
#include "sources/metrics/condition.hpp"

#include <cmath>
#include <set>

#include "sources/metrics/exposition/writer.hpp"
#include "sources/metrics/series/aggregation.hpp"

namespace hondana::metrics {

bool condition::is_met_by(double value) const noexcept {
  if (above && below) {
    const bool is_higher = value > *above, is_lower = value < *below;
    return *above < *below ? is_higher && is_lower : is_higher || is_lower;
  }
  return (above && value > *above) || (below && value < *below);
}

std::string condition::to_text() const {
  std::string out;
  const auto add = [&](const std::string& word) { out += (out.empty() ? "" : " ") + word; };
  if (above) add("above " + exposition::number_text(*above));
  if (above && below) add(*above < *below ? "and" : "or");
  if (below) add("below " + exposition::number_text(*below));
  if (is_absent) add(above || below ? "or absent" : "absent");
  if (wait > 0) add("for " + series::to_text(wait));
  return out;
}

standing stand(const std::vector<series::sample>& samples, const condition& of, series::instant end, series::duration gap) {
  standing out;
  std::optional<series::instant> begun, last;
  bool is_first = true;
  for (const auto& one : samples) {
    if (one.at > end) break;
    if (std::isnan(one.value)) continue;
    if (last && one.at - *last > gap) {
      begun.reset();
      is_first = true;
    }
    if (!of.is_met_by(one.value)) {
      begun.reset();
    } else if (!begun) {
      begun = one.at;
      out.is_since_earlier = is_first;
    }
    is_first = false;
    last = one.at;
    out.value = one.value;
    out.value_at = one.at;
  }
  if (!last || end - *last > gap) return out;
  out.now = standing::state::quiet;
  if (!begun) return out;
  out.since = *begun;
  out.now = end - *begun >= of.wait ? standing::state::met : standing::state::pending;
  return out;
}

std::vector<series::sample> absence(const std::vector<series::points>& all, const std::vector<series::instant>& known) {
  std::set<series::instant> there;
  for (const auto& one : all)
    for (const auto& each : one.samples) there.insert(each.at);
  std::vector<series::sample> out;
  out.reserve(known.size());
  for (const auto at : known) out.push_back({at, there.contains(at) ? 0.0 : 1.0});
  return out;
}

}  // namespace hondana::metrics
