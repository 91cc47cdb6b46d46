/// Decodes metric names, metadata, targets, alerts and rules from answers of Prometheus.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

#include "base/json/reader.hpp"
#include "sources/metrics/backend.hpp"

namespace hondana::metrics {

using families = std::map<std::string, series::metadata, std::less<>>;

// These functions decode the `data` of an answer and ignore entries beyond `most`. `whose`: see open_prometheus_answer.
// Errors: broken_protocol, with the path of the malformed member.

[[nodiscard]] result<families> families_of(const json::value& data, std::size_t most, std::string_view whose);
/// Removes user names and queries from URLs, since they may contain credentials.
[[nodiscard]] result<std::vector<scraping::target_state>> targets_of(const json::value& data, std::size_t most,
                                                                     std::string_view whose);
/// Decodes /api/v1/alerts, which has no expressions.
[[nodiscard]] result<std::vector<alert>> alerts_of(const json::value& data, std::size_t most, std::string_view whose);
/// The contents of /api/v1/rules.
struct rules_and_alerts {
  std::vector<rule> rules{};
  std::vector<alert> alerts{};  ///< Pending and firing alerts.
};
[[nodiscard]] result<rules_and_alerts> rules_of(const json::value& data, std::size_t most, std::string_view whose);

/// The `global.scrape_interval` of /api/v1/status/config. Nothing if the configuration is not visible there.
[[nodiscard]] std::optional<series::duration> interval_in(const json::value& data);
/// The version in /api/v1/status/buildinfo, such as "2.42.0". Empty if missing.
[[nodiscard]] std::string version_in(const json::value& data);

/// Parses RFC 3339 with any fraction and offset. Returns nothing for other texts, and for Go's zero time, which means "never".
[[nodiscard]] std::optional<series::instant> instant_in(std::string_view text);

/// The names and metadata of all metrics of a server. Immutable.
class prometheus_names {
 public:
  /// `names`: sorted names of series. Names that only newer Prometheus versions allow are left out, since selectors cannot
  /// contain them.
  prometheus_names(std::vector<std::string> names, families of);

  /// As `backend::metrics`.
  [[nodiscard]] std::vector<metric> page(std::string_view prefix, std::string_view after, std::size_t limit) const;
  /// As `backend::find`.
  [[nodiscard]] std::optional<metric> find(std::string_view name) const;
  /// The name of the series that represent a metric. For a family it is `_bucket`, or `_count` if it has no buckets. Otherwise
  /// it is the name itself.
  [[nodiscard]] std::string series_name(std::string_view name) const;

 private:
  [[nodiscard]] bool has(std::string_view name) const;
  /// The metadata of a family. Null if it has no type.
  [[nodiscard]] const series::metadata* family(std::string_view name) const;
  /// Servers other than Prometheus may lack metadata. The names of series decide then.
  [[nodiscard]] bool is_histogram(std::string_view name) const;
  [[nodiscard]] bool is_summary(std::string_view name) const;
  [[nodiscard]] series::metadata metadata_of(std::string_view name) const;

  std::vector<std::string> names_;
  families families_;
  std::vector<metric> listed_{};
};

}  // namespace hondana::metrics
