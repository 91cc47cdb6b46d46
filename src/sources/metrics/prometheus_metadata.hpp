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

// These functions decode the `data` of an answer and ignore entries beyond `max_entries`. `server_name`: see
// `parse_prometheus_answer`. Errors: protocol_error, with the path of the malformed member.

[[nodiscard]] result<families> parse_families(const json::value& data, std::size_t max_entries, std::string_view server_name);
/// Removes user names and queries from URLs, since they may contain credentials.
[[nodiscard]] result<std::vector<scraping::target_state>> parse_targets(const json::value& data, std::size_t max_entries,
                                                                        std::string_view server_name);
/// Decodes /api/v1/alerts, which has no expressions.
[[nodiscard]] result<std::vector<alert>> parse_alerts(const json::value& data, std::size_t max_entries,
                                                      std::string_view server_name);
/// The contents of /api/v1/rules.
struct rules_and_alerts {
  std::vector<rule> rules{};
  std::vector<alert> alerts{};  ///< Pending and firing alerts.
};
[[nodiscard]] result<rules_and_alerts> parse_rules(const json::value& data, std::size_t max_entries,
                                                   std::string_view server_name);

/// The `global.scrape_interval` of /api/v1/status/config. Nothing if the configuration is not visible there.
[[nodiscard]] std::optional<series::duration> parse_scrape_interval(const json::value& data);
/// The version in /api/v1/status/buildinfo, such as "2.42.0". Empty if missing.
[[nodiscard]] std::string parse_version(const json::value& data);

/// Parses RFC 3339 with any fraction and offset. Returns nothing for other texts, and for Go's zero time, which means "never".
[[nodiscard]] std::optional<series::instant> parse_timestamp(std::string_view text);

/// The names and metadata of all metrics of a server. Immutable.
class prometheus_names {
 public:
  /// `names`: sorted names of series. Names that only newer Prometheus versions allow are left out, since selectors cannot
  /// contain them.
  prometheus_names(std::vector<std::string> names, families metadata);

  /// As `backend::metrics`.
  [[nodiscard]] std::vector<metric_info> page(std::string_view prefix, std::string_view after_key, std::size_t limit) const;
  /// As `backend::find`.
  [[nodiscard]] std::optional<metric_info> find(std::string_view name) const;
  /// The name of the series that represent a metric. For a family it is `_bucket`, or `_count` if it has no buckets. Otherwise
  /// it is the name itself.
  [[nodiscard]] std::string series_name(std::string_view name) const;

 private:
  [[nodiscard]] bool has(std::string_view name) const;
  /// The metadata of a family. Null if it has no type.
  [[nodiscard]] const series::metadata* find_family(std::string_view name) const;
  /// Servers other than Prometheus may lack metadata. The names of series decide then.
  [[nodiscard]] bool is_histogram(std::string_view name) const;
  [[nodiscard]] bool is_summary(std::string_view name) const;
  [[nodiscard]] series::metadata metadata_of(std::string_view name) const;

  std::vector<std::string> names_;
  families families_;
  std::vector<metric_info> metrics_{};
};

}  // namespace hondana::metrics
