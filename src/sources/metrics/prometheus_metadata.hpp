/// Decodes what Prometheus says besides series: metric names and metadata, targets, alerts and rules.
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

// Each reads the `data` of an answer. Errors: broken_protocol with the path of what is wrong. `whose`: as in
// open_prometheus_answer. What is beyond `most` is left out.

[[nodiscard]] result<families> families_of(const json::value& data, std::size_t most, std::string_view whose);
/// Addresses lose what may hold credentials: user names and queries.
[[nodiscard]] result<std::vector<scraping::target_state>> targets_of(const json::value& data, std::size_t most,
                                                                     std::string_view whose);
/// Of /api/v1/alerts, which knows no expressions.
[[nodiscard]] result<std::vector<alert>> alerts_of(const json::value& data, std::size_t most, std::string_view whose);
/// Of /api/v1/rules.
struct rules_and_alerts {
  std::vector<rule> rules{};
  std::vector<alert> alerts{};  ///< Pending and firing ones.
};
[[nodiscard]] result<rules_and_alerts> rules_of(const json::value& data, std::size_t most, std::string_view whose);

/// The `global.scrape_interval` of /api/v1/status/config; nothing: it cannot be seen there.
[[nodiscard]] std::optional<series::duration> interval_in(const json::value& data);
/// "2.42.0" of /api/v1/status/buildinfo; empty: not said.
[[nodiscard]] std::string version_in(const json::value& data);

/// RFC 3339 with any fraction and offset. Nothing: it is none, or Go's zero time, which stands for never.
[[nodiscard]] std::optional<series::instant> instant_in(std::string_view text);

/// Immutable.
class prometheus_names {
 public:
  /// `names`: of series, sorted. Names that only later versions allow are left out, since no selector spells them.
  prometheus_names(std::vector<std::string> names, families of);

  /// As `backend::metrics`.
  [[nodiscard]] std::vector<metric> page(std::string_view prefix, std::string_view after, std::size_t limit) const;
  /// As `backend::find`.
  [[nodiscard]] std::optional<metric> find(std::string_view name) const;
  /// The name of series that stand for a metric: of a family its `_bucket`, or `_count` where there are none; otherwise itself.
  [[nodiscard]] std::string series_name(std::string_view name) const;

 private:
  [[nodiscard]] bool has(std::string_view name) const;
  /// Its metadata, where a type is among them.
  [[nodiscard]] const series::metadata* family(std::string_view name) const;
  /// Where there is no metadata, as elsewhere than in Prometheus, names tell.
  [[nodiscard]] bool is_histogram(std::string_view name) const;
  [[nodiscard]] bool is_summary(std::string_view name) const;
  [[nodiscard]] series::metadata metadata_of(std::string_view name) const;

  std::vector<std::string> names_;
  families families_;
  std::vector<metric> listed_{};
};

}  // namespace hondana::metrics
