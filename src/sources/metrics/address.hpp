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

enum class place : std::uint8_t { index, metric, query, targets, alerts, rules, summary };
enum class format : std::uint8_t { json, csv, openmetrics, svg, png, text };

/// One of the URIs of a source, read.
struct address {
  std::string source{};  ///< Its name.
  place of = place::index;
  std::string metric{};
  std::vector<series::matcher> matchers{};
  std::string promql{};
  std::optional<moment> start{}, end{};
  series::instant now = 0;    ///< What those are relative to.
  series::duration step = 0;  ///< 0: as it fits.
  series::aggregation how{};
  bool has_how = false;  ///< `agg` is there.
  std::optional<format> as{};
  condition when{};
  std::optional<unsigned> width{}, height{};

  [[nodiscard]] series::selector selector() const { return {metric, matchers}; }
  /// As if it had been asked for then.
  void move_to(series::instant later);
  /// Whether what it gives goes by when it is asked for.
  [[nodiscard]] bool is_relative() const noexcept { return !end || end->is_relative || (start && start->is_relative); }
};

/// Reads a canonical URI. `now`: what moments are relative to. Errors: resource_not_found for what no source has;
/// invalid_argument for parameters that there are not, naming those that there are, and for values, which begins with the
/// parameter's name then. Linear time.
[[nodiscard]] result<address> parse_address(std::string_view uri, series::instant now);

/// The canonical URI that says the same, with moments that stand still.
[[nodiscard]] std::string uri_of(const address& at);

/// What the URIs of a source begin with: metrics://NAME/
[[nodiscard]] std::string claim_of(std::string_view source);
/// metrics://NAME/WORD
[[nodiscard]] std::string uri_of(std::string_view source, place of);
/// metrics://NAME/METRIC, or metrics://NAME/metric/METRIC of one that is called like something else that is there.
[[nodiscard]] std::string metric_uri(std::string_view source, std::string_view metric);

/// "summary"; empty for the index and metrics.
[[nodiscard]] std::string_view word_of(place of) noexcept;
[[nodiscard]] std::string_view name_of(format of) noexcept;
[[nodiscard]] std::string_view mime_of(format of) noexcept;

/// What one answer may take.
struct limits {
  std::size_t series = 1000;
  std::size_t points = 50'000;  ///< Steps times series.
  std::chrono::milliseconds time{5000};
};

/// The last hour where nothing is said, or an hour before the end; a step that is not finer than `interval` and gives some
/// hundred points. Where a condition's `for` is shorter than that step, it is the step, and the stretch is shorter accordingly.
/// Errors: invalid_argument where the end is before the start; response_too_large where one series alone has too many points,
/// naming the step that fits.
[[nodiscard]] result<series::range> span_of(const address& at, series::instant now, series::duration interval,
                                            const limits& most);

/// The same steps, from so far back only as a condition needs to be judged at its end. Errors: as `span_of`, and
/// response_too_large where that is too many of them.
[[nodiscard]] result<series::range> watched_span_of(const address& at, series::instant now, series::duration interval,
                                                    const limits& most);

/// The shortest of the usual steps (1s, 5s, 15s, 1m, 5m, 1h, …) that is at least so long.
[[nodiscard]] series::duration usual_step(series::duration at_least) noexcept;

/// What relative moments are relative to: when something was kept last, so that a reading stays as it is until there is
/// something new; where that is not known or long ago, the present, cut to whole intervals.
[[nodiscard]] series::instant reference(series::instant now, std::optional<series::instant> latest,
                                        series::duration interval) noexcept;

}  // namespace hondana::metrics
