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

std::vector<std::string> label_names_of(const std::vector<series::points>& all) {
  std::set<std::string, std::less<>> names;
  for (const auto& one : all)
    for (const auto& [name, value] : one.of.labels) names.insert(name);
  return {names.begin(), names.end()};
}

bool is_raw(const series::aggregation& how) {
  return how.time.value_or(series::over_time::last) == series::over_time::last && how.across == series::across::none &&
         how.quantiles.empty();
}

bool ends_with_unit(std::string_view name, std::string_view unit) {
  return name.size() > unit.size() && name.ends_with(unit) && name[name.size() - unit.size() - 1] == '_';
}

/// A line under the title that describes the request.
std::string subtitle_of(const told_range& of) {
  std::string out;
  const auto add = [&](const std::string& text) {
    if (!text.empty()) out += (out.empty() ? "" : " · ") + text;
  };
  std::string match;
  for (const auto& one : of.at.matchers) match += (match.empty() ? "" : ",") + one.to_text();
  add(match.empty() ? match : '{' + match + '}');
  if (of.at.of == place::metric) add(of.what.how.to_text());
  add("step " + series::to_text(of.span.step));
  if (of.at.when.is_any()) add(of.at.when.to_text());
  return out;
}

}  // namespace

void write_instant(json::writer& to, series::instant at) {
  if (at % second == 0) {
    to.integer(at / second);
  } else {
    to.number(static_cast<double>(at) / static_cast<double>(second));
  }
}

void write_seconds(json::writer& to, series::duration of) { write_instant(to, of); }

void write_value(json::writer& to, double value) {
  if (std::isfinite(value)) {
    to.number(value);
  } else {
    to.string(exposition::number_text(std::isnan(value) ? std::nan("") : value));
  }
}

void write_points(json::writer& to, const std::vector<series::sample>& samples) {
  to.begin_array();
  for (const auto& one : samples) {
    to.begin_array();
    write_instant(to, one.at);
    write_value(to, one.value);
    to.end_array();
  }
  to.end_array();
}

void write_labels(json::writer& to, const series::identity& of) {
  to.begin_object();
  for (const auto& [name, value] : of.labels) to.member(name, value);
  to.end_object();
}

void write_head(json::writer& to, const told_range& of) {
  to.member("source", of.at.source);
  if (of.at.of == place::query) {
    to.member("promql", of.at.promql);
  } else {
    to.member("metric", of.at.metric);
    to.member("kind", series::name_of(of.what.of.kind));
    to.member_if("help", of.what.of.help);
    to.member("selector", of.at.selector().to_text());
    to.member("agg", of.what.how.to_text());
  }
  to.member_if("unit", unit_of(of.what, of.at.metric));
  to.member("start", text_of(of.span.start));
  to.member("end", text_of(of.span.end));
  to.key("step");
  write_seconds(to, of.span.step);
}

std::string json_of(const told_range& of) {
  std::string out;
  json::writer to(out);
  to.begin_object();
  write_head(to, of);
  to.key("series").begin_array();
  for (const auto& one : of.what.series) {
    to.begin_object();
    // The result of a query may have several metrics.
    if (of.at.of == place::query) to.member_if("name", one.of.name);
    to.key("labels");
    write_labels(to, one.of);
    to.key("points");
    write_points(to, one.samples);
    to.end_object();
  }
  to.end_array();
  if (!of.what.warnings.empty()) {
    to.key("warnings").begin_array();
    for (const auto& one : of.what.warnings) to.string(one);
    to.end_array();
  }
  to.end_object();
  return out;
}

std::string csv_of(const told_range& of) {
  const auto names = label_names_of(of.what.series);
  const bool has_name = of.at.of == place::query;
  std::string out = "time";
  if (has_name) out += ",__name__";
  for (const auto& one : names) {
    out += ',';
    append_cell(out, one);
  }
  out += ",value\r\n";
  for (const auto& one : of.what.series) {
    std::string labels;
    if (has_name) {
      labels += ',';
      append_cell(labels, one.of.name);
    }
    for (const auto& name : names) {
      labels += ',';
      append_cell(labels, one.of.value_of(name));
    }
    for (const auto& each : one.samples) out += text_of(each.at) + labels + ',' + exposition::number_text(each.value) + "\r\n";
  }
  return out;
}

std::string openmetrics_of(const told_range& of) {
  using series::kind;
  exposition::writer to(exposition::parser::format::open_metrics);
  const bool has_own_name = of.at.of == place::metric && is_raw(of.what.how);
  // The format requires that samples of one family are adjacent. A query may return several names.
  std::map<std::string, std::vector<const series::points*>> families;
  const auto made_name = [&] {
    std::string name = of.at.of == place::query ? std::string("query") : of.at.metric + ':' + of.what.how.to_text();
    for (char& c : name)
      if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == ':')) c = '_';
    return name;
  };
  for (const auto& one : of.what.series) {
    const auto name = has_own_name ? (one.of.name.empty() ? of.at.metric : one.of.name)
                                   : (of.at.of == place::query && !one.of.name.empty() ? one.of.name : made_name());
    families[name].push_back(&one);
  }
  for (const auto& [name, all] : families) {
    series::metadata facts = of.what.of;
    auto family = name;
    // Not every exporter follows the format's rules for the names of counters and units.
    const bool is_counter = has_own_name && facts.kind == kind::counter && name.ends_with("_total");
    facts.kind = is_counter ? kind::counter : has_own_name && facts.kind != kind::gauge ? kind::unknown : kind::gauge;
    if (is_counter) family = std::string(series::family_of(name, kind::counter));
    if (!ends_with_unit(family, facts.unit)) facts.unit.clear();
    to.family(family, facts);
    for (const auto* one : all) {
      auto identity = one->of;
      identity.name = name;
      for (const auto& each : one->samples) to.sample(identity, each.value, each.at);
    }
  }
  return to.finish();
}

std::string unit_of(const range_answer& what, std::string_view metric) {
  if (what.how.across == series::across::count) return {};
  auto unit = what.of.unit.empty() ? std::string(series::unit_in(metric)) : what.of.unit;
  if (!what.how.quantiles.empty()) return unit;
  // These values count observations, so the unit does not apply.
  if (what.of.kind == series::kind::histogram || metric.ends_with("_bucket") || metric.ends_with("_count")) unit.clear();
  switch (what.how.time.value_or(series::over_time::last)) {
    case series::over_time::count:
      return {};
    case series::over_time::rate:
      return unit + "/s";
    default:
      return unit;
  }
}

std::vector<std::string> legend_of(const std::vector<series::points>& all, std::string_view metric) {
  std::vector<std::string> out;
  std::set<std::string> telling;
  for (const auto& name : label_names_of(all)) {
    const auto first = std::string(all.front().of.value_of(name));
    if (std::any_of(all.begin(), all.end(), [&](const auto& one) { return one.of.value_of(name) != first; }))
      telling.insert(name);
  }
  const bool has_names =
      std::any_of(all.begin(), all.end(), [&](const auto& one) { return one.of.name != all.front().of.name; });
  for (const auto& one : all) {
    std::string text = has_names ? one.of.name : std::string();
    for (const auto& [name, value] : one.of.labels) {
      if (!telling.contains(name)) continue;
      text += (text.empty() ? "" : " ") + (telling.size() == 1 ? value : name + '=' + value);
    }
    out.push_back(text.empty() ? std::string(metric) : std::move(text));
  }
  return out;
}

result<std::string> picture_of(const told_range& of, charts::picture as) {
  charts::chart what;
  what.title = of.at.of == place::query ? of.at.promql : of.at.metric;
  what.subtitle = subtitle_of(of);
  what.unit = unit_of(of.what, of.at.metric);
  what.start = of.span.start;
  what.end = of.span.end;
  what.step = of.span.step;
  what.zone = of.zone;
  const auto names = legend_of(of.what.series, what.title);
  for (std::size_t i = 0; i < names.size(); ++i) what.lines.push_back({names[i], of.what.series[i].samples});
  if (of.at.when.above) what.thresholds.push_back({*of.at.when.above, "above"});
  if (of.at.when.below) what.thresholds.push_back({*of.at.when.below, "below"});
  charts::size how;
  if (of.at.width) how.width = *of.at.width;
  if (of.at.height) how.height = *of.at.height;
  return charts::draw(what, as, how);
}

namespace {

template <class All, class Write>
std::string list_of(std::string_view source, std::string_view name, const All& all, Write write) {
  std::string out;
  json::writer to(out);
  to.begin_object();
  to.member("source", source);
  to.key(name).begin_array();
  for (const auto& one : all) {
    to.begin_object();
    write(to, one);
    to.end_object();
  }
  to.end_array();
  to.end_object();
  return out;
}

}  // namespace

std::string json_of(std::string_view source, const std::vector<scraping::target_state>& all) {
  return list_of(source, "targets", all, [](json::writer& to, const scraping::target_state& one) {
    to.member("job", one.job);
    to.member("instance", one.instance);
    to.member_if("url", one.url);
    to.key("up").boolean(one.is_up);
    to.member_if("lastError", one.last_error);
    if (one.last_scrape) to.member("lastScrape", text_of(*one.last_scrape));
    constexpr double microseconds = 1e6;
    to.key("scrapeSeconds").number(static_cast<double>(one.took.count()) / microseconds);
    to.key("samples").unsigned_integer(one.samples);
    to.key("interval");
    write_seconds(to, one.every.count());
  });
}

std::string json_of(std::string_view source, const std::vector<alert>& all) {
  return list_of(source, "alerts", all, [](json::writer& to, const alert& one) {
    to.member("name", one.name);
    to.member("state", one.state);
    to.member_if("severity", one.severity);
    to.member_if("value", one.value);
    to.member_if("expression", one.expression);
    to.key("labels");
    write_labels(to, {"", one.labels});
    to.key("annotations").begin_object();
    for (const auto& [name, text] : one.annotations) to.member(name, text);
    to.end_object();
    if (one.since) to.member("since", text_of(*one.since));
  });
}

std::string json_of(std::string_view source, const std::vector<rule>& all) {
  return list_of(source, "rules", all, [](json::writer& to, const rule& one) {
    to.member_if("group", one.group);
    to.member("name", one.name);
    to.member("kind", one.kind);
    to.member("expression", one.expression);
    to.member_if("state", one.state);
    to.member_if("health", one.health);
    to.member_if("lastError", one.last_error);
    if (one.evaluation_seconds) to.key("evaluationSeconds").number(*one.evaluation_seconds);
    if (one.kind == "alerting") {
      to.key("for");
      write_seconds(to, one.wait);
    }
  });
}

std::string json_of(std::string_view source, const std::vector<metric>& all, bool are_more, series::duration interval) {
  std::string out;
  json::writer to(out);
  to.begin_object();
  to.member("source", source);
  to.key("interval");
  write_seconds(to, interval);
  to.key("metrics").begin_array();
  for (const auto& one : all) {
    to.begin_object();
    to.member("name", one.name);
    to.member("kind", series::name_of(one.of.kind));
    to.member_if("unit", one.of.unit);
    to.member_if("help", one.of.help);
    to.member("uri", metric_uri(source, one.name));
    to.end_object();
  }
  to.end_array();
  if (are_more) to.key("more").boolean(true);
  to.end_object();
  return out;
}

std::string mark_of(const std::vector<scraping::target_state>& all) {
  std::string out = "targets";
  for (const auto& one : all)
    out += '\n' + one.job + '\t' + one.instance + (one.is_up ? "\tup" : one.last_scrape ? "\tdown" : "\tnew");
  return out;
}

std::string mark_of(const std::vector<alert>& all) {
  std::string out = "alerts";
  for (const auto& one : all) out += '\n' + one.state + '\t' + series::to_text(series::identity{one.name, one.labels});
  return out;
}

std::string mark_of(const std::vector<rule>& all) {
  std::string out = "rules";
  for (const auto& one : all)
    out += '\n' + one.group + '\t' + one.name + '\t' + one.expression + '\t' + one.state + '\t' + one.health;
  return out;
}

}  // namespace hondana::metrics
