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

/// A name and a value, both UTF-8. No label has an empty value: it is as if it were not there.
using label = std::pair<std::string, std::string>;

/// Spec: Prometheus data model. Labels are sorted by name, each name once; the metric's name is not among them.
struct identity {
  std::string name{};  ///< `[a-zA-Z_:][a-zA-Z0-9_:]*`; empty: what is derived has lost it, as in `rate`.
  std::vector<label> labels{};

  auto operator<=>(const identity&) const = default;
  bool operator==(const identity&) const = default;
  /// The value of that label; empty: it has none. `__name__` is the name.
  [[nodiscard]] std::string_view value_of(std::string_view label_name) const noexcept;
};

/// Sorts the labels, and drops those without a value. False for a name or a label name that cannot be (an empty name can), for
/// a label `__name__`, for a label that is there twice, and for a value that is no UTF-8.
[[nodiscard]] bool normalise(identity& of);
[[nodiscard]] bool is_metric_name(std::string_view text) noexcept;  ///< `[a-zA-Z_:][a-zA-Z0-9_:]*`
[[nodiscard]] bool is_label_name(std::string_view text) noexcept;   ///< `[a-zA-Z_][a-zA-Z0-9_]*`

using json::is_utf8;

/// `name{label="value",…}` as PromQL and the exposition format write it: `\`, `"` and line feeds of values are escaped.
[[nodiscard]] std::string to_text(const identity& of);
void append_text(std::string& out, const identity& of);

/// Milliseconds since 1970-01-01T00:00:00Z, negative before it.
using instant = std::int64_t;
/// Milliseconds.
using duration = std::int64_t;

/// `failure::about` of a response_too_large whose text says how to select less.
inline constexpr std::string_view says_how_to_select_less = "select less";
[[nodiscard]] inline tl::unexpected<failure> too_large_with_advice(std::string text) {
  failure out{errc::response_too_large, std::move(text), {}};
  out.about = says_how_to_select_less;
  return tl::unexpected(std::move(out));
}

struct sample {
  instant at = 0;
  double value = 0;
};

/// Says that a series has ended, or was missing from a scrape: a NaN of its own, which is never shown. Spec: Prometheus,
/// staleness.
inline constexpr std::uint64_t stale_bits = 0x7ff0000000000002;
[[nodiscard]] inline double stale_marker() noexcept { return std::bit_cast<double>(stale_bits); }
[[nodiscard]] inline bool is_stale(double value) noexcept { return std::bit_cast<std::uint64_t>(value) == stale_bits; }

/// How long after its last sample a series still has that value, unless a stale marker has come. As Prometheus has it.
inline constexpr duration usual_look_back = 300'000;

enum class kind : std::uint8_t { unknown, counter, gauge, histogram, summary, info, stateset };
/// "counter"; as in `# TYPE`.
[[nodiscard]] std::string_view name_of(kind what) noexcept;
/// `unknown` for any other text; "untyped" is unknown.
[[nodiscard]] kind kind_of(std::string_view text) noexcept;

/// Of a family: `http_request_seconds` for its `_bucket`, `_sum` and `_count`.
struct metadata {
  series::kind kind = kind::unknown;
  std::string unit{};  ///< "seconds", "bytes"; empty: not known.
  std::string help{};

  bool operator==(const metadata&) const = default;
};

/// The unit that a name ends with, before `_total` and `_sum` ("seconds", "bytes", "ratio", …). Empty: none, as of what counts
/// (`_count`, `_bucket`).
[[nodiscard]] std::string_view unit_in(std::string_view metric_name) noexcept;
/// The family of a series' name: without `_bucket`, `_sum`, `_count`, `_total`, `_created` and `_info`, as the kind has them.
[[nodiscard]] std::string_view family_of(std::string_view metric_name, kind what) noexcept;

/// Of one series of a family: `x_bucket`, `x_sum` and `x_count` of a histogram or summary are counters. Of a family whose kind
/// is unknown `x_total` and `x_bucket` are.
[[nodiscard]] kind kind_of_series(std::string_view metric_name, kind of_family) noexcept;

using counters::number_text;
/// Reads what the formats of Prometheus allow: decimal, with an exponent or not, `NaN`, `Inf`, `Infinity` in any case and with
/// a sign. Nothing: for hexadecimal, what is too large, and whatever else is none. What is too small is zero.
[[nodiscard]] std::optional<double> number_in(std::string_view text) noexcept;

/// A series with samples in the order of their instants, one for each instant at most.
struct points {
  identity of{};
  std::vector<sample> samples{};
};

/// Sorts them; of several of one instant the first one in `samples` stays. Quick where they are in order already.
void put_in_order(std::vector<sample>& samples);

}  // namespace hondana::series
