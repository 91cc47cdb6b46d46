/// Aggregations over time and across series: parsing, defaults by kind, durations, and translation to PromQL.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

#include "sources/metrics/series/data_model.hpp"
#include "sources/metrics/series/selector.hpp"

namespace hondana::series {

/// Aggregations over a window that ends at each step, as the PromQL functions `rate`, `avg_over_time` and so on. `last`: the
/// latest value, without a window.
enum class over_time : std::uint8_t { last, rate, increase, irate, delta, avg, min, max, sum, count };
/// Aggregations across the series of each group, as the PromQL operators of these names.
enum class across : std::uint8_t { none, sum, avg, min, max, count, stddev, topk, bottomk };

/// The parameter `agg`.
///
///   `rate`, `rate[5m]`, `avg_over_time[1h]`           over time only.
///   `sum`, `sum by (mode)`, `topk(5)`                 across series, after the default aggregation over time.
///   `sum by (mode) (rate[5m])`                        both.
///   `p50,p90,p99`, `quantile(0.95) by (handler)`      quantiles of a histogram, from the rates of its buckets.
///
/// `raw` means `last`. The default is `rate` for counters, `p50,p90,p99` for histograms, and `last` for all others. Quantiles
/// without `by` or `without` are those of all series together.
struct aggregation {
  static constexpr unsigned max_k = 1000;
  static constexpr std::size_t max_labels = 16;
  static constexpr std::size_t max_quantiles = 8;

  std::optional<over_time> time{};  ///< nullopt: `for_kind` chooses it.
  duration window = 0;              ///< In milliseconds. 0: `for_step` chooses it. `last` has none.
  series::across across = across::none;
  unsigned k = 0;                     ///< For topk and bottomk: 1 to `max_k`.
  std::vector<std::string> labels{};  ///< Of `by` or `without`.
  bool is_without = false;            ///< `labels` are those of `without`.
  /// From 0 to 1, in the requested order. Only for histograms, and with `across` none.
  std::vector<double> quantiles{};

  bool operator==(const aggregation&) const = default;
  /// Returns a copy with the defaults of a kind: `time`, and `quantiles` for histograms if nothing was requested.
  [[nodiscard]] aggregation for_kind(kind metric_kind) const;
  /// Returns a copy with a window. If it was 0, it becomes the longer of the step and four scrape intervals.
  [[nodiscard]] aggregation for_step(duration step, duration scrape_interval) const;
  /// Returns the shortest spelling for `agg`. Empty if nothing was requested.
  [[nodiscard]] std::string to_text() const;
};

/// Parses `agg`. An empty text and "auto" request nothing. Errors: invalid_argument, with the byte position (from 1) and what
/// was expected.
[[nodiscard]] result<aggregation> parse_aggregation(std::string_view text);

/// Parses `90s`, `5m`, `1h30m`, `7d`, `1w`, `500ms`, and bare seconds (`15`, `0.5`). Errors: invalid_argument, also for zero
/// and for more than a century.
[[nodiscard]] result<duration> parse_duration(std::string_view text);
/// Returns the shortest spelling that PromQL also accepts: always with units. `length` must be at least 1.
[[nodiscard]] std::string to_text(duration length);

/// Returns the name of the series to read for a metric. For the family `x` of a histogram: `x_bucket` for quantiles, else
/// `x_count`. Other names stay, also `x_bucket`, `x_sum` and `x_count`.
[[nodiscard]] std::string series_name_for(std::string_view metric_name, kind metric_kind, const aggregation& aggregation);

/// Translates an aggregation to PromQL. `selector`: the series as named by `series_name_for`. `aggregation`: must be the result
/// of `for_kind` and `for_step`. Without quantiles, returns one expression. With quantiles, returns one for each, in order:
///   `histogram_quantile(0.9,sum by(le,handler)(rate(x_bucket{…}[5m])))`
/// The caller must add the label `quantile`, with `format_number` of the quantile, to each resulting series.
[[nodiscard]] std::vector<std::string> to_promql(const aggregation& aggregation, const selector& selector);

}  // namespace hondana::series
