/// Which jobs are known to keep a processor busy.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string_view>

namespace hondana::work {

/// Names jobs that do the same, and so take about the same time: a hash of what is asked for. 0: nothing is known of it.
using job_kind = std::uint64_t;

/// `operation`: whatever tells operations apart.
[[nodiscard]] inline job_kind kind_of(std::uint64_t operation, std::string_view about) noexcept {
  return (std::hash<std::string_view>{}(about) * 31 + operation) | 1;
}

/// Remembers the kinds of jobs that took more than two milliseconds of a processor when they ran last. Kinds share 1024 places,
/// so that one may be forgotten for another. Threads: any.
class known_costs {
 public:
  static constexpr std::chrono::milliseconds least{2};

  [[nodiscard]] bool is_costly(job_kind what) const noexcept {
    return what != 0 && place_of(what).load(std::memory_order_relaxed) == what;
  }
  /// A job of that kind took so much time of a processor.
  void ran(job_kind what, std::chrono::nanoseconds time) noexcept {
    if (what == 0) return;
    auto& place = place_of(what);
    if (time >= least) {
      place.store(what, std::memory_order_relaxed);
    } else if (place.load(std::memory_order_relaxed) == what) {
      place.store(0, std::memory_order_relaxed);
    }
  }

 private:
  [[nodiscard]] std::atomic<job_kind>& place_of(job_kind what) noexcept { return all_[what % all_.size()]; }
  [[nodiscard]] const std::atomic<job_kind>& place_of(job_kind what) const noexcept { return all_[what % all_.size()]; }

  std::array<std::atomic<job_kind>, 1021> all_{};
};

}  // namespace hondana::work
