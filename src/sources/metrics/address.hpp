/// The URIs of a metrics source: parsing them, and the time range and step that they select.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

#include "sources/metrics/condition.hpp"
#include "sources/metrics/moment.hpp"
#include "sources/metrics/series/aggregation.hpp"
#include "sources/metrics/series/evaluation.hpp"
#include "sources/metrics/series/selector.hpp"

namespace hondana::metrics {

/// The kind of resource that a URI names. `index` is the list of metrics.
enum class resource_kind : std::uint8_t { index, metric, query, targets, alerts, rules, summary };
enum class output_format : std::uint8_t { json, csv, openmetrics, svg, png, text };

/// A parsed URI of a metrics source.
struct address {
  std::string source{};  ///< Name of the source.
  resource_kind kind = resource_kind::index;
  std::string metric{};
  std::vector<series::matcher> matchers{};
  std::string promql{};
  std::optional<moment> start{}, end{};
  series::instant now = 0;    ///< The time that `start` and `end` are relative to.
  series::duration step = 0;  ///< 0: chosen by `resolve_range`.
  series::aggregation aggregation{};
  bool has_aggregation = false;  ///< The URI has `agg`.
  std::optional<output_format> format{};
  series_condition condition{};
  std::optional<unsigned> width{}, height{};

  [[nodiscard]] series::selector selector() const { return {metric, matchers}; }
  /// Shifts relative times as if the request had been made at `later`.
  void move_to(series::instant later);
  /// Whether the result depends on the time of the request.
  [[nodiscard]] bool is_relative() const noexcept { return !end || end->is_relative || (start && start->is_relative); }
};

/// Parses a canonical URI. `now` is the time that relative times refer to. Takes linear time.
/// Errors: resource_not_found for URIs that name no resource. invalid_argument for unknown parameters (the text lists the known
/// ones) and for wrong values (the text begins with the parameter's name).
[[nodiscard]] result<address> parse_address(std::string_view uri, series::instant now);

/// The canonical URI of `address`, with absolute times.
[[nodiscard]] std::string uri_of(const address& address);

/// The prefix of all URIs of a source: metrics://NAME/
[[nodiscard]] std::string uri_prefix(std::string_view source);
/// metrics://NAME/SEGMENT, with the result of `path_segment`.
[[nodiscard]] std::string uri_of(std::string_view source, resource_kind kind);
/// metrics://NAME/METRIC. A metric with the name of another resource, such as `summary`, gets metrics://NAME/metric/METRIC.
[[nodiscard]] std::string metric_uri(std::string_view source, std::string_view metric);

/// The last path segment, such as "summary". Empty for the index and for metrics.
[[nodiscard]] std::string_view path_segment(resource_kind kind) noexcept;
[[nodiscard]] std::string_view name_of(output_format format) noexcept;
[[nodiscard]] std::string_view mime_type_of(output_format format) noexcept;

/// Limits of one response.
struct response_limits {
  std::size_t max_series = 1000;
  std::size_t max_points = 50'000;  ///< Steps times series.
  std::chrono::milliseconds timeout{5000};
};

/// The time range and step that an address selects.
/// Defaults: `end` is `now`. `start` is the longer of one hour and twice the condition's `for` before `end`. The step is at
/// least `interval` and gives at most 300 points.
/// If `for` is shorter than the default step and `start` is not given, the step is the longer of `for` and `interval`. The
/// range then has 300 of these steps.
/// Errors: invalid_argument if the end is before the start. response_too_large if one series would have too many points; the
/// text names a step that fits.
[[nodiscard]] result<series::range> resolve_range(const address& address, series::instant now, series::duration interval,
                                                  const response_limits& limits);

/// Like `resolve_range`, but starts only as early as needed to check the condition at the end of the range.
/// Errors: as `resolve_range`, and response_too_large if `for` needs too many steps.
[[nodiscard]] result<series::range> resolve_watched_range(const address& address, series::instant now,
                                                          series::duration interval, const response_limits& limits);

/// The shortest of the default steps (1s, 5s, 15s, 1m, 5m, 1h, …) that is at least `min_step`.
[[nodiscard]] series::duration default_step(series::duration min_step) noexcept;

/// The time that relative times refer to: that of the newest sample, so that results stay the same until a new sample arrives.
/// If the newest sample is unknown or older than two intervals, it is `now`, rounded down to a multiple of `interval`.
[[nodiscard]] series::instant reference_time(series::instant now, std::optional<series::instant> latest,
                                             series::duration interval) noexcept;

}  // namespace hondana::metrics
