/// What aggregations are by themselves, as text and in PromQL.
#include "sources/metrics/series/aggregation.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "sources/metrics/series/aggregation_names.hpp"

namespace hondana::series {
namespace {

std::string joined(const std::vector<std::string>& labels, std::string_view first = {}) {
  std::string out(first);
  for (const auto& one : labels) {
    if (!out.empty()) out += ',';
    out += one;
  }
  return out;
}

/// ` by (a,b)`; nothing where nothing is grouped. `first`: a label that is always kept.
std::string grouping(const aggregation& how, std::string_view first, bool is_short) {
  if (how.labels.empty() && first.empty() && !how.is_without) return {};
  std::string out = is_short ? "" : " ";
  out += how.is_without ? "without" : "by";
  out += is_short ? "(" : " (";
  return out.append(joined(how.labels, how.is_without ? std::string_view() : first)).append(1, ')');
}

/// Without an exponent, which `agg` does not know.
std::string fixed_text(double value) {
  std::array<char, 512> text{};
  const auto done = std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  return {text.data(), done.ptr};
}

/// As PXX where that says it all.
std::string quantile_names(const std::vector<double>& quantiles) {
  std::string out;
  for (const double one : quantiles) {
    const auto name = fixed_text(one * 100);
    const bool is_plain = number_in(name + "e-2") == one;
    if (!is_plain) {
      std::string all;
      for (const double each : quantiles) all.append(all.empty() ? "" : ",").append(fixed_text(each));
      return "quantile(" + all + ")";
    }
    if (!out.empty()) out += ',';
    out.append(1, 'p').append(name);
  }
  return out;
}

std::string inner(over_time how, duration window) {
  std::string out(name_of(how));
  if (window > 0 && how != over_time::last) out.append(1, '[').append(to_text(window)).append(1, ']');
  return out;
}

}  // namespace

aggregation aggregation::for_kind(kind what) const {
  aggregation out = *this;
  if (out.time) return out;
  const bool is_whole = across == across::none && quantiles.empty();
  if (what == kind::histogram && is_whole) out.quantiles = {0.5, 0.9, 0.99};
  const bool is_counted = what == kind::counter || what == kind::histogram || !out.quantiles.empty();
  out.time = is_counted ? over_time::rate : over_time::last;
  return out;
}

aggregation aggregation::for_step(duration step, duration scrape_interval) const {
  aggregation out = *this;
  if (out.window == 0 && out.time != over_time::last) out.window = std::max({step, 4 * scrape_interval, duration{1}});
  return out;
}

std::string aggregation::to_text() const {
  const bool is_across = across != across::none || !quantiles.empty();
  auto of_time = time ? inner(*time, window) : std::string();
  if (!is_across) return of_time;
  std::string out(quantiles.empty() ? std::string(name_of(across)) : quantile_names(quantiles));
  if (across == across::topk || across == across::bottomk) out.append(1, '(').append(std::to_string(k)).append(1, ')');
  out += grouping(*this, {}, false);
  if (time) out.append(" (").append(of_time).append(1, ')');
  return out;
}

std::string series_read(std::string_view metric_name, kind what, const aggregation& how) {
  std::string out(metric_name);
  const auto ends_so = [&](std::string_view ending) { return metric_name.ends_with(ending); };
  const bool is_family = what == kind::histogram || (what == kind::unknown && !how.quantiles.empty());
  if (!is_family || ends_so("_bucket") || ends_so("_sum") || ends_so("_count") || ends_so("_created")) return out;
  return out += how.quantiles.empty() ? "_count" : "_bucket";
}

std::vector<std::string> to_promql(const aggregation& how, const selector& of) {
  std::string expression = of.to_text();
  const auto time = how.time.value_or(over_time::last);
  if (time != over_time::last)
    expression = std::string(name_of(time)) + "(" + expression + "[" + to_text(std::max<duration>(how.window, 1)) + "])";
  if (how.quantiles.empty() && how.across == across::none) return {std::move(expression)};
  if (how.quantiles.empty()) {
    std::string out(name_of(how.across));
    const auto group = grouping(how, {}, true);
    if (!group.empty()) out.append(1, ' ').append(group);
    out += '(';
    if (how.across == across::topk || how.across == across::bottomk) out.append(std::to_string(how.k)).append(1, ',');
    return {out.append(expression).append(1, ')')};
  }
  std::vector<std::string> out;
  out.reserve(how.quantiles.size());
  for (const double one : how.quantiles)
    out.push_back("histogram_quantile(" + number_text(one) + ",sum " + grouping(how, "le", true) + "(" + expression + "))");
  return out;
}

}  // namespace hondana::series
