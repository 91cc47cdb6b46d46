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

/// Over a window that ends at each step. As the functions of PromQL of these names; `last` is the instant vector itself.
enum class over_time : std::uint8_t { last, rate, increase, irate, delta, avg, min, max, sum, count };
/// Across series, with the same labels grouped together.
enum class across : std::uint8_t { none, sum, avg, min, max, count, stddev, topk, bottomk };

/// `agg` as it is asked for:
///   `rate`, `rate[5m]`, `avg_over_time[1h]`           over time alone
///   `sum`, `sum by (mode)`, `topk(5)`                 across series, of what the kind of metric has by itself
///   `sum by (mode) (rate[5m])`                        both
///   `p50,p90,p99`, `quantile(0.95) by (handler)`      quantiles of a histogram, of the rates of its buckets
/// `raw` is `last`. A counter by itself is `rate`, a histogram `p50,p90,p99`, everything else `last`. Quantiles without `by`
/// and `without` are those of all series together.
struct aggregation {
  static constexpr unsigned most_k = 1000;
  static constexpr std::size_t most_labels = 16;
  static constexpr std::size_t most_quantiles = 8;

  std::optional<over_time> time{};  ///< Nothing: as the metric's kind has it.
  duration window = 0;              ///< 0: as `window_for` has it. `last` has none.
  series::across across = across::none;
  unsigned k = 0;                     ///< Of topk and bottomk: 1 to `most_k`.
  std::vector<std::string> labels{};  ///< Of `by` or `without`.
  bool is_without = false;
  std::vector<double> quantiles{};  ///< 0 to 1, in the order asked for. Not empty: of a histogram, and `across` is none.

  bool operator==(const aggregation&) const = default;
  /// How the metric is asked for when nothing is said: `time` is set, and for histograms, if nothing at all is said,
  /// `quantiles`. What is said stays.
  [[nodiscard]] aggregation for_kind(kind what) const;
  /// With its window set, if none is said: the step or four scrapes, whichever is longer.
  [[nodiscard]] aggregation for_step(duration step, duration scrape_interval) const;
  /// The text again, in its shortest spelling; empty where nothing is said.
  [[nodiscard]] std::string to_text() const;
};

/// Nothing at all, and "auto", say nothing. Errors: invalid_argument that says at which byte (from 1) what was expected.
[[nodiscard]] result<aggregation> parse_aggregation(std::string_view text);

/// `90s`, `5m`, `1h30m`, `7d`, `1w`, `500ms`, and bare seconds (`15`, `0.5`). Errors: invalid_argument. Zero and what is beyond
/// a century are.
[[nodiscard]] result<duration> parse_duration(std::string_view text);
/// The shortest of these spellings that PromQL takes, too: always with units. `of` is at least 1.
[[nodiscard]] std::string to_text(duration of);

/// The series that are read for this, of a family or the name of series: of a histogram's family `x_bucket` for quantiles and
/// `x_count` for everything else, of a summary's family `x` itself. Names that end so already stay.
[[nodiscard]] std::string series_read(std::string_view metric_name, kind what, const aggregation& how);

/// The PromQL that asks for the same. `of`: the series as `series_read` names them; `how`: after `for_kind` and `for_step`.
/// Without quantiles it is one expression. Otherwise it is one for each, in their order:
///   `histogram_quantile(0.9,sum by(le,handler)(rate(x_bucket{…}[5m])))`
/// and each series of its answer gets the label `quantile` with `number_text` of that quantile; all together are the result.
[[nodiscard]] std::vector<std::string> to_promql(const aggregation& how, const selector& of);

}  // namespace hondana::series
