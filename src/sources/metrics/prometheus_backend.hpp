/// The backend that queries a Prometheus server, or another server with the same HTTP API.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>

#include <hondana/error.hpp>

#include "sources/metrics/backend.hpp"
#include "transport/endpoint/endpoint.hpp"

namespace hondana::metrics {

struct prometheus_options {
  endpoint::settings at{};                      ///< The URL is that before `/api/v1`.
  series::duration interval = 0;                ///< Between scrapes; 0: as it says itself, and 15 s where it does not.
  std::size_t most_bytes = 16u << 20;           ///< Of one answer, unpacked.
  std::size_t most_names = 200'000;             ///< Of metrics that are known at a time; the last in order are left out.
  std::size_t most_entries = 10'000;            ///< Of labels, values, targets, alerts and rules.
  std::function<void(std::string_view)> log{};  ///< May be empty.
};

/// Names, metadata and the interval are kept for an interval (five minutes the last). Nothing is asked before the first call.
/// Parts that a server leaves out (Thanos, Mimir and VictoriaMetrics do, of targets and metadata) are `unsupported`, or done
/// without: kinds follow from names then. Errors: those of `endpoint::of`.
[[nodiscard]] result<std::shared_ptr<backend>> make_prometheus_backend(prometheus_options options);
[[nodiscard]] result<std::shared_ptr<backend>> make_prometheus_backend(endpoint::settings at, series::duration interval,
                                                                       std::function<void(std::string_view)> log);

}  // namespace hondana::metrics
