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

inline constexpr std::size_t most_listed = 20'000;

/// The metrics of a source.
struct named_metrics {
  struct entry {
    std::string uri{};
    metric of{};
  };
  std::vector<entry> all{};  ///< In segment order of the URIs, at most `most_listed`.
  bool are_more = false;
};

/// Caches the metrics of a source for `keeps`. Threads: any. While one thread refreshes the list, others wait for it, up to
/// their deadline.
class names {
 public:
  names(std::string source, std::shared_ptr<backend> from, std::chrono::milliseconds keeps, std::function<void()> changed)
      : source_(std::move(source)), from_(std::move(from)), keeps_(keeps), changed_(std::move(changed)) {}

  /// Errors: of the source, and timed_out. If the source fails but an older list is cached, returns that one. The source is
  /// retried after two seconds at most.
  [[nodiscard]] result<std::shared_ptr<const named_metrics>> get(const call& by);
  /// At most 5 existing names similar to `name`, most similar first.
  [[nodiscard]] std::vector<std::string> near(std::string_view name, const call& by);

 private:
  [[nodiscard]] result<std::shared_ptr<const named_metrics>> ask(const call& by) const;
  /// Null if the list must be refreshed.
  [[nodiscard]] std::shared_ptr<const named_metrics> kept() const;
  [[nodiscard]] bool wait_for_turn(std::unique_lock<std::timed_mutex>& turn, const call& by) const;

  const std::string source_;
  const std::shared_ptr<backend> from_;
  const std::chrono::milliseconds keeps_;
  const std::function<void()> changed_;
  std::timed_mutex asking_;  // held while the source is queried
  mutable std::mutex mutex_;
  std::shared_ptr<const named_metrics> last_;
  std::optional<std::chrono::steady_clock::time_point> until_;  // when the list expires
};

/// Levenshtein distance in bytes. Returns some value greater than `most` if the distance exceeds it. Takes time proportional to
/// the product of the lengths, which are cut to 128.
[[nodiscard]] std::size_t distance_of(std::string_view a, std::string_view b, std::size_t most);

}  // namespace hondana::metrics
