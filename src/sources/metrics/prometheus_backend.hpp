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

/// Options of a backend for a Prometheus server.
struct prometheus_options {
  endpoint::settings server{};                  ///< The URL is the part before `/api/v1`.
  series::duration interval = 0;                ///< Time between scrapes. 0: taken from the server, or 15 s if it does not say.
  std::size_t max_bytes = 16u << 20;            ///< Of one answer, after decompression.
  std::size_t max_names = 200'000;              ///< Number of cached metric names. The last in order are left out.
  std::size_t max_entries = 10'000;             ///< Number of labels, values, targets, alerts or rules in one result.
  std::function<void(std::string_view)> log{};  ///< May be empty.
};

/// Creates a backend for a Prometheus server. It caches names and metadata for one scrape interval, and the interval for five
/// minutes. It sends no request before the first call.
/// Some servers (Thanos, Mimir, VictoriaMetrics) lack parts of the API. Targets are then `unsupported`, and without metadata
/// the kinds of metrics are derived from their names.
/// Errors: those of `endpoint::create`.
[[nodiscard]] result<std::shared_ptr<backend>> make_prometheus_backend(prometheus_options options);
/// The same with default limits.
[[nodiscard]] result<std::shared_ptr<backend>> make_prometheus_backend(endpoint::settings server, series::duration interval,
                                                                       std::function<void(std::string_view)> log);

}  // namespace hondana::metrics
