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

/// A request and its answer, already masked.
struct told_range {
  const address& at;
  const series::range& span;
  const range_answer& what;
  std::string_view zone{};  ///< The time zone of charts.
};

[[nodiscard]] std::string json_of(const told_range& of);
/// CSV with the header `time`, label names in order, `value`. Times are RFC 3339. Spec: RFC 4180.
[[nodiscard]] std::string csv_of(const told_range& of);
/// Scraped values keep the metric's name. Others become a gauge called `NAME:AGGREGATION`.
[[nodiscard]] std::string openmetrics_of(const told_range& of);
/// SVG or PNG. Errors: as `charts::draw`.
[[nodiscard]] result<std::string> picture_of(const told_range& of, charts::picture as);

/// The unit after aggregation: the rate of a metric in bytes has "bytes/s".
[[nodiscard]] std::string unit_of(const range_answer& what, std::string_view metric);
/// The labels that distinguish the series, as `name="value"`. The metric's name if there is only one series.
[[nodiscard]] std::vector<std::string> legend_of(const std::vector<series::points>& all, std::string_view metric);

/// The members that several JSON documents share.
void write_head(json::writer& to, const told_range& of);
void write_labels(json::writer& to, const series::identity& of);
/// Seconds since 1970, with a fraction unless it is zero.
void write_instant(json::writer& to, series::instant at);
void write_seconds(json::writer& to, series::duration of);
/// A number, or "NaN", "+Inf", "-Inf".
void write_value(json::writer& to, double value);
/// `[[seconds, value], …]`
void write_points(json::writer& to, const std::vector<series::sample>& samples);

[[nodiscard]] std::string json_of(std::string_view source, const std::vector<scraping::target_state>& all);
[[nodiscard]] std::string json_of(std::string_view source, const std::vector<alert>& all);
[[nodiscard]] std::string json_of(std::string_view source, const std::vector<rule>& all);
/// `help` is already masked.
[[nodiscard]] std::string json_of(std::string_view source, const std::vector<metric>& all, bool are_more,
                                  series::duration interval);

/// A text that changes when a target goes up or down, but not with each scrape.
[[nodiscard]] std::string mark_of(const std::vector<scraping::target_state>& all);
/// A text that changes when the state of an alert or a rule changes.
[[nodiscard]] std::string mark_of(const std::vector<alert>& all);
[[nodiscard]] std::string mark_of(const std::vector<rule>& all);

}  // namespace hondana::metrics
