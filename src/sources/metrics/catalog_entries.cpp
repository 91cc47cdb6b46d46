/// The resource entries, templates and scheme documentation of a metrics source.
#include "sources/metrics/catalog_entries.hpp"

namespace hondana::metrics {
namespace {

/// The template of the resources of a kind. `prefix`: metrics://NAME/
std::string template_of(const std::string& prefix, resource_kind kind) {
  return prefix + (kind == resource_kind::metric ? "{name}" : std::string(path_segment(kind))) +
         uri::query_template(parameters_of(kind));
}

/// The first 200 bytes at most of a help text, without cutting a UTF-8 character.
std::string truncate_text(std::string_view text) {
  constexpr std::size_t max_bytes = 200;
  if (text.size() <= max_bytes) return std::string(text);
  auto end = max_bytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return std::string(text.substr(0, end)) + "…";
}

}  // namespace

scheme_documentation describe_scheme() {
  scheme_documentation out;
  out.scheme = "metrics";
  out.summary =
      "Time series of a machine, its services and this server, from an embedded store or a Prometheus server: values, charts, "
      "conditions to subscribe to, and anomalies.";
  out.kinds = {{"metrics", "The list of a source's metrics."},
               {"metric", "The time series of one metric."},
               {"metrics-summary", "Current anomalies with their evidence. Its priority is the anomaly score."},
               {"metrics-targets", "Scrape targets and their state."},
               {"metrics-alerts", "Alerts of a Prometheus server."},
               {"metrics-rules", "Rules of a Prometheus server."}};
  out.forms = {
      {template_of(uri_prefix("NAME"), resource_kind::metric),
       "A metric over time. match is the body of a PromQL selector (mode=\"idle\",cpu=~\"0|1\"). start and end are absolute "
       "times (2026-01-31T08:00:00Z, seconds since 1970) or relative ones (-1h, now). step and for are durations (15s, 5m). "
       "agg is the aggregation (rate[5m], sum by (mode), p99, raw). format is json, csv, openmetrics, svg or png; width and "
       "height are the size of svg and png in pixels. With above, below or absent=true, the answer says whether that condition "
       "is met, since when and by which series."},
      {"metrics://NAME/metric/{name}", "The same, for metrics named query, targets, alerts, rules, summary or metric."},
      {template_of(uri_prefix("NAME"), resource_kind::query), "The result of a PromQL expression. Prometheus sources only."},
      {template_of(uri_prefix("NAME"), resource_kind::summary), "Current anomalies, as json or text."},
      {"metrics://NAME/targets", "Scrape targets: up or down, the last scrape and the last error."},
      {"metrics://NAME/alerts", "Alerts. Prometheus sources only."},
      {"metrics://NAME/rules", "Rules. Prometheus sources only."},
      {"metrics://NAME/", "All metrics, with kinds, units and help texts."}};
  return out;
}

resource make_entry(std::string_view source, resource_kind kind) {
  const std::string name(source);
  resource entry;
  entry.uri = uri_of(source, kind);
  entry.name = kind == resource_kind::index ? name : name + '/' + std::string(path_segment(kind));
  entry.mime_type = "application/json";
  entry.kind = kind == resource_kind::index ? "metrics" : "metrics-" + std::string(path_segment(kind));
  switch (kind) {
    case resource_kind::summary:
      entry.title = "Anomalies in " + name;
      entry.description =
          "Unusual values, targets that are down, alerts, and disks that fill up. Its priority is the anomaly score.";
      break;
    case resource_kind::targets:
      entry.title = "Targets of " + name;
      entry.description = "Scrape targets, whether each is up, and its last error.";
      break;
    case resource_kind::alerts:
      entry.title = "Alerts of " + name;
      entry.description = "Firing and pending alerts.";
      break;
    case resource_kind::rules:
      entry.title = "Rules of " + name;
      entry.description = "Alerting and recording rules.";
      break;
    case resource_kind::index:
    case resource_kind::metric:
    case resource_kind::query:
      entry.title = "Metrics of " + name;
      entry.description = "Names, kinds, units and help texts of all metrics.";
      break;
  }
  return entry;
}

resource make_entry(std::string_view source, const metric_info& metric) {
  resource entry;
  entry.uri = metric_uri(source, metric.name);
  entry.name = metric.name;
  entry.title = truncate_text(metric.metadata.help);
  entry.description = std::string(series::name_of(metric.metadata.kind)) +
                      (metric.metadata.unit.empty() ? "" : ", " + metric.metadata.unit) +
                      "; the last hour by default. Parameters: match, start, end, step, agg.";
  entry.mime_type = "application/json";
  entry.kind = "metric";
  entry.metadata.emplace_back("dev.hondana/metricKind", std::string(series::name_of(metric.metadata.kind)));
  if (!metric.metadata.unit.empty()) entry.metadata.emplace_back("dev.hondana/unit", metric.metadata.unit);
  return entry;
}

std::vector<resource_template> make_templates(std::string_view source, bool has_query) {
  const std::string name(source);
  std::vector<resource_template> out;
  resource_template values;
  values.uri_template = template_of(uri_prefix(source), resource_kind::metric);
  values.name = name + "-metric";
  values.title = "A metric of " + name;
  values.description =
      "The series of one metric. match: the body of a selector (mode=\"idle\",cpu=~\"0|1\"). start, end: -1h, now, "
      "2026-01-31T08:00:00Z. step: 15s, 5m. agg: rate[5m], sum by (mode), p99, raw. format: json, csv, openmetrics, svg, png "
      "(width, height). With above, below or absent=true, and for (5m): whether the condition is met. Subscribe for one "
      "notification per crossing.";
  values.mime_type = "application/json";
  out.push_back(std::move(values));
  if (has_query) {
    resource_template query;
    query.uri_template = template_of(uri_prefix(source), resource_kind::query);
    query.name = name + "-query";
    query.title = "A PromQL query of " + name;
    query.description = "Any PromQL expression over a time range.";
    query.mime_type = "application/json";
    out.push_back(std::move(query));
  }
  resource_template summary;
  summary.uri_template = template_of(uri_prefix(source), resource_kind::summary);
  summary.name = name + "-summary";
  summary.title = "Anomalies in " + name;
  summary.description = "Current anomalies with their evidence; format is json or text.";
  summary.mime_type = "application/json";
  out.push_back(std::move(summary));
  return out;
}

}  // namespace hondana::metrics
