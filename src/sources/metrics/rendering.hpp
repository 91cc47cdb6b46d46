/// Renders values, targets, alerts, rules and metric lists as JSON, CSV, OpenMetrics or charts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

#include "base/json/writer.hpp"
#include "sources/metrics/address.hpp"
#include "sources/metrics/backend.hpp"
#include "sources/metrics/charts/chart.hpp"
#include "sources/metrics/metric_names.hpp"
#include "sources/metrics/series/evaluation.hpp"

namespace hondana::metrics {

/// What was asked for, and what there is. It is masked already.
struct told_range {
  const address& at;
  const series::range& span;
  const range_answer& what;
  std::string_view zone{};  ///< Of charts.
};

[[nodiscard]] std::string json_of(const told_range& of);
/// Header `time`, label names in order, `value`; RFC 4180, times as RFC 3339.
[[nodiscard]] std::string csv_of(const told_range& of);
/// Under the metric's own name where the values are what was scraped; `NAME:AGGREGATION` of a gauge otherwise.
[[nodiscard]] std::string openmetrics_of(const told_range& of);
/// SVG or PNG. Errors: as `charts::draw`.
[[nodiscard]] result<std::string> picture_of(const told_range& of, charts::picture as);

/// Of what was made of it: of a rate of bytes "bytes/s".
[[nodiscard]] std::string unit_of(const range_answer& what, std::string_view metric);
/// Labels that tell the series apart, `name="value"`, or the metric's name where there is but one.
[[nodiscard]] std::vector<std::string> legend_of(const std::vector<series::points>& all, std::string_view metric);

/// Members and values that several documents have.
void write_head(json::writer& to, const told_range& of);
void write_labels(json::writer& to, const series::identity& of);
/// Seconds since 1970, with a fraction where there is one.
void write_instant(json::writer& to, series::instant at);
void write_seconds(json::writer& to, series::duration of);
/// A number, or "NaN", "+Inf", "-Inf".
void write_value(json::writer& to, double value);
/// `[[seconds, value], …]`
void write_points(json::writer& to, const std::vector<series::sample>& samples);

[[nodiscard]] std::string json_of(std::string_view source, const std::vector<scraping::target_state>& all);
[[nodiscard]] std::string json_of(std::string_view source, const std::vector<alert>& all);
[[nodiscard]] std::string json_of(std::string_view source, const std::vector<rule>& all);
/// `help` is masked already.
[[nodiscard]] std::string json_of(std::string_view source, const std::vector<metric>& all, bool are_more,
                                  series::duration interval);

/// What changes when a target goes up or down, and not with each scrape.
[[nodiscard]] std::string mark_of(const std::vector<scraping::target_state>& all);
[[nodiscard]] std::string mark_of(const std::vector<alert>& all);
[[nodiscard]] std::string mark_of(const std::vector<rule>& all);

}  // namespace hondana::metrics
