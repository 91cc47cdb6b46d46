/// What a URI of a source of metrics asks for.
#pragma once

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

}  // namespace hondana::metrics
