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

struct named_metrics {
  struct entry {
    std::string uri{};
    metric of{};
  };
  std::vector<entry> all{};  ///< In segment order of the URIs; `most_listed` at most.
  bool are_more = false;
};

/// Keeps them, and asks anew when they are older than `keeps`. Threads: any; who asks while another does waits for it, as far
/// as the call's deadline goes.
class names {
 public:
  names(std::string source, std::shared_ptr<backend> from, std::chrono::milliseconds keeps, std::function<void()> changed)
      : source_(std::move(source)), from_(std::move(from)), keeps_(keeps), changed_(std::move(changed)) {}

  /// Errors: of the source, and timed_out; where there are some from before, these are answered for as long as it does not
  /// answer, which is tried again after two seconds at most.
  [[nodiscard]] result<std::shared_ptr<const named_metrics>> get(const call& by);
  /// Names that are so near that they may be meant, the nearest first; at most 5.
  [[nodiscard]] std::vector<std::string> near(std::string_view name, const call& by);

 private:
  [[nodiscard]] result<std::shared_ptr<const named_metrics>> ask(const call& by) const;
  /// Null: they are to be asked for.
  [[nodiscard]] std::shared_ptr<const named_metrics> kept() const;
  [[nodiscard]] bool wait_for_turn(std::unique_lock<std::timed_mutex>& turn, const call& by) const;

  const std::string source_;
  const std::shared_ptr<backend> from_;
  const std::chrono::milliseconds keeps_;
  const std::function<void()> changed_;
  std::timed_mutex asking_;  // held while the source is asked
  mutable std::mutex mutex_;
  std::shared_ptr<const named_metrics> last_;
  std::optional<std::chrono::steady_clock::time_point> until_;  // as long as those are answered
};

/// How many letters must be changed, added or left out; more than `most`: something greater than it. Time: the product of
/// lengths, which are cut to 128.
[[nodiscard]] std::size_t distance_of(std::string_view a, std::string_view b, std::size_t most);

}  // namespace hondana::metrics
