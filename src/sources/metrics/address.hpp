/// The URIs of a metrics source: parsing them, and the time range and step that they select.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

#include "base/uri/query_parameters.hpp"
#include "sources/metrics/condition.hpp"
#include "sources/metrics/moment.hpp"
#include "sources/metrics/series/aggregation.hpp"
#include "sources/metrics/series/evaluation.hpp"
#include "sources/metrics/series/selector.hpp"

namespace hondana::metrics {

/// The kind of resource that a URI names. `index` is the list of metrics.
enum class resource_kind : std::uint8_t { index, metric, query, targets, alerts, rules, summary };
/// The parameter `format`. `text` is for summaries only.
enum class output_format : std::uint8_t { json, csv, openmetrics, svg, png, text };

/// A parsed URI of a metrics source.
struct address {
  std::string source{};  ///< Name of the source.
  resource_kind kind = resource_kind::index;
  std::string metric{};                     ///< For `metric`: a family or a series.
  std::vector<series::matcher> matchers{};  ///< The parameter `match`.
  std::string promql{};                     ///< For `query`.
  std::optional<moment> start{}, end{};
  series::instant now = 0;    ///< The time that relative times of `start` and `end` refer to.
  series::duration step = 0;  ///< 0: chosen by `resolve_range`.
  series::aggregation aggregation{};
  bool has_aggregation = false;               ///< The URI has `agg`.
  std::optional<output_format> format{};      ///< nullopt: json.
  series_condition condition{};               ///< The parameters `above`, `below`, `absent` and `for`.
  std::optional<unsigned> width{}, height{};  ///< Of images, in CSS pixels. nullopt: the default.

  /// Returns the selector of `metric` and `matchers`.
  [[nodiscard]] series::selector selector() const { return {metric, matchers}; }
  /// Shifts relative times as if the request had been made at `later`.
  void move_to(series::instant later);
  /// Whether the result depends on the time of the request.
  [[nodiscard]] bool is_relative() const noexcept { return !end || end->is_relative || (start && start->is_relative); }
};

/// The parameters of a kind of resource.
[[nodiscard]] std::span<const uri::query_parameter> parameters_of(resource_kind kind) noexcept;

/// Parses a canonical URI in linear time. `now`: the time that relative times refer to.
/// Errors: resource_not_found for URIs that do not have one of the forms of `describe_scheme`. Those of `uri::parse_query`,
/// also for values that only this source can check. invalid_argument for parameters that exclude each other.
[[nodiscard]] result<address> parse_address(std::string_view uri, series::instant now);

/// Returns the canonical URI of `address`, with absolute times.
[[nodiscard]] std::string uri_of(const address& address);

/// Returns the prefix of all URIs of a source: metrics://NAME/
[[nodiscard]] std::string uri_prefix(std::string_view source);
/// Returns metrics://NAME/SEGMENT, with the result of `path_segment`. Not for `metric`.
[[nodiscard]] std::string uri_of(std::string_view source, resource_kind kind);
/// Returns metrics://NAME/METRIC. A metric with the name of another resource, such as `summary`, has
/// metrics://NAME/metric/METRIC.
[[nodiscard]] std::string metric_uri(std::string_view source, std::string_view metric);

/// Returns the path of a resource, such as "summary". Empty for the index and for metrics.
[[nodiscard]] std::string_view path_segment(resource_kind kind) noexcept;
/// Returns the enumerator's name.
[[nodiscard]] std::string_view name_of(output_format format) noexcept;
[[nodiscard]] std::string_view mime_type_of(output_format format) noexcept;

/// Limits of one response.
struct response_limits {
  std::size_t max_series = 1000;
  std::size_t max_points = 50'000;  ///< Steps times series.
  std::chrono::milliseconds timeout{5000};
};

/// Returns the time range and step that an address selects. `now`: a result of `reference_time`. `interval`: the source's
/// scrape interval. Defaults: `end` is `now`. `start` is one hour, or twice the condition's `for` if that is longer, before
/// `end`. The step is at least `interval` and gives about 300 points at most. If `for` is shorter than the default step and
/// `start` is not given, the step is the longer of `for` and `interval`. The range then has 300 of these steps. Errors:
/// invalid_argument if the end is before the start. response_too_large if one series would have too many points; the text names
/// a step that fits.
[[nodiscard]] result<series::range> resolve_range(const address& address, series::instant now, series::duration interval,
                                                  const response_limits& limits);

/// Like `resolve_range`, but the range starts just early enough to check the condition at its end. It may start before `start`
/// if that is a relative time.
/// Errors: as `resolve_range`, and response_too_large if `for` needs too many steps.
[[nodiscard]] result<series::range> resolve_watched_range(const address& address, series::instant now,
                                                          series::duration interval, const response_limits& limits);

/// Returns the shortest of the default steps (1s, 5s, 10s, 15s, 30s, 1m, 2m, 5m, …) that is at least `min_step`.
[[nodiscard]] series::duration default_step(series::duration min_step) noexcept;

/// Returns the time that relative times refer to. It is `latest`, the time of the newest sample: so results stay the same until
/// a new sample arrives. If that is unknown or older than two intervals, it is `now`, rounded down to a multiple of `interval`.
[[nodiscard]] series::instant reference_time(series::instant now, std::optional<series::instant> latest,
                                             series::duration interval) noexcept;

}  // namespace hondana::metrics
