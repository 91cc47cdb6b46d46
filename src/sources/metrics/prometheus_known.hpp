/// What is kept of a Prometheus between calls: its names and metadata, how often it scrapes, its version.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include <hondana/clock.hpp>
#include <hondana/error.hpp>
#include <hondana/provider.hpp>

#include "sources/metrics/prometheus_api.hpp"
#include "sources/metrics/prometheus_names.hpp"

namespace hondana::metrics {

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
