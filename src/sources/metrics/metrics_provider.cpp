/// The provider of one metrics source: lists, descriptions, completion and subscriptions.
#include "sources/metrics/metrics_provider.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/clock.hpp>
#include <hondana/completion.hpp>
#include <hondana/provider.hpp>

#include "sources/metrics/backend.hpp"
#include "sources/metrics/catalog_entries.hpp"
#include "sources/metrics/charts/chart.hpp"
#include "sources/metrics/masking.hpp"
#include "sources/metrics/metric_names.hpp"
#include "sources/metrics/rendering.hpp"
#include "sources/metrics/series/selector.hpp"
#include "text/secrets/redactor.hpp"

namespace hondana::metrics {

struct completing_source {
  std::string source{};
  backend& from;
  names& known;
  secret_labels& secrets;
  bool redact = true;
  /// Whether the caller may list a metric.
  std::function<bool(const std::string& name)> may_see{};
};

/// Completes one template variable.
/// `name`: names of metrics. `match`: label names, then after the relation the values of series that satisfy the name and the
/// previous matchers. `agg`: aggregations suitable for the metric. Others: formats, steps and times.
/// Offers nothing after a matcher on a label with secrets, and no values of such labels. Errors: of the source.
[[nodiscard]] result<complete_result> complete_parameter(const complete_request& request, const completing_source& from);

namespace {

constexpr std::size_t longest_offered = 200;

/// The metric that the client has chosen, if the caller may see it.
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
    // Suggestions would reveal whether a guess in a previous matcher, or in the typed part, is right.
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
      // Skip labels that are already matched. The metric's name is chosen by `name`.
      const bool is_said =
          std::any_of(typed->whole.begin(), typed->whole.end(), [&](const auto& each) { return each.label_name() == one; });
      if (!is_said && one != "__name__") values.push_back(one + '=');
    }
  } else {
    // For a regular expression, the typed part is not a prefix of the values.
    const bool is_plain = typed->how == series::matcher::relation::equal || typed->how == series::matcher::relation::not_equal;
    auto found =
        from.from.label_values(of, typed->label_name, is_plain ? std::string_view(typed->typed) : std::string_view(), request);
    if (!found) return tl::unexpected(std::move(found.error()));
    // If no value has this prefix, offer all: another spelling may match.
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

namespace {

constexpr std::array<place, 5> listed_places{place::index, place::summary, place::targets, place::alerts, place::rules};

}  // namespace

metrics_provider::metrics_provider(provider_options from)
    : options_(std::move(from)),
      list_(std::make_shared<list_listener>()),
      names_(std::make_shared<names>(options_.name, options_.from, options_.keeps_names, [to = list_] { to->tell(); })),
      secret_labels_(options_.from),
      watcher_(std::make_shared<watcher>(
          watcher_options{.from = options_.from,
                          .most = options_.most,
                          .now = options_.now,
                          .check = [this](const address& at, const call& by) { return check_secrets(at, by); },
                          .mark = [this](const address& at, const call& by) { return mark(at, by); },
                          .log = options_.log})),
      summaries_(std::make_shared<summaries>(
          summary_options{.source = options_.name, .redact = options_.redact, .most_metrics = options_.surveyed_metrics},
          options_.from, std::max(options_.least_between, std::chrono::milliseconds(options_.from->interval())),
          [this] { return moment_of_relative(); },
          summaries::listener{[to = std::weak_ptr(watcher_)] {
                                if (const auto there = to.lock()) there->stir();
                              },
                              [to = list_] { to->tell(); }})) {}

metrics_provider::~metrics_provider() {
  options_.from->follow({});
  // The watcher's callbacks use this object, so it stops first.
  watcher_->end();
  options_.from->stop();
}

std::string metrics_provider::name() const { return "metrics " + options_.name; }

std::vector<std::string> metrics_provider::claims() const { return {claim_of(options_.name)}; }

scheme_documentation metrics_provider::documentation() const { return metrics::describe(); }

std::vector<resource_template> metrics_provider::templates() const { return templates_of(options_.name, options_.has_query); }

hondana::needs metrics_provider::needs() const {
  auto out = options_.from->needs();
  for (auto& one : charts::font_folders()) out.folders.push_back({std::move(one)});
  return out;
}

hondana::masking metrics_provider::masking() const noexcept { return options_.redact ? masking::by_source : masking::none; }

hondana::health metrics_provider::health() const { return options_.from->health(); }

series::instant metrics_provider::now() const { return options_.now ? options_.now() : present(); }

series::instant metrics_provider::moment_of_relative() const {
  return reference(now(), options_.from->latest(), options_.from->interval());
}

bool metrics_provider::has(place of) const noexcept {
  if (of == place::query) return options_.has_query;
  return options_.has_alerts || (of != place::alerts && of != place::rules);
}

result<address> metrics_provider::find(const std::string& uri) const {
  auto at = parse_address(uri, moment_of_relative());
  if (at && at->source != options_.name)
    return fail(errc::resource_not_found, "Unknown metrics source. List the resources to see the sources.");
  if (at && !has(at->of))
    return fail(errc::resource_not_found, "The source " + options_.name + " does not provide " + std::string(word_of(at->of)) +
                                              (options_.has_alerts ? ": its configuration sets query = false."
                                                                   : ": it uses the embedded store, not a Prometheus server."));
  return at;
}

call metrics_provider::bounded(const call& by) const {
  auto out = by;
  constexpr std::chrono::milliseconds to_answer{200};
  if (out.deadline != std::chrono::steady_clock::time_point::max()) out.deadline -= to_answer;
  out.deadline = std::min(out.deadline, monotonic_clock::now() + options_.most.time);
  return out;
}

resource metrics_provider::entry_with_priority(resource entry) const {
  constexpr double usual = 0.3;
  const auto last = summaries_->last();
  if (entry.kind == "metrics-summary") {
    entry.annotations.priority = last ? last->score : 0;
    return entry;
  }
  double priority = usual;
  if (last && entry.kind == "metric")
    for (const auto& one : last->unusual)
      if (one.metric == entry.name) priority = std::max(priority, one.weight);
  entry.annotations.priority = priority;
  return entry;
}

result<list_result> metrics_provider::list(const list_request& request) {
  if (options_.watch) summaries_->want();
  const auto known = names_->get(bounded(request));
  std::vector<resource> entries;
  const auto is_after = [&](std::string_view uri) { return std::is_gt(compare_by_segment(uri, request.after)); };
  for (const auto one : listed_places)
    if (has(one) && is_after(uri_of(options_.name, one))) entries.push_back(entry_of(options_.name, one));
  bool are_more = false;
  // If the source does not answer, the resources that exist regardless are still listed.
  if (known) {
    const auto& all = (*known)->all;
    auto at = std::partition_point(all.begin(), all.end(), [&](const auto& one) { return !is_after(one.uri); });
    for (; at != all.end() && !are_more; ++at) {
      are_more = entries.size() > request.limit + listed_places.size();
      auto shown = at->of;
      if (options_.redact) mask(shown.of);
      entries.push_back(entry_of(options_.name, shown));
    }
  }
  std::sort(entries.begin(), entries.end(),
            [](const resource& a, const resource& b) { return std::is_lt(compare_by_segment(a.uri, b.uri)); });
  list_result page;
  are_more = are_more || entries.size() > request.limit;
  if (entries.size() > request.limit) entries.resize(request.limit);
  for (auto& one : entries) page.entries.push_back(entry_with_priority(std::move(one)));
  if (are_more) page.resume = page.entries.empty() ? request.after : page.entries.back().uri;
  return page;
}

result<complete_result> metrics_provider::complete(const complete_request& request) {
  const auto may_see = [&](const std::string& metric) {
    return !request.who.view || request.who.view->may_read(metric_uri(options_.name, metric));
  };
  auto asked = request;
  static_cast<call&>(asked) = bounded(request);
  auto made = complete_parameter(asked, {options_.name, *options_.from, *names_, secret_labels_, options_.redact, may_see});
  if (!made) return tl::unexpected(told(std::move(made.error())));
  return made;
}

std::string metrics_provider::mark(const address& at, const call& by) {
  const auto of = [](const auto& all) { return all ? mark_of(*all) : std::string(); };
  switch (at.of) {
    case place::targets:
      return of(options_.from->targets(by));
    case place::alerts:
      return of(options_.from->alerts(by));
    case place::rules:
      return of(options_.from->rules(by));
    case place::summary: {
      summaries_->want();
      const auto last = summaries_->last();
      return last ? text_of(last->at) : std::string();
    }
    case place::index: {
      const auto all = names_->get(by);
      std::string out;
      if (all)
        for (const auto& one : (*all)->all) out += one.of.name + '\n';
      return out;
    }
    case place::metric:
    case place::query:
      break;
  }
  return {};
}

void metrics_provider::watch(std::shared_ptr<change_listener> to) {
  // Scraping runs even without subscribers: metrics need a history.
  if (to) {
    options_.from->start();
  } else {
    options_.from->stop();
  }
  if (!options_.watch) return;
  watcher_->tell_to(to);
  list_->turn(std::move(to));
}

void metrics_provider::follow_as_wanted() {
  const bool is_wanted = options_.watch && !watcher_->is_empty();
  if (is_wanted == is_following_) return;
  is_following_ = is_wanted;
  if (!is_wanted) return options_.from->follow({});
  options_.from->follow([watched = std::weak_ptr(watcher_)] {
    if (const auto there = watched.lock()) there->stir();
  });
}

void metrics_provider::attach(const std::string& uri) {
  const auto at = find(uri);
  if (!at || !options_.watch) return;
  const std::lock_guard lock(following_);
  watcher_->attach(uri, *at);
  follow_as_wanted();
}

void metrics_provider::detach(const std::string& uri) {
  const std::lock_guard lock(following_);
  watcher_->detach(uri);
  follow_as_wanted();
}

void metrics_provider::attach_list() {
  if (!options_.watch) return;
  const std::lock_guard lock(following_);
  // Check after each scrape whether metrics appeared or disappeared, and what is unusual. These keys are not URIs, so clients
  // cannot name them.
  address list{.source = options_.name, .of = place::index};
  watcher_->attach("#list", list, true);
  address unusual{.source = options_.name, .of = place::summary};
  watcher_->attach("#unusual", unusual, true);
  follow_as_wanted();
}

void metrics_provider::detach_list() {
  const std::lock_guard lock(following_);
  watcher_->detach("#list");
  watcher_->detach("#unusual");
  follow_as_wanted();
}

failure metrics_provider::told(failure why) const {
  if (options_.redact) why.public_text = secrets::redact_text(why.public_text);
  if (why.code == errc::response_too_large && why.about != series::says_how_to_select_less)
    why.public_text +=
        " Select fewer series with match, aggregate them with agg (such as agg=sum by (LABEL) or agg=topk(5)), or use a longer "
        "step or a shorter range (start, end).";
  // The catalog would replace the text of resource_not_found with its own.
  if (why.code == errc::resource_not_found) why.code = errc::source_unavailable;
  return why;
}

}  // namespace hondana::metrics
