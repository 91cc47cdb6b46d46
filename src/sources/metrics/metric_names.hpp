/// The list of metrics of a source: cached, refreshed when it is old, and searched for similar names.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/provider.hpp>

#include "sources/metrics/backend.hpp"

namespace hondana::metrics {

/// The maximum size of a `metric_list`.
inline constexpr std::size_t max_listed_metrics = 20'000;

/// The metrics of a source.
struct metric_list {
  struct entry {
    std::string uri{};
    metric_info metric{};
  };
  std::vector<entry> entries{};  ///< In segment order of the URIs, at most `max_listed_metrics`.
  bool has_more = false;         ///< The source has more metrics.
};

/// Caches the metrics of a source. Threads: any. While one thread refreshes the list, others wait for it, up to their deadline.
class metric_name_cache {
 public:
  /// `source`: the name of the source. `ttl`: how long a list is used. `on_change`: called by `get` when a new list differs
  /// from the previous one; may be empty.
  metric_name_cache(std::string source, std::shared_ptr<backend> backend, std::chrono::milliseconds ttl,
                    std::function<void()> on_change)
      : source_(std::move(source)), backend_(std::move(backend)), ttl_(ttl), on_change_(std::move(on_change)) {}

  /// Returns the list, and refreshes it if it is too old. If the source fails or takes too long, returns an older list, if
  /// there is one. The next refresh is then after two seconds at most. Errors: those of the source, and timed_out.
  [[nodiscard]] result<std::shared_ptr<const metric_list>> get(const request_context& context);
  /// Returns at most 5 existing names similar to `name`, the most similar first. Empty if the list cannot be read.
  [[nodiscard]] std::vector<std::string> find_similar(std::string_view name, const request_context& context);

 private:
  /// Reads the list from the source.
  [[nodiscard]] result<std::shared_ptr<const metric_list>> fetch(const request_context& context) const;
  /// Returns the cached list; null if it must be refreshed.
  [[nodiscard]] std::shared_ptr<const metric_list> cached() const;
  /// Returns false if the lock is not available before the deadline.
  [[nodiscard]] bool lock_until_deadline(std::unique_lock<std::timed_mutex>& refresh_lock,
                                         const request_context& context) const;

  const std::string source_;
  const std::shared_ptr<backend> backend_;
  const std::chrono::milliseconds ttl_;
  const std::function<void()> on_change_;
  std::timed_mutex refresh_mutex_;  // held while the source is queried
  mutable std::mutex mutex_;
  std::shared_ptr<const metric_list> list_;
  std::optional<std::chrono::steady_clock::time_point> expires_at_;
};

/// Returns the Levenshtein distance of the first 128 bytes of both texts. If it exceeds `max_distance`, may return another
/// value above `max_distance`. Takes time proportional to the product of the lengths.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t max_distance);

}  // namespace hondana::metrics
