/// The resource entries, templates and scheme documentation of a metrics source.
#include "sources/metrics/catalog_entries.hpp"

namespace hondana::metrics {
namespace {

constexpr std::string_view metric_parameters = "{name}{?match,start,end,step,agg,format,above,below,absent,for,width,height}";
constexpr std::string_view query_parameters_of = "query{?promql,start,end,step,format,width,height}";

/// The first 200 bytes at most of a help text, without cutting a UTF-8 character.
std::string front_of(std::string_view text) {
  constexpr std::size_t longest = 200;
  if (text.size() <= longest) return std::string(text);
  auto end = longest;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return std::string(text.substr(0, end)) + "…";
}

}  // namespace

scheme_documentation describe() {
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
      {"metrics://NAME/{name}{?match,start,end,step,agg,format,above,below,absent,for,width,height}",
       "A metric over time. match is the body of a PromQL selector (mode=\"idle\",cpu=~\"0|1\"). start and end are absolute "
       "times (2026-01-31T08:00:00Z, seconds since 1970) or relative ones (-1h, now). step and for are durations (15s, 5m). "
       "agg is the aggregation (rate[5m], sum by (mode), p99, raw). format is json, csv, openmetrics, svg or png; width and "
       "height are the size of svg and png in pixels. With above, below or absent=true, the answer says whether that condition "
       "is met, since when and by which series."},
      {"metrics://NAME/metric/{name}", "The same, for metrics named query, targets, alerts, rules, summary or metric."},
      {"metrics://NAME/query{?promql,start,end,step,format,width,height}",
       "The result of a PromQL expression. Prometheus sources only."},
      {"metrics://NAME/summary{?format}", "Current anomalies, as json or text."},
      {"metrics://NAME/targets", "Scrape targets: up or down, the last scrape and the last error."},
      {"metrics://NAME/alerts", "Alerts. Prometheus sources only."},
      {"metrics://NAME/rules", "Rules. Prometheus sources only."},
      {"metrics://NAME/", "All metrics, with kinds, units and help texts."}};
  return out;
}

resource entry_of(std::string_view source, place of) {
  const std::string name(source);
  resource entry;
  entry.uri = uri_of(source, of);
  entry.name = of == place::index ? name : name + '/' + std::string(word_of(of));
  entry.mimeType = "application/json";
  entry.kind = of == place::index ? "metrics" : "metrics-" + std::string(word_of(of));
  switch (of) {
    case place::summary:
      entry.title = "Anomalies in " + name;
      entry.description =
          "Unusual values, targets that are down, alerts, and disks that fill up. Its priority is the anomaly score.";
      break;
    case place::targets:
      entry.title = "Targets of " + name;
      entry.description = "Scrape targets, whether each is up, and its last error.";
      break;
    case place::alerts:
      entry.title = "Alerts of " + name;
      entry.description = "Firing and pending alerts.";
      break;
    case place::rules:
      entry.title = "Rules of " + name;
      entry.description = "Alerting and recording rules.";
      break;
    case place::index:
    case place::metric:
    case place::query:
      entry.title = "Metrics of " + name;
      entry.description = "Names, kinds, units and help texts of all metrics.";
      break;
  }
  return entry;
}

resource entry_of(std::string_view source, const metric& of) {
  resource entry;
  entry.uri = metric_uri(source, of.name);
  entry.name = of.name;
  entry.title = front_of(of.of.help);
  entry.description = std::string(series::name_of(of.of.kind)) + (of.of.unit.empty() ? "" : ", " + of.of.unit) +
                      "; the last hour by default. Parameters: match, start, end, step, agg.";
  entry.mimeType = "application/json";
  entry.kind = "metric";
  entry.metadata.emplace_back("dev.hondana/metricKind", std::string(series::name_of(of.of.kind)));
  if (!of.of.unit.empty()) entry.metadata.emplace_back("dev.hondana/unit", of.of.unit);
  return entry;
}

std::vector<resource_template> templates_of(std::string_view source, bool has_query) {
  const std::string name(source);
  std::vector<resource_template> out;
  resource_template values;
  values.uriTemplate = claim_of(source) + std::string(metric_parameters);
  values.name = name + "-metric";
  values.title = "A metric of " + name;
  values.description =
      "The series of one metric. match: the body of a selector (mode=\"idle\",cpu=~\"0|1\"). start, end: -1h, now, "
      "2026-01-31T08:00:00Z. step: 15s, 5m. agg: rate[5m], sum by (mode), p99, raw. format: json, csv, openmetrics, svg, png "
      "(width, height). With above, below or absent=true, and for (5m): whether the condition is met. Subscribe for one "
      "notification per crossing.";
  values.mimeType = "application/json";
  out.push_back(std::move(values));
  if (has_query) {
    resource_template query;
    query.uriTemplate = claim_of(source) + std::string(query_parameters_of);
    query.name = name + "-query";
    query.title = "A PromQL query of " + name;
    query.description = "Any PromQL expression over a time range.";
    query.mimeType = "application/json";
    out.push_back(std::move(query));
  }
  resource_template whole;
  whole.uriTemplate = uri_of(source, place::summary) + "{?format}";
  whole.name = name + "-summary";
  whole.title = "Anomalies in " + name;
  whole.description = "Current anomalies with their evidence; format is json or text.";
  whole.mimeType = "application/json";
  out.push_back(std::move(whole));
  return out;
}

}  // namespace hondana::metrics
