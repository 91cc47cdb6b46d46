/// Names, titles, descriptions, templates.
#include "sources/metrics/describe.hpp"

namespace hondana::metrics {
namespace {

constexpr std::string_view metric_parameters = "{name}{?match,start,end,step,agg,format,above,below,absent,for,width,height}";
constexpr std::string_view query_parameters_of = "query{?promql,start,end,step,format,width,height}";

/// The front of a help text, in whole characters.
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
      "Time series of a machine, its services and this server, from an embedded store or a Prometheus: values, charts, "
      "conditions to be told of, and what is unusual.";
  out.kinds = {{"metrics", "The list of a source's metrics."},
               {"metric", "The series of one metric over time."},
               {"metrics-summary", "What is unusual now, with the evidence; its priority follows that."},
               {"metrics-targets", "What is scraped, and how that goes."},
               {"metrics-alerts", "Alerts of a Prometheus."},
               {"metrics-rules", "Rules of a Prometheus."}};
  out.forms = {
      {"metrics://NAME/{name}{?match,start,end,step,agg,format,above,below,absent,for,width,height}",
       "A metric over time. match is the body of a PromQL selector (mode=\"idle\",cpu=~\"0|1\"); start and end are times "
       "(2026-01-31T08:00:00Z, seconds since 1970) or relative (-1h, now); step and for are lengths of time (15s, 5m); agg is "
       "what is made of it (rate[5m], sum by (mode), p99, raw); format is json, csv, openmetrics, svg or png, the last two "
       "of so many pixels. With above, below or absent=true it is whether that holds, since when and for which series."},
      {"metrics://NAME/metric/{name}",
       "The same, for metrics that are called query, targets, alerts, rules, summary or metric."},
      {"metrics://NAME/query{?promql,start,end,step,format,width,height}", "A PromQL expression; of a Prometheus only."},
      {"metrics://NAME/summary{?format}", "What is unusual now, as json or text."},
      {"metrics://NAME/targets", "What is scraped: up or down, since when, the last error."},
      {"metrics://NAME/alerts", "Alerts, of a Prometheus only."},
      {"metrics://NAME/rules", "Rules, of a Prometheus only."},
      {"metrics://NAME/", "The metrics there are, with kinds, units and help."}};
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
      entry.title = "What is unusual in " + name;
      entry.description = "Values unlike before, targets that are down, alerts, disks that fill up; its priority follows that.";
      break;
    case place::targets:
      entry.title = "Targets of " + name;
      entry.description = "What is scraped, whether it is up, and the last error.";
      break;
    case place::alerts:
      entry.title = "Alerts of " + name;
      entry.description = "Alerts that are firing or pending.";
      break;
    case place::rules:
      entry.title = "Rules of " + name;
      entry.description = "Alerting and recording rules.";
      break;
    case place::index:
    case place::metric:
    case place::query:
      entry.title = "Metrics of " + name;
      entry.description = "Names, kinds, units and help of all metrics.";
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
                      "; the last hour, or as match, start, end, step and agg say.";
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
      "Series by the body of a selector (match: mode=\"idle\",cpu=~\"0|1\"), time (start, end: -1h, now, "
      "2026-01-31T08:00:00Z), "
      "step (15s, 5m) and aggregation (agg: rate[5m], sum by (mode), p99, raw), as json, csv, openmetrics, svg or png (width, "
      "height). above, below, absent=true and for (5m): whether that holds; subscribe to be told once per crossing.";
  values.mimeType = "application/json";
  out.push_back(std::move(values));
  if (has_query) {
    resource_template query;
    query.uriTemplate = claim_of(source) + std::string(query_parameters_of);
    query.name = name + "-query";
    query.title = "A PromQL query to " + name;
    query.description = "Any PromQL expression over a range of time.";
    query.mimeType = "application/json";
    out.push_back(std::move(query));
  }
  resource_template whole;
  whole.uriTemplate = uri_of(source, place::summary) + "{?format}";
  whole.name = name + "-summary";
  whole.title = "What is unusual in " + name;
  whole.description = "What is unusual now, with the evidence; format json or text.";
  whole.mimeType = "application/json";
  out.push_back(std::move(whole));
  return out;
}

}  // namespace hondana::metrics
