/// Sends requests to the HTTP API of a Prometheus server, and caches its names, metadata, scrape interval and version.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/clock.hpp>
#include <hondana/error.hpp>
#include <hondana/provider.hpp>

#include "sources/metrics/prometheus_metadata.hpp"
#include "sources/metrics/prometheus_response.hpp"
#include "transport/endpoint/endpoint.hpp"

namespace hondana::metrics {

/// Sends requests to the API. Threads: any.
/// Errors: those of `backend`, and protocol_error. unsupported if the server lacks the requested part of the API.
class prometheus_api {
 public:
  using form = std::vector<std::pair<std::string, std::string>>;

  /// `max_bytes` limits one answer, after decompression.
  prometheus_api(std::shared_ptr<endpoint::endpoint> server, std::size_t max_bytes);

  /// `path` is relative to `/api/v1`. The trace context of `context` is sent along.
  [[nodiscard]] result<prometheus_answer> get(std::string_view path, form query, const request_context& context) const;
  /// Sends the form as the body: expressions may be too long for a URL, and should not appear in logs of URLs.
  [[nodiscard]] result<prometheus_answer> post(std::string_view path, form query, const request_context& context) const;

  [[nodiscard]] const endpoint::endpoint& server() const noexcept { return *server_; }
  /// For example "Prometheus at http://host:port".
  [[nodiscard]] const std::string& server_name() const noexcept { return server_name_; }
  /// The error text of the last request if it failed because of the server. Empty if it succeeded.
  [[nodiscard]] std::string last_error() const;

 private:
  [[nodiscard]] result<prometheus_answer> send(endpoint::request request, const request_context& context) const;
  [[nodiscard]] result<prometheus_answer> exchange(endpoint::request request, const request_context& context) const;

  std::shared_ptr<endpoint::endpoint> server_;
  std::size_t max_bytes_;
  std::string server_name_;
  mutable std::mutex mutex_;
  mutable std::string last_error_{};
};

/// Caches metric names, scrape interval and version of a server. Sends requests only when its methods are called. Threads: any.
class prometheus_cache {
 public:
  /// `interval` 0: read from the server. `api` must outlive this object.
  prometheus_cache(const prometheus_api& api, series::duration interval, std::size_t max_names, std::size_t max_entries);

  /// The names and metadata of metrics, refreshed if older than an interval.
  [[nodiscard]] result<std::shared_ptr<const prometheus_names>> names(const request_context& context);
  /// Fetches the interval and the version if the last fetch is 5 minutes old, or 5 seconds if it failed. Ignores errors: the
  /// caller's own request reports them.
  void refresh_server_info(const request_context& context);
  [[nodiscard]] series::duration interval() const noexcept { return interval_; }
  /// Empty if unknown.
  [[nodiscard]] std::string version() const;

 private:
  using clock = monotonic_clock;

  [[nodiscard]] result<std::shared_ptr<const prometheus_names>> fetch_names(const request_context& context);
  [[nodiscard]] std::optional<series::duration> fetch_interval(const request_context& context) const;

  const prometheus_api& api_;
  const bool has_fixed_interval_;
  const std::size_t max_names_, max_entries_;
  std::atomic<series::duration> interval_;

  std::timed_mutex refresh_mutex_;
  clock::time_point next_refresh_{};  ///< No fetch before this time. Guarded by `refresh_mutex_`.

  mutable std::mutex mutex_;
  std::string version_{};
  std::shared_ptr<const prometheus_names> names_{};
  clock::time_point names_expire_at_{};
};

/// For parts of the API that every Prometheus has. Turns `unsupported` into source_unavailable, since the URL must be wrong.
[[nodiscard]] tl::unexpected<failure> required_api_error(failure error, std::string_view server_name);

}  // namespace hondana::metrics
