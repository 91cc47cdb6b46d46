/// Renders values, targets, alerts, rules and metric lists as JSON, CSV, OpenMetrics or charts.
#include "sources/metrics/rendering.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "sources/metrics/address.hpp"
#include "sources/metrics/exposition/writer.hpp"
#include "sources/metrics/moment.hpp"

namespace hondana::metrics {
namespace {

void append_cell(std::string& out, std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    out += text;
    return;
  }
  out += '"';
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

std::vector<std::string> label_names_of(const std::vector<series::time_series>& series_list) {
  std::set<std::string, std::less<>> names;
  for (const auto& series : series_list)
    for (const auto& [name, value] : series.id.labels) names.insert(name);
  return {names.begin(), names.end()};
}

bool is_raw(const series::aggregation& aggregation) {
  return aggregation.time.value_or(series::over_time::last) == series::over_time::last &&
         aggregation.across == series::across::none && aggregation.quantiles.empty();
}

bool ends_with_unit(std::string_view name, std::string_view unit) {
  return name.size() > unit.size() && name.ends_with(unit) && name[name.size() - unit.size() - 1] == '_';
}

/// A line under the title that describes the request.
std::string make_subtitle(const range_report& report) {
  std::string out;
  const auto add = [&](const std::string& text) {
    if (!text.empty()) out += (out.empty() ? "" : " · ") + text;
  };
  std::string match;
  for (const auto& matcher : report.request.matchers) match += (match.empty() ? "" : ",") + matcher.to_text();
  add(match.empty() ? match : '{' + match + '}');
  if (report.request.kind == resource_kind::metric) add(report.answer.aggregation.to_text());
  add("step " + series::to_text(report.range.step));
  if (report.request.condition.is_set()) add(report.request.condition.to_text());
  return out;
}

}  // namespace

void write_instant(json::writer& writer, series::instant time) {
  if (time % second == 0) {
    writer.integer(time / second);
  } else {
    writer.number(static_cast<double>(time) / static_cast<double>(second));
  }
}

void write_seconds(json::writer& writer, series::duration duration) { write_instant(writer, duration); }

void write_value(json::writer& writer, double value) {
  if (std::isfinite(value)) {
    writer.number(value);
  } else {
    writer.string(exposition::format_number(std::isnan(value) ? std::nan("") : value));
  }
}

void write_points(json::writer& writer, const std::vector<series::sample>& samples) {
  writer.begin_array();
  for (const auto& sample : samples) {
    writer.begin_array();
    write_instant(writer, sample.time);
    write_value(writer, sample.value);
    writer.end_array();
  }
  writer.end_array();
}

void write_labels(json::writer& writer, const series::identity& identity) {
  writer.begin_object();
  for (const auto& [name, value] : identity.labels) writer.member(name, value);
  writer.end_object();
}

void write_head(json::writer& writer, const range_report& report) {
  writer.member("source", report.request.source);
  if (report.request.kind == resource_kind::query) {
    writer.member("promql", report.request.promql);
  } else {
    writer.member("metric", report.request.metric);
    writer.member("kind", series::name_of(report.answer.metadata.kind));
    writer.member_if("help", report.answer.metadata.help);
    writer.member("selector", report.request.selector().to_text());
    writer.member("agg", report.answer.aggregation.to_text());
  }
  writer.member_if("unit", unit_of(report.answer, report.request.metric));
  writer.member("start", format_time(report.range.start));
  writer.member("end", format_time(report.range.end));
  writer.key("step");
  write_seconds(writer, report.range.step);
}

std::string to_json(const range_report& report) {
  std::string out;
  json::writer writer(out);
  writer.begin_object();
  write_head(writer, report);
  writer.key("series").begin_array();
  for (const auto& series : report.answer.series) {
    writer.begin_object();
    // The result of a query may have several metrics.
    if (report.request.kind == resource_kind::query) writer.member_if("name", series.id.name);
    writer.key("labels");
    write_labels(writer, series.id);
    writer.key("points");
    write_points(writer, series.samples);
    writer.end_object();
  }
  writer.end_array();
  if (!report.answer.warnings.empty()) {
    writer.key("warnings").begin_array();
    for (const auto& warning : report.answer.warnings) writer.string(warning);
    writer.end_array();
  }
  writer.end_object();
  return out;
}

std::string to_csv(const range_report& report) {
  const auto names = label_names_of(report.answer.series);
  const bool has_name = report.request.kind == resource_kind::query;
  std::string out = "time";
  if (has_name) out += ",__name__";
  for (const auto& name : names) {
    out += ',';
    append_cell(out, name);
  }
  out += ",value\r\n";
  for (const auto& series : report.answer.series) {
    std::string labels;
    if (has_name) {
      labels += ',';
      append_cell(labels, series.id.name);
    }
    for (const auto& label : names) {
      labels += ',';
      append_cell(labels, series.id.value_of(label));
    }
    for (const auto& sample : series.samples)
      out += format_time(sample.time) + labels + ',' + exposition::format_number(sample.value) + "\r\n";
  }
  return out;
}

std::string to_openmetrics(const range_report& report) {
  using series::kind;
  exposition::writer writer(exposition::parser::format::open_metrics);
  const bool has_own_name = report.request.kind == resource_kind::metric && is_raw(report.answer.aggregation);
  // The format requires that samples of one family are adjacent. A query may return several names.
  std::map<std::string, std::vector<const series::time_series*>> families;
  const auto derive_name = [&] {
    std::string name = report.request.kind == resource_kind::query
                           ? std::string("query")
                           : report.request.metric + ':' + report.answer.aggregation.to_text();
    for (char& c : name)
      if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == ':')) c = '_';
    return name;
  };
  for (const auto& series : report.answer.series) {
    const auto name = has_own_name ? (series.id.name.empty() ? report.request.metric : series.id.name)
                                   : (report.request.kind == resource_kind::query && !series.id.name.empty() ? series.id.name
                                                                                                             : derive_name());
    families[name].push_back(&series);
  }
  for (const auto& [name, members] : families) {
    series::metadata metadata = report.answer.metadata;
    auto family = name;
    // Not every exporter follows the format's rules for the names of counters and units.
    const bool is_counter = has_own_name && metadata.kind == kind::counter && name.ends_with("_total");
    metadata.kind = is_counter ? kind::counter : has_own_name && metadata.kind != kind::gauge ? kind::unknown : kind::gauge;
    if (is_counter) family = std::string(series::family_of(name, kind::counter));
    if (!ends_with_unit(family, metadata.unit)) metadata.unit.clear();
    writer.family(family, metadata);
    for (const auto* member : members) {
      auto identity = member->id;
      identity.name = name;
      for (const auto& sample : member->samples) writer.sample(identity, sample.value, sample.time);
    }
  }
  return writer.finish();
}

std::string unit_of(const range_answer& answer, std::string_view metric) {
  if (answer.aggregation.across == series::across::count) return {};
  auto unit = answer.metadata.unit.empty() ? std::string(series::unit_from_name(metric)) : answer.metadata.unit;
  if (!answer.aggregation.quantiles.empty()) return unit;
  // These values count observations, so the unit does not apply.
  if (answer.metadata.kind == series::kind::histogram || metric.ends_with("_bucket") || metric.ends_with("_count"))
    unit.clear();
  switch (answer.aggregation.time.value_or(series::over_time::last)) {
    case series::over_time::count:
      return {};
    case series::over_time::rate:
    case series::over_time::irate:
      return unit + "/s";
    default:
      return unit;
  }
}

std::vector<std::string> make_legend(const std::vector<series::time_series>& series_list, std::string_view metric) {
  std::vector<std::string> out;
  std::set<std::string> varying;
  for (const auto& name : label_names_of(series_list)) {
    const auto first = std::string(series_list.front().id.value_of(name));
    if (std::any_of(series_list.begin(), series_list.end(),
                    [&](const auto& series) { return series.id.value_of(name) != first; }))
      varying.insert(name);
  }
  const bool has_names = std::any_of(series_list.begin(), series_list.end(),
                                     [&](const auto& series) { return series.id.name != series_list.front().id.name; });
  for (const auto& series : series_list) {
    std::string text = has_names ? series.id.name : std::string();
    for (const auto& [name, value] : series.id.labels) {
      if (!varying.contains(name)) continue;
      text += (text.empty() ? "" : " ") + (varying.size() == 1 ? value : name + '=' + value);
    }
    out.push_back(text.empty() ? std::string(metric) : std::move(text));
  }
  return out;
}

result<std::string> to_image(const range_report& report, charts::image_format format) {
  charts::chart chart;
  chart.title = report.request.kind == resource_kind::query ? report.request.promql : report.request.metric;
  chart.subtitle = make_subtitle(report);
  chart.unit = unit_of(report.answer, report.request.metric);
  chart.start = report.range.start;
  chart.end = report.range.end;
  chart.step = report.range.step;
  chart.zone = report.zone;
  const auto names = make_legend(report.answer.series, chart.title);
  for (std::size_t i = 0; i < names.size(); ++i) chart.lines.push_back({names[i], report.answer.series[i].samples});
  if (report.request.condition.above) chart.thresholds.push_back({*report.request.condition.above, "above"});
  if (report.request.condition.below) chart.thresholds.push_back({*report.request.condition.below, "below"});
  charts::image_size size;
  if (report.request.width) size.width = *report.request.width;
  if (report.request.height) size.height = *report.request.height;
  return charts::draw(chart, format, size);
}

namespace {

template <class All, class Write>
std::string to_json_list(std::string_view source, std::string_view name, const All& entries, Write write) {
  std::string out;
  json::writer writer(out);
  writer.begin_object();
  writer.member("source", source);
  writer.key(name).begin_array();
  for (const auto& entry : entries) {
    writer.begin_object();
    write(writer, entry);
    writer.end_object();
  }
  writer.end_array();
  writer.end_object();
  return out;
}

}  // namespace

std::string to_json(std::string_view source, const std::vector<scraping::target_state>& targets) {
  return to_json_list(source, "targets", targets, [](json::writer& writer, const scraping::target_state& target) {
    writer.member("job", target.job);
    writer.member("instance", target.instance);
    writer.member_if("url", target.url);
    writer.key("up").boolean(target.is_up);
    writer.member_if("lastError", target.last_error);
    if (target.last_scrape) writer.member("lastScrape", format_time(*target.last_scrape));
    constexpr double microseconds = 1e6;
    writer.key("scrapeSeconds").number(static_cast<double>(target.duration.count()) / microseconds);
    writer.key("samples").unsigned_integer(target.samples);
    writer.key("interval");
    write_seconds(writer, target.interval.count());
  });
}

std::string to_json(std::string_view source, const std::vector<alert>& alerts) {
  return to_json_list(source, "alerts", alerts, [](json::writer& writer, const alert& alert) {
    writer.member("name", alert.name);
    writer.member("state", alert.state);
    writer.member_if("severity", alert.severity);
    writer.member_if("value", alert.value);
    writer.member_if("expression", alert.expression);
    writer.key("labels");
    write_labels(writer, {"", alert.labels});
    writer.key("annotations").begin_object();
    for (const auto& [name, text] : alert.annotations) writer.member(name, text);
    writer.end_object();
    if (alert.active_at) writer.member("since", format_time(*alert.active_at));
  });
}

std::string to_json(std::string_view source, const std::vector<rule>& rules) {
  return to_json_list(source, "rules", rules, [](json::writer& writer, const rule& rule) {
    writer.member_if("group", rule.group);
    writer.member("name", rule.name);
    writer.member("kind", rule.kind);
    writer.member("expression", rule.expression);
    writer.member_if("state", rule.state);
    writer.member_if("health", rule.health);
    writer.member_if("lastError", rule.last_error);
    if (rule.evaluation_seconds) writer.key("evaluationSeconds").number(*rule.evaluation_seconds);
    if (rule.kind == "alerting") {
      writer.key("for");
      write_seconds(writer, rule.hold_duration);
    }
  });
}

std::string to_json(std::string_view source, const std::vector<metric_info>& metrics, bool has_more,
                    series::duration interval) {
  std::string out;
  json::writer writer(out);
  writer.begin_object();
  writer.member("source", source);
  writer.key("interval");
  write_seconds(writer, interval);
  writer.key("metrics").begin_array();
  for (const auto& metric : metrics) {
    writer.begin_object();
    writer.member("name", metric.name);
    writer.member("kind", series::name_of(metric.metadata.kind));
    writer.member_if("unit", metric.metadata.unit);
    writer.member_if("help", metric.metadata.help);
    writer.member("uri", metric_uri(source, metric.name));
    writer.end_object();
  }
  writer.end_array();
  if (has_more) writer.key("more").boolean(true);
  writer.end_object();
  return out;
}

std::string etag_of(const std::vector<scraping::target_state>& targets) {
  std::string out = "targets";
  for (const auto& target : targets)
    out += '\n' + target.job + '\t' + target.instance + (target.is_up ? "\tup" : target.last_scrape ? "\tdown" : "\tnew");
  return out;
}

std::string etag_of(const std::vector<alert>& alerts) {
  std::string out = "alerts";
  for (const auto& alert : alerts)
    out += '\n' + alert.state + '\t' + series::to_text(series::identity{alert.name, alert.labels});
  return out;
}

std::string etag_of(const std::vector<rule>& rules) {
  std::string out = "rules";
  for (const auto& rule : rules)
    out += '\n' + rule.group + '\t' + rule.name + '\t' + rule.expression + '\t' + rule.state + '\t' + rule.health;
  return out;
}

}  // namespace hondana::metrics
