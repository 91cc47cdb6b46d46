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

/// The resource that a URI names. `index` is the list of metrics.
enum class place : std::uint8_t { index, metric, query, targets, alerts, rules, summary };
enum class format : std::uint8_t { json, csv, openmetrics, svg, png, text };

/// A parsed URI of a metrics source.
struct address {
  std::string source{};  ///< Name of the source.
  place of = place::index;
  std::string metric{};
  std::vector<series::matcher> matchers{};
  std::string promql{};
  std::optional<moment> start{}, end{};
  series::instant now = 0;    ///< The time that `start` and `end` are relative to.
  series::duration step = 0;  ///< 0: chosen by `span_of`.
  series::aggregation how{};
  bool has_how = false;  ///< The URI has `agg`.
  std::optional<format> as{};
  condition when{};
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

/// The canonical URI of `at`, with absolute times.
[[nodiscard]] std::string uri_of(const address& at);

/// The prefix of all URIs of a source: metrics://NAME/
[[nodiscard]] std::string claim_of(std::string_view source);
/// metrics://NAME/WORD
[[nodiscard]] std::string uri_of(std::string_view source, place of);
/// metrics://NAME/METRIC. A metric with the name of another resource, such as `summary`, gets metrics://NAME/metric/METRIC.
[[nodiscard]] std::string metric_uri(std::string_view source, std::string_view metric);

/// The last path segment, such as "summary". Empty for the index and for metrics.
[[nodiscard]] std::string_view word_of(place of) noexcept;
[[nodiscard]] std::string_view name_of(format of) noexcept;
[[nodiscard]] std::string_view mime_of(format of) noexcept;

/// Limits of one answer.
struct limits {
  std::size_t series = 1000;
  std::size_t points = 50'000;  ///< Steps times series.
  std::chrono::milliseconds time{5000};
};

/// The time range and step that an address selects.
/// Defaults: `end` is `now`. `start` is the longer of one hour and twice the condition's `for` before `end`. The step is at
/// least `interval` and gives at most 300 points.
/// If `for` is shorter than the default step and `start` is not given, the step is the longer of `for` and `interval`. The
/// range then has 300 of these steps.
/// Errors: invalid_argument if the end is before the start. response_too_large if one series would have too many points; the
/// text names a step that fits.
[[nodiscard]] result<series::range> span_of(const address& at, series::instant now, series::duration interval,
                                            const limits& most);

/// Like `span_of`, but starts only as early as needed to check the condition at the end of the range.
/// Errors: as `span_of`, and response_too_large if `for` needs too many steps.
[[nodiscard]] result<series::range> watched_span_of(const address& at, series::instant now, series::duration interval,
                                                    const limits& most);

/// The shortest of the default steps (1s, 5s, 15s, 1m, 5m, 1h, …) that is at least `at_least`.
[[nodiscard]] series::duration usual_step(series::duration at_least) noexcept;

/// The time that relative times refer to: that of the newest sample, so that results stay the same until a new sample arrives.
/// If the newest sample is unknown or older than two intervals, it is `now`, rounded down to a multiple of `interval`.
[[nodiscard]] series::instant reference(series::instant now, std::optional<series::instant> latest,
                                        series::duration interval) noexcept;

}  // namespace hondana::metrics
