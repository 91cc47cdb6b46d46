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

/// Threads: any. Errors: those of `backend` and broken_protocol; unsupported where the server has no such part.
class prometheus_api {
 public:
  using form = std::vector<std::pair<std::string, std::string>>;

  /// `most_bytes`: of one answer, unpacked.
  prometheus_api(std::shared_ptr<endpoint::endpoint> at, std::size_t most_bytes);

  /// `path` goes behind `/api/v1`. The trace of `by` goes with it.
  [[nodiscard]] result<prometheus_answer> get(std::string_view path, form query, const call& by) const;
  /// The form as body: expressions may be longer than URLs, and are in no log of URLs.
  [[nodiscard]] result<prometheus_answer> post(std::string_view path, form query, const call& by) const;

  [[nodiscard]] const endpoint::endpoint& at() const noexcept { return *at_; }
  /// "Prometheus at http://host:port".
  [[nodiscard]] const std::string& whose() const noexcept { return whose_; }
  /// What the last request that reached it, or could not, has told; empty: nothing is wrong.
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

/// Asks nothing by itself. Threads: any.
class prometheus_known {
 public:
  /// `interval`: 0: to be found out. `api` outlives this.
  prometheus_known(const prometheus_api& api, series::duration interval, std::size_t most_names, std::size_t most_entries);

  /// Asked for anew when they are older than an interval.
  [[nodiscard]] result<std::shared_ptr<const prometheus_names>> names(const call& by);
  /// Finds out the interval and the version, where that is five minutes ago, or five seconds where it has failed. A failure is
  /// for the call itself to meet.
  void learn(const call& by);
  [[nodiscard]] series::duration interval() const noexcept { return interval_; }
  /// Empty: not known.
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
  clock::time_point learned_until_{};  ///< Until then nothing is to be found out. Guarded by `learning_`.

  mutable std::mutex mutex_;
  std::string version_{};
  std::shared_ptr<const prometheus_names> names_{};
  clock::time_point names_until_{};
};

/// Of a part that every Prometheus has: that it is missing means that the URL is another one's.
[[nodiscard]] tl::unexpected<failure> essential(failure why, std::string_view whose);

}  // namespace hondana::metrics
