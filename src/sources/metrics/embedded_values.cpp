/// What the embedded source asks its store.
#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "sources/metrics/embedded_backend.hpp"
#include "sources/metrics/moment.hpp"

namespace hondana::metrics {
namespace {

constexpr std::size_t most_stored_names = 100'000;
/// What an aggregation may take together, for each series and for each point of the answer.
constexpr std::size_t series_in_one = 20;
constexpr std::size_t points_in_one = 40;
/// Metrics that nobody has had for longer are not listed, but can be read.
constexpr series::duration listed_for = day;

samples::budget budget_of(const range_request& what, bool is_each, const call& by) {
  samples::budget out;
  out.series = is_each ? what.most_series : what.most_series * series_in_one;
  out.until = by.deadline;
  out.stop = by.stop;
  return out;
}

bool has_buckets(series::kind what) noexcept { return what == series::kind::histogram; }

/// Of a histogram's family the series that there are.
series::selector stored(const series::selector& of, const series::metadata& facts) {
  auto out = of;
  if (has_buckets(facts.kind)) out.name = of.name + "_bucket";
  return out;
}

}  // namespace

series::metadata embedded_backend::facts_of(const samples::store& from, std::string_view name) {
  auto found = from.metadata_of(name);
  constexpr std::array<std::string_view, 6> endings{"_bucket", "_sum", "_count", "_total", "_created", "_info"};
  for (const auto ending : endings)
    if (!found && name.size() > ending.size() && name.ends_with(ending))
      found = from.metadata_of(name.substr(0, name.size() - ending.size()));
  auto out = found.value_or(series::metadata{});
  out.kind = series::kind_of_series(name, out.kind);
  if (out.unit.empty()) out.unit = series::unit_in(name);
  return out;
}

result<std::vector<metric>> embedded_backend::metrics(std::string_view prefix, std::string_view after, std::size_t limit,
                                                      const call& by) {
  HONDANA_TRY(const auto there, opened(by));
  const auto& kept = *there->kept;
  std::set<std::string, std::less<>> all;
  for (auto& name : kept.names(prefix, now() - listed_for, most_stored_names)) {
    for (const std::string_view ending : {"_bucket", "_sum", "_count"}) {
      if (!name.ends_with(ending)) continue;
      const auto family = name.substr(0, name.size() - ending.size());
      const auto facts = kept.metadata_of(family);
      if (!facts || (facts->kind != series::kind::histogram && facts->kind != series::kind::summary)) continue;
      name = family;
      break;
    }
    all.insert(std::move(name));
  }
  std::vector<metric> out;
  for (auto at = after.empty() ? all.begin() : all.upper_bound(after); at != all.end() && out.size() < limit; ++at)
    if (at->starts_with(prefix)) out.push_back({*at, facts_of(kept, *at)});
  return out;
}

result<std::optional<metric>> embedded_backend::find(std::string_view name, const call& by) {
  HONDANA_TRY(const auto there, opened(by));
  const auto& kept = *there->kept;
  const auto has = [&](const std::string& exact) {
    const auto first = kept.names(exact, 0, 1);
    return !first.empty() && first.front() == exact;
  };
  const auto facts = facts_of(kept, name);
  const bool is_there = has(std::string(name)) || (has_buckets(facts.kind) && has(std::string(name) + "_bucket"));
  if (!is_there) return std::optional<metric>();
  return std::optional<metric>(metric{std::string(name), facts});
}

result<range_answer> embedded_backend::range(const range_request& what, const call& by) {
  HONDANA_TRY(const auto there, opened(by));
  const auto& kept = *there->kept;
  range_answer out;
  out.of = facts_of(kept, what.which.name);
  out.how = what.how.for_kind(out.of.kind).for_step(what.at.step, how_.interval);
  const series::selector which{series::series_read(what.which.name, out.of.kind, out.how), what.which.matchers};
  const bool is_each = out.how.across == series::across::none && out.how.quantiles.empty();
  const auto from = what.at.start - std::max(out.how.window, series::usual_look_back);
  HONDANA_TRY(auto raw, kept.read(which, from, what.at.end, budget_of(what, is_each, by)));
  const auto steps = what.at.steps();
  const auto most = is_each ? what.most_points : what.most_points * points_in_one;
  const auto refuse = [&](std::size_t count, std::size_t limit) {
    return fail(errc::response_too_large, std::to_string(count) + " series at " + std::to_string(steps) + " steps are " +
                                              std::to_string(count * steps) + " points, and at most " + std::to_string(limit) +
                                              (is_each ? " may be returned." : " may be evaluated."));
  };
  if (raw.size() * steps > most) return refuse(raw.size(), most);
  auto made = series::evaluate(std::move(raw), out.how, what.at);
  if (!made) return tl::unexpected(std::move(made.error()));
  if (made->size() > what.most_series)
    return fail(errc::response_too_large, "The result has " + std::to_string(made->size()) + " series, and at most " +
                                              std::to_string(what.most_series) + " may be returned.");
  std::size_t points = 0;
  for (const auto& one : *made) points += one.samples.size();
  if (points > what.most_points) return refuse(made->size(), what.most_points);
  out.series = std::move(*made);
  return out;
}

result<std::optional<series::instant>> embedded_backend::newest(const series::selector& of, const call& by) {
  HONDANA_TRY(const auto there, opened(by));
  const auto& kept = *there->kept;
  range_request all;
  const auto which = stored(of, facts_of(kept, of.name));
  const auto last = kept.last(which, now() - series::usual_look_back, budget_of(all, false, by));
  if (!last) return tl::unexpected(last.error());
  std::optional<series::instant> out;
  for (const auto& one : *last)
    if (!one.samples.empty() && !series::is_stale(one.samples.back().value) && (!out || one.samples.back().at > *out))
      out = one.samples.back().at;
  return out;
}

result<std::vector<std::string>> embedded_backend::label_names(const series::selector& of, const call& by) {
  HONDANA_TRY(const auto there, opened(by));
  const auto& kept = *there->kept;
  return kept.label_names(of.name.empty() ? of : stored(of, facts_of(kept, of.name)), most_label_values);
}

result<std::vector<std::string>> embedded_backend::label_values(const series::selector& of, std::string_view label,
                                                                std::string_view prefix, const call& by) {
  HONDANA_TRY(const auto there, opened(by));
  const auto& kept = *there->kept;
  return kept.label_values(of.name.empty() ? of : stored(of, facts_of(kept, of.name)), label, prefix, most_label_values);
}

}  // namespace hondana::metrics
