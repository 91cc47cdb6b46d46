/// The Prometheus data model: metric names, labels, samples, kinds and metadata.
#pragma once

#include <bit>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/error.hpp>

#include "base/counters/prometheus_text.hpp"
#include "base/json/utf8.hpp"

namespace hondana::series {

/// A name and a value, both UTF-8. A label with an empty value is equivalent to no label, so none is stored.
using label = std::pair<std::string, std::string>;

/// The identity of a series. Spec: Prometheus data model.
struct identity {
  std::string name{};  ///< `[a-zA-Z_:][a-zA-Z0-9_:]*`. Empty for derived series without a name, such as the result of `rate`.
  std::vector<label> labels{};  ///< Sorted by name, each name once, without `__name__`.

  auto operator<=>(const identity&) const = default;
  bool operator==(const identity&) const = default;
  /// Returns the value of a label; empty if the series does not have it. Returns `name` for `__name__`.
  [[nodiscard]] std::string_view value_of(std::string_view label_name) const noexcept;
};

/// Sorts the labels and removes empty ones. Returns false for an invalid name (an empty one is valid), an invalid or duplicate
/// label name, the label `__name__`, and values that are not UTF-8. The identity must then not be used.
[[nodiscard]] bool normalize(identity& identity);
[[nodiscard]] bool is_metric_name(std::string_view text) noexcept;  ///< `[a-zA-Z_:][a-zA-Z0-9_:]*`
[[nodiscard]] bool is_label_name(std::string_view text) noexcept;   ///< `[a-zA-Z_][a-zA-Z0-9_]*`

using json::is_utf8;

/// Formats an identity as in PromQL and the text format: `name{label="value",…}`. Escapes `\`, `"` and line feeds in values.
[[nodiscard]] std::string to_text(const identity& identity);
/// Appends the result of `to_text`.
void append_text(std::string& out, const identity& identity);

/// Milliseconds since 1970-01-01T00:00:00Z, negative for earlier times.
using instant = std::int64_t;
/// Milliseconds.
using duration = std::int64_t;

/// Value of `failure::subject` for a response_too_large whose text explains how to select less.
inline constexpr std::string_view selection_advice = "select less";
/// Makes a response_too_large with this subject.
[[nodiscard]] inline tl::unexpected<failure> too_large_with_advice(std::string text) {
  failure out{errc::response_too_large, std::move(text), {}};
  out.subject = selection_advice;
  return tl::unexpected(std::move(out));
}

/// A value of a series at a time.
struct sample {
  instant time = 0;
  double value = 0;
};

/// A special NaN which says that a series has ended or was missing from a scrape. It is never shown. Spec: Prometheus,
/// staleness.
inline constexpr std::uint64_t stale_bits = 0x7ff0000000000002;
[[nodiscard]] inline double stale_marker() noexcept { return std::bit_cast<double>(stale_bits); }
[[nodiscard]] inline bool is_stale(double value) noexcept { return std::bit_cast<std::uint64_t>(value) == stale_bits; }

/// For how long after its last sample a series still has this value, unless a stale marker follows. The same as in Prometheus.
inline constexpr duration default_lookback = 300'000;

/// The kind of a metric, as in OpenMetrics. A gauge histogram is a `gauge`.
enum class kind : std::uint8_t { unknown, counter, gauge, histogram, summary, info, stateset };
/// Returns the kind's name in `# TYPE`, such as "counter".
[[nodiscard]] std::string_view name_of(kind metric_kind) noexcept;
/// Parses a name in `# TYPE`. Returns `unknown` for all other texts, including "untyped".
[[nodiscard]] kind parse_kind(std::string_view text) noexcept;

/// The metadata of a family, such as `http_request_seconds`, which has `_bucket`, `_sum` and `_count`.
struct metadata {
  series::kind kind = kind::unknown;
  std::string unit{};  ///< "seconds", "bytes". Empty if unknown.
  std::string help{};

  bool operator==(const metadata&) const = default;
};

/// Returns the unit at the end of a name, before `_total` or `_sum` ("seconds", "bytes", "ratio", …). Empty if there is none,
/// as for counts (`_count`, `_bucket`).
[[nodiscard]] std::string_view unit_from_name(std::string_view metric_name) noexcept;
/// Returns the family of a series: its name without `_bucket`, `_sum`, `_count`, `_total`, `_created` or `_info`, depending on
/// the kind of the family.
[[nodiscard]] std::string_view family_of(std::string_view metric_name, kind metric_kind) noexcept;

/// Returns the kind of one series of a family. `x_bucket`, `x_sum` and `x_count` of a histogram or summary are counters. If the
/// kind of the family is unknown, `x_total` and `x_bucket` are counters. Other series have the kind of the family.
[[nodiscard]] kind kind_of_series(std::string_view metric_name, kind family_kind) noexcept;

using counters::format_number;
/// Parses a number in the syntax of the Prometheus formats: decimal with an optional exponent. Also `NaN`, `Inf` and
/// `Infinity`, in any case and with an optional sign.
/// Returns nullopt for hexadecimal numbers, numbers that are too large, and other texts. A number that is too close to zero
/// becomes zero.
[[nodiscard]] std::optional<double> parse_number(std::string_view text) noexcept;

/// A series with samples in order of time, at most one for each time.
struct time_series {
  identity id{};
  std::vector<sample> samples{};
};

/// Sorts samples by time. Of several samples with the same time, the first one stays. Fast if they are already in order.
void sort_samples(std::vector<sample>& samples);

}  // namespace hondana::series
