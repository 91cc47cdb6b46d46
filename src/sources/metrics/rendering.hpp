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
struct range_report {
  const address& request;
  const series::range& range;
  const range_answer& answer;
  std::string_view zone{};  ///< The time zone of charts.
};

[[nodiscard]] std::string to_json(const range_report& report);
/// CSV with the header `time`, label names in order, `value`. Times are RFC 3339. Spec: RFC 4180.
[[nodiscard]] std::string to_csv(const range_report& report);
/// Scraped values keep the metric's name. Others become a gauge called `NAME:AGGREGATION`.
[[nodiscard]] std::string to_openmetrics(const range_report& report);
/// SVG or PNG. Errors: as `charts::draw`.
[[nodiscard]] result<std::string> to_image(const range_report& report, charts::image_format format);

/// The unit after aggregation: the rate of a metric in bytes has "bytes/s".
[[nodiscard]] std::string unit_of(const range_answer& answer, std::string_view metric);
/// The labels that distinguish the series, as `name="value"`. The metric's name if there is only one series.
[[nodiscard]] std::vector<std::string> make_legend(const std::vector<series::time_series>& series_list,
                                                   std::string_view metric);

/// The members that several JSON documents share.
void write_head(json::writer& writer, const range_report& report);
void write_labels(json::writer& writer, const series::identity& identity);
/// Seconds since 1970, with a fraction unless it is zero.
void write_instant(json::writer& writer, series::instant time);
void write_seconds(json::writer& writer, series::duration duration);
/// A number, or "NaN", "+Inf", "-Inf".
void write_value(json::writer& writer, double value);
/// `[[seconds, value], …]`
void write_points(json::writer& writer, const std::vector<series::sample>& samples);

[[nodiscard]] std::string to_json(std::string_view source, const std::vector<scraping::target_state>& targets);
[[nodiscard]] std::string to_json(std::string_view source, const std::vector<alert>& alerts);
[[nodiscard]] std::string to_json(std::string_view source, const std::vector<rule>& rules);
/// `help` is already masked.
[[nodiscard]] std::string to_json(std::string_view source, const std::vector<metric_info>& metrics, bool has_more,
                                  series::duration interval);

/// A text that changes when a target goes up or down, but not with each scrape.
[[nodiscard]] std::string etag_of(const std::vector<scraping::target_state>& targets);
/// A text that changes when the state of an alert or a rule changes.
[[nodiscard]] std::string etag_of(const std::vector<alert>& alerts);
[[nodiscard]] std::string etag_of(const std::vector<rule>& rules);

}  // namespace hondana::metrics
