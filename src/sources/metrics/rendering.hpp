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

/// A request and its masked answer. The referenced objects must outlive the rendering.
struct range_report {
  const address& request;
  const series::range& range;
  const range_answer& answer;
  std::string_view zone{};  ///< See `charts::chart::zone`.
};

/// Renders values as a JSON object.
[[nodiscard]] std::string to_json(const range_report& report);
/// Renders values as CSV. The columns are `time` (RFC 3339), for queries `__name__`, the labels in order, and `value`.
/// Spec: RFC 4180.
[[nodiscard]] std::string to_csv(const range_report& report);
/// Renders values as OpenMetrics. Values without aggregation keep the metric's name. Others become a gauge called
/// `NAME:AGGREGATION`, with underscores for invalid characters. Series of a query without a name become the gauge `query`.
[[nodiscard]] std::string to_openmetrics(const range_report& report);
/// Draws values as SVG or PNG. Errors: as `charts::draw`.
[[nodiscard]] result<std::string> to_image(const range_report& report, charts::image_format format);

/// Returns the unit after aggregation: the rate of a metric in bytes has "bytes/s". Empty: none.
[[nodiscard]] std::string unit_of(const range_answer& answer, std::string_view metric);
/// Returns a name for each series: the values of the labels in which the series differ. If there are several such labels, as
/// `name=value`. If the series differ in nothing, returns `metric`.
[[nodiscard]] std::vector<std::string> make_legend(const std::vector<series::time_series>& series_list,
                                                   std::string_view metric);

/// Writes the members that several JSON documents share: the request, the unit and the range.
void write_head(json::writer& writer, const range_report& report);
/// Writes the labels as an object.
void write_labels(json::writer& writer, const series::identity& identity);
/// Writes seconds since 1970, with a fraction unless it is zero.
void write_instant(json::writer& writer, series::instant time);
/// Writes a duration in seconds, with a fraction unless it is zero.
void write_seconds(json::writer& writer, series::duration duration);
/// Writes a number, or the text "NaN", "+Inf" or "-Inf".
void write_value(json::writer& writer, double value);
/// Writes `[[seconds, value], …]`.
void write_points(json::writer& writer, const std::vector<series::sample>& samples);

// These functions render a list as a JSON object. `source`: the name of the source. The list must be masked.
[[nodiscard]] std::string to_json(std::string_view source, const std::vector<scraping::target_state>& targets);
[[nodiscard]] std::string to_json(std::string_view source, const std::vector<alert>& alerts);
[[nodiscard]] std::string to_json(std::string_view source, const std::vector<rule>& rules);
/// `has_more`: the source has more metrics than the list. `interval`: see `backend::interval`.
[[nodiscard]] std::string to_json(std::string_view source, const std::vector<metric_info>& metrics, bool has_more,
                                  series::duration interval);

/// Returns a text that changes when a target goes up or down, but not with each scrape.
[[nodiscard]] std::string etag_of(const std::vector<scraping::target_state>& targets);
/// Returns a text that changes when an alert appears, disappears or changes its state.
[[nodiscard]] std::string etag_of(const std::vector<alert>& alerts);
/// Returns a text that changes when a rule, its state or its health changes.
[[nodiscard]] std::string etag_of(const std::vector<rule>& rules);

}  // namespace hondana::metrics
