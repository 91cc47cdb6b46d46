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

inline constexpr std::size_t max_listed_metrics = 20'000;

/// The metrics of a source.
struct metric_list {
  struct entry {
    std::string uri{};
    metric_info metric{};
  };
  std::vector<entry> entries{};  ///< In segment order of the URIs, at most `max_listed_metrics`.
  bool has_more = false;
};

/// Caches the metrics of a source for `ttl`. Threads: any. While one thread refreshes the list, others wait for it, up to their
/// deadline.
class metric_name_cache {
 public:
  metric_name_cache(std::string source, std::shared_ptr<backend> backend, std::chrono::milliseconds ttl,
                    std::function<void()> on_change)
      : source_(std::move(source)), backend_(std::move(backend)), ttl_(ttl), on_change_(std::move(on_change)) {}

  /// Errors: of the source, and timed_out. If the source fails but an older list is cached, returns that one. The source is
  /// retried after two seconds at most.
  [[nodiscard]] result<std::shared_ptr<const metric_list>> get(const request_context& context);
  /// At most 5 existing names similar to `name`, most similar first.
  [[nodiscard]] std::vector<std::string> find_similar(std::string_view name, const request_context& context);

 private:
  [[nodiscard]] result<std::shared_ptr<const metric_list>> fetch(const request_context& context) const;
  /// Null if the list must be refreshed.
  [[nodiscard]] std::shared_ptr<const metric_list> cached() const;
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

/// Levenshtein distance in bytes. Returns some value greater than `max_distance` if the distance exceeds it. Takes time
/// proportional to the product of the lengths, which are cut to 128.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t max_distance);

}  // namespace hondana::metrics
