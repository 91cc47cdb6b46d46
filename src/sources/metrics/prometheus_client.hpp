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

/// Sends requests to the HTTP API of a server. Threads: any.
/// Errors: those of `backend`. unsupported if the server lacks the requested part of the API.
class prometheus_api {
 public:
  /// Names and values of parameters.
  using form = std::vector<std::pair<std::string, std::string>>;

  /// `max_bytes`: limit of one answer, after decompression.
  prometheus_api(std::shared_ptr<endpoint::endpoint> server, std::size_t max_bytes);

  /// Sends a GET request. `path`: relative to `/api/v1`. Sends the trace context of `context` along.
  [[nodiscard]] result<prometheus_answer> get(std::string_view path, form query, const request_context& context) const;
  /// Sends a POST request with the form as its body: expressions may be too long for a URL, and should not appear in logs of
  /// URLs.
  [[nodiscard]] result<prometheus_answer> post(std::string_view path, form query, const request_context& context) const;

  [[nodiscard]] const endpoint::endpoint& server() const noexcept { return *server_; }
  /// The server's name in messages: "Prometheus at http://host:port".
  [[nodiscard]] const std::string& server_name() const noexcept { return server_name_; }
  /// Returns the text of the last error of the server; empty if a later request succeeded. Errors in requests do not count.
  [[nodiscard]] std::string last_error() const;

 private:
  /// Adds headers and limits, calls `exchange`, and sets `last_error_`.
  [[nodiscard]] result<prometheus_answer> send(endpoint::request request, const request_context& context) const;
  /// Sends a request and parses the answer.
  [[nodiscard]] result<prometheus_answer> exchange(endpoint::request request, const request_context& context) const;

  std::shared_ptr<endpoint::endpoint> server_;
  std::size_t max_bytes_;
  std::string server_name_;
  mutable std::mutex mutex_;
  mutable std::string last_error_{};
};

/// Caches metric names, scrape interval and version of a server. Sends requests only when its functions are called. Threads:
/// any.
class prometheus_cache {
 public:
  /// `api`: must outlive this object. The others: see `prometheus_options`.
  prometheus_cache(const prometheus_api& api, series::duration interval, std::size_t max_names, std::size_t max_entries);

  /// Returns the names and metadata of metrics. Requests them again if they are older than an interval. Errors: those of the
  /// server.
  [[nodiscard]] result<std::shared_ptr<const prometheus_names>> names(const request_context& context);
  /// Requests the interval and the version if they are 5 minutes old, or the last request failed 5 seconds ago. Ignores errors:
  /// the caller's own request reports them.
  void refresh_server_info(const request_context& context);
  /// Returns the last known interval; 15 s while it is unknown.
  [[nodiscard]] series::duration interval() const noexcept { return interval_; }
  /// Returns the last known version; empty while it is unknown.
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

/// Returns an error of a part of the API that every Prometheus has. Turns unsupported into source_unavailable, since the URL
/// must be wrong.
[[nodiscard]] tl::unexpected<failure> required_api_error(failure error, std::string_view server_name);

}  // namespace hondana::metrics
