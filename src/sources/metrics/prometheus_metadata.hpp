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

/// Metadata by the name of the family.
using families = std::map<std::string, series::metadata, std::less<>>;

// These functions decode the `data` of an answer and ignore entries beyond `max_entries`. `server_name`: see
// `parse_prometheus_answer`. Errors: protocol_error, with the path of the malformed member.

/// Decodes /api/v1/metadata.
[[nodiscard]] result<families> parse_families(const json::value& data, std::size_t max_entries, std::string_view server_name);
/// Decodes /api/v1/targets. Removes user names and queries from URLs, since they may contain credentials.
[[nodiscard]] result<std::vector<scraping::target_state>> parse_targets(const json::value& data, std::size_t max_entries,
                                                                        std::string_view server_name);
/// Decodes /api/v1/alerts, which has no expressions.
[[nodiscard]] result<std::vector<alert>> parse_alerts(const json::value& data, std::size_t max_entries,
                                                      std::string_view server_name);
/// The contents of /api/v1/rules.
struct rules_and_alerts {
  std::vector<rule> rules{};
  std::vector<alert> alerts{};  ///< The alerts of all rules.
};
/// Decodes /api/v1/rules.
[[nodiscard]] result<rules_and_alerts> parse_rules(const json::value& data, std::size_t max_entries,
                                                   std::string_view server_name);

/// Returns `global.scrape_interval` of /api/v1/status/config; nullopt if the configuration is not visible there.
[[nodiscard]] std::optional<series::duration> parse_scrape_interval(const json::value& data);
/// Returns the version in /api/v1/status/buildinfo, such as "2.42.0". Empty if missing.
[[nodiscard]] std::string parse_version(const json::value& data);

/// Parses RFC 3339 with any fraction and offset. Returns nullopt for other texts, and for the year 1: Go's zero time, which
/// means "never".
[[nodiscard]] std::optional<series::instant> parse_timestamp(std::string_view text);

/// The names and metadata of all metrics of a server. Immutable.
class prometheus_names {
 public:
  /// `names`: sorted names of series. Names that only newer Prometheus versions allow are left out, since selectors cannot
  /// contain them.
  prometheus_names(std::vector<std::string> names, families metadata);

  /// Lists metrics as `backend::metrics` does.
  [[nodiscard]] std::vector<metric_info> page(std::string_view prefix, std::string_view after_key, std::size_t limit) const;
  /// Finds a metric as `backend::find` does.
  [[nodiscard]] std::optional<metric_info> find(std::string_view name) const;
  /// Returns the name of series that exist whenever a metric exists: `name`_bucket for a histogram, otherwise `name`.
  [[nodiscard]] std::string series_name(std::string_view name) const;

 private:
  /// Whether there are series of this name.
  [[nodiscard]] bool has(std::string_view name) const;
  /// Returns the metadata of a family; null if its kind is unknown.
  [[nodiscard]] const series::metadata* find_family(std::string_view name) const;
  /// Whether a name is that of a histogram family. Without metadata, as on some servers, the names of series decide.
  [[nodiscard]] bool is_histogram(std::string_view name) const;
  /// Whether a name is that of a summary family.
  [[nodiscard]] bool is_summary(std::string_view name) const;
  /// Returns the metadata of a family or of the series of one name.
  [[nodiscard]] series::metadata metadata_of(std::string_view name) const;

  std::vector<std::string> names_;  // of series, sorted
  families families_;
  std::vector<metric_info> metrics_{};
};

}  // namespace hondana::metrics
