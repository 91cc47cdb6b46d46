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
/// Errors: those of `backend`, and broken_protocol. unsupported if the server lacks the requested part of the API.
class prometheus_api {
 public:
  using form = std::vector<std::pair<std::string, std::string>>;

  /// `most_bytes` limits one answer, after decompression.
  prometheus_api(std::shared_ptr<endpoint::endpoint> at, std::size_t most_bytes);

  /// `path` is relative to `/api/v1`. The trace context of `by` is sent along.
  [[nodiscard]] result<prometheus_answer> get(std::string_view path, form query, const call& by) const;
  /// Sends the form as the body: expressions may be too long for a URL, and should not appear in logs of URLs.
  [[nodiscard]] result<prometheus_answer> post(std::string_view path, form query, const call& by) const;

  [[nodiscard]] const endpoint::endpoint& at() const noexcept { return *at_; }
  /// For example "Prometheus at http://host:port".
  [[nodiscard]] const std::string& whose() const noexcept { return whose_; }
  /// The error text of the last request if it failed because of the server. Empty if it succeeded.
  [[nodiscard]] std::string trouble() const;

 private:
  [[nodiscard]] result<prometheus_answer> ask(endpoint::request what, const call& by) const;
  [[nodiscard]] result<prometheus_answer> answered(endpoint::request what, const call& by) const;

  std::shared_ptr<endpoint::endpoint> at_;
  std::size_t most_bytes_;
  std::string whose_;
  mutable std::mutex mutex_;
  mutable std::string trouble_{};
};

/// Caches metric names, scrape interval and version of a server. Sends requests only when its methods are called. Threads: any.
class prometheus_known {
 public:
  /// `interval` 0: read from the server. `api` must outlive this object.
  prometheus_known(const prometheus_api& api, series::duration interval, std::size_t most_names, std::size_t most_entries);

  /// The names and metadata of metrics, refreshed if older than an interval.
  [[nodiscard]] result<std::shared_ptr<const prometheus_names>> names(const call& by);
  /// Fetches the interval and the version if the last fetch is 5 minutes old, or 5 seconds if it failed. Ignores errors: the
  /// caller's own request reports them.
  void learn(const call& by);
  [[nodiscard]] series::duration interval() const noexcept { return interval_; }
  /// Empty if unknown.
  [[nodiscard]] std::string version() const;

 private:
  using clock = monotonic_clock;

  [[nodiscard]] result<std::shared_ptr<const prometheus_names>> asked_names(const call& by);
  [[nodiscard]] std::optional<series::duration> told_interval(const call& by) const;

  const prometheus_api& api_;
  const bool is_interval_given_;
  const std::size_t most_names_, most_entries_;
  std::atomic<series::duration> interval_;

  std::timed_mutex learning_;
  clock::time_point learned_until_{};  ///< No fetch before this time. Guarded by `learning_`.

  mutable std::mutex mutex_;
  std::string version_{};
  std::shared_ptr<const prometheus_names> names_{};
  clock::time_point names_until_{};
};

/// For parts of the API that every Prometheus has. Turns `unsupported` into source_unavailable, since the URL must be wrong.
[[nodiscard]] tl::unexpected<failure> essential(failure why, std::string_view whose);

}  // namespace hondana::metrics
