/// By what has been chosen already.
#include "sources/metrics/completing.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/completion.hpp>

#include "sources/metrics/series/selector.hpp"

namespace hondana::metrics {
namespace {

constexpr std::size_t longest_offered = 200;

/// The metric that was chosen, if the caller may see it.
std::string chosen_metric(const complete_request& request, const completing_source& from) {
  auto name = request.chosen("name");
  if (!series::is_metric_name(name) || (from.may_see && !from.may_see(name))) return {};
  return name;
}

result<complete_result> complete_name(const complete_request& request, const completing_source& from) {
  HONDANA_TRY(const auto all, from.known.get(request));
  std::vector<std::string> values;
  for (const auto& one : all->all)
    if (!from.may_see || from.may_see(one.of.name)) values.push_back(one.of.name);
  return complete_from(request.value, values);
}

result<complete_result> complete_match(const complete_request& request, const completing_source& from) {
  complete_result nothing{{}, 0, false};
  const auto name = chosen_metric(request, from);
  const auto typed = series::parse_partial_matchers(request.value);
  if (name.empty() || !typed) return nothing;
  series::selector of{name, typed->whole};
  if (from.redact) {
    // What would be offered behind it, or by what was typed of it, would tell whether a guess is right.
    std::vector<std::string> labels;
    labels.reserve(of.matchers.size() + 1);
    for (const auto& one : of.matchers) labels.push_back(one.label_name());
    if (!typed->label_name.empty()) labels.push_back(typed->label_name);
    for (const auto& label : labels) {
      HONDANA_TRY(const auto has_some, from.secrets.has_secrets(name, label, request));
      if (has_some) return nothing;
    }
  }
  std::vector<std::string> values;
  if (typed->label_name.empty()) {
    auto found = from.from.label_names(of, request);
    if (!found) return tl::unexpected(std::move(found.error()));
    for (auto& one : *found) {
      // What is said already is not said again, and the metric's name is chosen.
      const bool is_said =
          std::any_of(typed->whole.begin(), typed->whole.end(), [&](const auto& each) { return each.label_name() == one; });
      if (!is_said && one != "__name__") values.push_back(one + '=');
    }
  } else {
    // An expression is anything; what is typed of it so far says nothing about the values.
    const bool is_plain = typed->how == series::matcher::relation::equal || typed->how == series::matcher::relation::not_equal;
    auto found =
        from.from.label_values(of, typed->label_name, is_plain ? std::string_view(typed->typed) : std::string_view(), request);
    if (!found) return tl::unexpected(std::move(found.error()));
    // Where none begins so, other spellings may be meant.
    if (found->empty() && is_plain && !typed->typed.empty()) {
      found = from.from.label_values(of, typed->label_name, {}, request);
      if (!found) return tl::unexpected(std::move(found.error()));
    }
    for (auto& one : *found)
      if (one.size() <= longest_offered) values.push_back(std::move(one));
  }
  auto ranked = complete_from(typed->typed, values);
  for (auto& one : ranked.values) {
    const bool is_name = typed->label_name.empty();
    one = is_name ? typed->before + one : typed->completed(one);
  }
  return ranked;
}

result<complete_result> complete_aggregation(const complete_request& request, const completing_source& from) {
  const auto name = chosen_metric(request, from);
  std::optional<metric> of;
  std::vector<std::string> labels;
  if (!name.empty()) {
    HONDANA_TRY(auto found, from.from.find(name, request));
    of = std::move(found);
    if (of) {
      HONDANA_TRY(auto all, from.from.label_names({name, {}}, request));
      labels = std::move(all);
    }
  }
  using series::kind;
  const auto what = of ? of->of.kind : kind::unknown;
  std::vector<std::string> values;
  const auto add = [&](std::initializer_list<const char*> all) { values.insert(values.end(), all.begin(), all.end()); };
  if (what == kind::histogram) add({"p50,p90,p99", "p99", "p95", "p90", "p50", "rate", "increase"});
  if (what == kind::counter) add({"rate", "increase", "irate", "rate[5m]"});
  add({"sum", "avg", "min", "max", "count", "topk(5)", "bottomk(5)", "stddev"});
  if (what != kind::counter && what != kind::histogram)
    add({"avg_over_time[5m]", "min_over_time[5m]", "max_over_time[5m]", "delta"});
  add({"raw"});
  for (const auto& label : labels) {
    if (label == "__name__" || label == "le" || label == "quantile") continue;
    if (what == kind::histogram) values.push_back("quantile(0.95) by (" + label + ')');
    values.push_back("sum by (" + label + ')');
    values.push_back("avg by (" + label + ')');
  }
  return complete_from(request.value, values);
}

}  // namespace

result<complete_result> complete_parameter(const complete_request& request, const completing_source& from) {
  const auto fixed = [&](const std::vector<std::string>& values) { return complete_from(request.value, values); };
  const auto& what = request.argument;
  if (what == "name") return complete_name(request, from);
  if (what == "match") return complete_match(request, from);
  if (what == "agg") return complete_aggregation(request, from);
  if (what == "format")
    return request.uriTemplate.find("/summary") != std::string::npos ? fixed({"json", "text"})
                                                                     : fixed({"json", "csv", "openmetrics", "svg", "png"});
  if (what == "start") return fixed({"-1h", "-15m", "-6h", "-24h", "-7d", "-30d"});
  if (what == "end") return fixed({"now", "-1h", "-24h"});
  if (what == "step") return fixed({"15s", "30s", "1m", "5m", "15m", "1h", "6h", "1d"});
  if (what == "for") return fixed({"1m", "5m", "10m", "15m", "1h"});
  if (what == "absent") return fixed({"true"});
  if (what == "width") return fixed({"800", "600", "1200", "1600"});
  if (what == "height") return fixed({"400", "300", "600", "800"});
  return complete_result{{}, 0, false};
}

}  // namespace hondana::metrics
