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

#include <hondana/capabilities.hpp>
#include <hondana/clock.hpp>
#include <hondana/completion.hpp>
#include <hondana/provider.hpp>

#include "os/sqlite/database_file.hpp"
#include "protocol/model/provider_extensions.hpp"
#include "sources/metrics/backend.hpp"
#include "sources/metrics/catalog_entries.hpp"
#include "sources/metrics/charts/chart.hpp"
#include "sources/metrics/masking.hpp"
#include "sources/metrics/metric_names.hpp"
#include "sources/metrics/rendering.hpp"
#include "sources/metrics/series/selector.hpp"
#include "text/secrets/redactor.hpp"

namespace hondana::metrics {

struct completion_context {
  std::string source{};
  backend& metrics_backend;
  metric_name_cache& names;
  secret_labels& secrets;
  bool redact = true;
  /// Whether the caller may list a metric.
  std::function<bool(const std::string& name)> may_see{};
};

/// Completes one template variable.
/// `name`: names of metrics. `match`: label names, then after the operator the values of series that satisfy the name and the
/// previous matchers. `agg`: aggregations suitable for the metric. Others: formats, steps and times.
/// Offers nothing after a matcher on a label with secrets, and no values of such labels. Errors: of the source.
[[nodiscard]] result<complete_result> complete_parameter(const complete_request& request, const completion_context& context);

namespace {

constexpr std::size_t max_offered_bytes = 200;

/// The metric that the client has chosen, if the caller may see it.
std::string chosen_metric(const complete_request& request, const completion_context& context) {
  auto name = request.context_value("name");
  if (!series::is_metric_name(name) || (context.may_see && !context.may_see(name))) return {};
  return name;
}

result<complete_result> complete_name(const complete_request& request, const completion_context& context) {
  HONDANA_TRY(const auto list, context.names.get(request));
  std::vector<std::string> values;
  for (const auto& entry : list->entries)
    if (!context.may_see || context.may_see(entry.metric.name)) values.push_back(entry.metric.name);
  return complete_from(request.value, values);
}

result<complete_result> complete_match(const complete_request& request, const completion_context& context) {
  complete_result no_suggestions{{}, 0, false};
  const auto name = chosen_metric(request, context);
  const auto partial = series::parse_partial_matchers(request.value);
  if (name.empty() || !partial) return no_suggestions;
  series::selector selector{name, partial->matchers};
  if (context.redact) {
    // Suggestions would reveal whether a guess in a previous matcher, or in the typed part, is right.
    std::vector<std::string> labels;
    labels.reserve(selector.matchers.size() + 1);
    for (const auto& matcher : selector.matchers) labels.push_back(matcher.label_name());
    if (!partial->label_name.empty()) labels.push_back(partial->label_name);
    for (const auto& label : labels) {
      HONDANA_TRY(const auto has_some, context.secrets.has_secrets(name, label, request));
      if (has_some) return no_suggestions;
    }
  }
  std::vector<std::string> values;
  if (partial->label_name.empty()) {
    auto label_names = context.metrics_backend.label_names(selector, request);
    if (!label_names) return tl::unexpected(std::move(label_names.error()));
    for (auto& label : *label_names) {
      // Skip labels that are already matched. The metric's name is chosen by `name`.
      const bool is_matched = std::any_of(partial->matchers.begin(), partial->matchers.end(),
                                          [&](const auto& matcher) { return matcher.label_name() == label; });
      if (!is_matched && label != "__name__") values.push_back(label + '=');
    }
  } else {
    // For a regular expression, the typed part is not a prefix of the values.
    const bool is_exact =
        partial->type == series::matcher::match_type::equal || partial->type == series::matcher::match_type::not_equal;
    auto label_values = context.metrics_backend.label_values(
        selector, partial->label_name, is_exact ? std::string_view(partial->typed) : std::string_view(), request);
    if (!label_values) return tl::unexpected(std::move(label_values.error()));
    // If no value has this prefix, offer all: another spelling may match.
    if (label_values->empty() && is_exact && !partial->typed.empty()) {
      label_values = context.metrics_backend.label_values(selector, partial->label_name, {}, request);
      if (!label_values) return tl::unexpected(std::move(label_values.error()));
    }
    for (auto& value : *label_values)
      if (value.size() <= max_offered_bytes) values.push_back(std::move(value));
  }
  auto ranked = complete_from(partial->typed, values);
  for (auto& suggestion : ranked.values) {
    const bool is_name = partial->label_name.empty();
    suggestion = is_name ? partial->prefix + suggestion : partial->completed(suggestion);
  }
  return ranked;
}

result<complete_result> complete_aggregation(const complete_request& request, const completion_context& context) {
  const auto name = chosen_metric(request, context);
  std::optional<metric_info> metric;
  std::vector<std::string> labels;
  if (!name.empty()) {
    HONDANA_TRY(auto match, context.metrics_backend.find(name, request));
    metric = std::move(match);
    if (metric) {
      HONDANA_TRY(auto names, context.metrics_backend.label_names({name, {}}, request));
      labels = std::move(names);
    }
  }
  using series::kind;
  const auto metric_kind = metric ? metric->metadata.kind : kind::unknown;
  std::vector<std::string> values;
  const auto add = [&](std::initializer_list<const char*> suggestions) {
    values.insert(values.end(), suggestions.begin(), suggestions.end());
  };
  if (metric_kind == kind::histogram) add({"p50,p90,p99", "p99", "p95", "p90", "p50", "rate", "increase"});
  if (metric_kind == kind::counter) add({"rate", "increase", "irate", "rate[5m]"});
  add({"sum", "avg", "min", "max", "count", "topk(5)", "bottomk(5)", "stddev"});
  if (metric_kind != kind::counter && metric_kind != kind::histogram)
    add({"avg_over_time[5m]", "min_over_time[5m]", "max_over_time[5m]", "delta"});
  add({"raw"});
  for (const auto& label : labels) {
    if (label == "__name__" || label == "le" || label == "quantile") continue;
    if (metric_kind == kind::histogram) values.push_back("quantile(0.95) by (" + label + ')');
    values.push_back("sum by (" + label + ')');
    values.push_back("avg by (" + label + ')');
  }
  return complete_from(request.value, values);
}

}  // namespace

result<complete_result> complete_parameter(const complete_request& request, const completion_context& context) {
  const auto complete_fixed = [&](const std::vector<std::string>& values) { return complete_from(request.value, values); };
  const auto& argument = request.argument;
  if (argument == "name") return complete_name(request, context);
  if (argument == "match") return complete_match(request, context);
  if (argument == "agg") return complete_aggregation(request, context);
  if (argument == "format")
    return request.uri_template.find("/summary") != std::string::npos
               ? complete_fixed({"json", "text"})
               : complete_fixed({"json", "csv", "openmetrics", "svg", "png"});
  if (argument == "start") return complete_fixed({"-1h", "-15m", "-6h", "-24h", "-7d", "-30d"});
  if (argument == "end") return complete_fixed({"now", "-1h", "-24h"});
  if (argument == "step") return complete_fixed({"15s", "30s", "1m", "5m", "15m", "1h", "6h", "1d"});
  if (argument == "for") return complete_fixed({"1m", "5m", "10m", "15m", "1h"});
  if (argument == "absent") return complete_fixed({"true"});
  if (argument == "width") return complete_fixed({"800", "600", "1200", "1600"});
  if (argument == "height") return complete_fixed({"400", "300", "600", "800"});
  return complete_result{{}, 0, false};
}

namespace {

constexpr std::array<resource_kind, 5> listed_resources{resource_kind::index, resource_kind::summary, resource_kind::targets,
                                                        resource_kind::alerts, resource_kind::rules};

}  // namespace

metrics_provider::metrics_provider(provider_options options)
    : options_(std::move(options)),
      list_notifier_(std::make_shared<list_notifier>()),
      names_(std::make_shared<metric_name_cache>(options_.name, options_.metrics_backend, options_.names_ttl,
                                                 [notifier = list_notifier_] { notifier->notify(); })),
      secret_labels_(options_.metrics_backend),
      watcher_(std::make_shared<watcher>(watcher_options{
          .metrics_backend = options_.metrics_backend,
          .limits = options_.limits,
          .now = options_.now,
          .check = [this](const address& parsed, const request_context& context) { return check_secrets(parsed, context); },
          .etag = [this](const address& resource_address,
                         const request_context& request_context) { return etag(resource_address, request_context); },
          .log = options_.log})),
      summaries_(std::make_shared<summary_cache>(
          summary_options{.source = options_.name, .redact = options_.redact, .max_metrics = options_.max_scanned_metrics},
          options_.metrics_backend,
          std::max(options_.min_summary_interval, std::chrono::milliseconds(options_.metrics_backend->interval())),
          [this] { return current_reference_time(); },
          summary_cache::update_handlers{[weak_watcher = std::weak_ptr(watcher_)] {
                                           if (const auto watcher = weak_watcher.lock()) watcher->schedule_check();
                                         },
                                         [list_changes = list_notifier_] { list_changes->notify(); }})) {}

metrics_provider::~metrics_provider() {
  options_.metrics_backend->set_listener({});
  // The watcher's callbacks use this object, so it stops first.
  watcher_->stop();
  options_.metrics_backend->stop();
}

std::string metrics_provider::name() const { return "metrics " + options_.name; }

std::vector<std::string> metrics_provider::claims() const { return {uri_prefix(options_.name)}; }

scheme_documentation metrics_provider::documentation() const { return metrics::describe_scheme(); }

std::vector<resource_template> metrics_provider::templates() const { return make_templates(options_.name, options_.has_query); }

hondana::system_requirements metrics_provider::requirements() const {
  auto out = options_.metrics_backend->requirements();
  for (auto& folder : charts::font_folders()) out.folders.push_back({std::move(folder)});
  return out;
}

provider_traits metrics_provider::traits() const noexcept {
  return {.masking = options_.redact ? secret_masking::by_source : secret_masking::none};
}

hondana::provider_health metrics_provider::health() const { return options_.metrics_backend->health(); }

series::instant metrics_provider::now() const { return options_.now ? options_.now() : current_time(); }

series::instant metrics_provider::current_reference_time() const {
  return reference_time(now(), options_.metrics_backend->last_ingest_time(), options_.metrics_backend->interval());
}

bool metrics_provider::has_resource(resource_kind kind) const noexcept {
  if (kind == resource_kind::query) return options_.has_query;
  return options_.has_alerts || (kind != resource_kind::alerts && kind != resource_kind::rules);
}

result<address> metrics_provider::resolve(const std::string& uri) const {
  auto address = parse_address(uri, current_reference_time());
  if (address && address->source != options_.name)
    return fail(errc::resource_not_found, "Unknown metrics source. List the resources to see the sources.");
  if (address && !has_resource(address->kind))
    return fail(errc::resource_not_found, "The source " + options_.name + " does not provide " +
                                              std::string(path_segment(address->kind)) +
                                              (options_.has_alerts ? ": its configuration sets query = false."
                                                                   : ": it uses the embedded store, not a Prometheus server."));
  return address;
}

request_context metrics_provider::with_timeout(const request_context& context) const {
  auto out = context;
  constexpr std::chrono::milliseconds response_margin{200};
  if (out.deadline != std::chrono::steady_clock::time_point::max()) out.deadline -= response_margin;
  out.deadline = std::min(out.deadline, monotonic_clock::now() + options_.limits.timeout);
  return out;
}

resource metrics_provider::entry_with_priority(resource entry) const {
  constexpr double default_priority = 0.3;
  const auto last = summaries_->last();
  if (entry.kind == "metrics-summary") {
    entry.annotations.priority = last ? last->score : 0;
    return entry;
  }
  double priority = default_priority;
  if (last && entry.kind == "metric")
    for (const auto& finding : last->findings)
      if (finding.metric == entry.name) priority = std::max(priority, finding.weight);
  entry.annotations.priority = priority;
  return entry;
}

result<list_result> metrics_provider::list(const list_request& request) {
  if (options_.watch) summaries_->request_update();
  const auto list = names_->get(with_timeout(request));
  std::vector<resource> entries;
  const auto is_after = [&](std::string_view uri) { return std::is_gt(compare_by_segment(uri, request.after_key)); };
  for (const auto kind : listed_resources)
    if (has_resource(kind) && is_after(uri_of(options_.name, kind))) entries.push_back(make_entry(options_.name, kind));
  bool has_more = false;
  // If the source does not answer, the resources that exist regardless are still listed.
  if (list) {
    const auto& listed = (*list)->entries;
    auto it = std::partition_point(listed.begin(), listed.end(), [&](const auto& entry) { return !is_after(entry.uri); });
    for (; it != listed.end() && !has_more; ++it) {
      has_more = entries.size() > request.limit + listed_resources.size();
      auto metric = it->metric;
      if (options_.redact) mask(metric.metadata);
      entries.push_back(make_entry(options_.name, metric));
    }
  }
  std::sort(entries.begin(), entries.end(),
            [](const resource& a, const resource& b) { return std::is_lt(compare_by_segment(a.uri, b.uri)); });
  list_result page;
  has_more = has_more || entries.size() > request.limit;
  if (entries.size() > request.limit) entries.resize(request.limit);
  for (auto& entry : entries) page.entries.push_back(entry_with_priority(std::move(entry)));
  if (has_more) page.next_key = page.entries.empty() ? request.after_key : page.entries.back().uri;
  return page;
}

result<void> metrics_provider::inventory(const request_context& request,
                                         const std::function<void(const inventory_item&)>& visitor) {
  const auto names = names_->get(with_timeout(request));
  HONDANA_TRY(model::visit_listed(*this, request, visitor));
  if (names) return {};
  const auto& error = names.error();
  visitor({name(),
           {},
           false,
           "its metrics are not listed: " +
               (sqlite::is_in_use(error)
                    ? "another process, such as a running server, has opened the store"
                    : error.public_text + (error.private_text.empty() ? std::string() : " (" + error.private_text + ')'))});
  return {};
}

result<complete_result> metrics_provider::complete(const complete_request& request) {
  const auto may_see = [&](const std::string& metric) {
    return !request.caller.access_filter || request.caller.access_filter->may_read(metric_uri(options_.name, metric));
  };
  auto bounded_request = request;
  static_cast<request_context&>(bounded_request) = with_timeout(request);
  auto completion = complete_parameter(
      bounded_request, {options_.name, *options_.metrics_backend, *names_, secret_labels_, options_.redact, may_see});
  if (!completion) return tl::unexpected(to_client_error(std::move(completion.error())));
  return completion;
}

std::string metrics_provider::etag(const address& address, const request_context& context) {
  const auto to_etag = [](const auto& entries) { return entries ? etag_of(*entries) : std::string(); };
  switch (address.kind) {
    case resource_kind::targets:
      return to_etag(options_.metrics_backend->targets(context));
    case resource_kind::alerts:
      return to_etag(options_.metrics_backend->alerts(context));
    case resource_kind::rules:
      return to_etag(options_.metrics_backend->rules(context));
    case resource_kind::summary: {
      summaries_->request_update();
      const auto last = summaries_->last();
      return last ? format_time(last->created_at) : std::string();
    }
    case resource_kind::index: {
      const auto list = names_->get(context);
      std::string out;
      if (list)
        for (const auto& entry : (*list)->entries) out += entry.metric.name + '\n';
      return out;
    }
    case resource_kind::metric:
    case resource_kind::query:
      break;
  }
  return {};
}

void metrics_provider::set_listener(std::shared_ptr<change_listener> listener) {
  // Scraping runs even without subscribers: metrics need a history.
  if (listener) {
    options_.metrics_backend->start();
  } else {
    options_.metrics_backend->stop();
  }
  if (!options_.watch) return;
  watcher_->set_listener(listener);
  list_notifier_->set_listener(std::move(listener));
}

void metrics_provider::update_listener() {
  const bool needs_listener = options_.watch && !watcher_->is_empty();
  if (needs_listener == is_listening_) return;
  is_listening_ = needs_listener;
  if (!needs_listener) return options_.metrics_backend->set_listener({});
  options_.metrics_backend->set_listener([weak_watcher = std::weak_ptr(watcher_)] {
    if (const auto watcher = weak_watcher.lock()) watcher->schedule_check();
  });
}

void metrics_provider::watch(const std::string& uri) {
  const auto address = resolve(uri);
  if (!address || !options_.watch) return;
  const std::lock_guard lock(listener_mutex_);
  watcher_->watch(uri, *address);
  update_listener();
}

void metrics_provider::unwatch(const std::string& uri) {
  const std::lock_guard lock(listener_mutex_);
  watcher_->unwatch(uri);
  update_listener();
}

void metrics_provider::watch_list() {
  if (!options_.watch) return;
  const std::lock_guard lock(listener_mutex_);
  // Check after each scrape whether metrics appeared or disappeared, and what is unusual. These keys are not URIs, so clients
  // cannot name them.
  address index{.source = options_.name, .kind = resource_kind::index};
  watcher_->watch("#list", index, true);
  address summary{.source = options_.name, .kind = resource_kind::summary};
  watcher_->watch("#unusual", summary, true);
  update_listener();
}

void metrics_provider::unwatch_list() {
  const std::lock_guard lock(listener_mutex_);
  watcher_->unwatch("#list");
  watcher_->unwatch("#unusual");
  update_listener();
}

failure metrics_provider::to_client_error(failure error) const {
  if (options_.redact) error.public_text = secrets::redact_text(error.public_text);
  if (error.code == errc::response_too_large && error.subject != series::selection_advice)
    error.public_text +=
        " Select fewer series with match, aggregate them with agg (such as agg=sum by (LABEL) or agg=topk(5)), or use a longer "
        "step or a shorter range (start, end).";
  // The catalog would replace the text of resource_not_found with its own.
  if (error.code == errc::resource_not_found) error.code = errc::source_unavailable;
  return error;
}

}  // namespace hondana::metrics
