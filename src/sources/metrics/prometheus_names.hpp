/// The metrics of a Prometheus, by the names of its series and its metadata.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sources/metrics/backend.hpp"
#include "sources/metrics/prometheus_facts.hpp"

namespace hondana::metrics {

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
