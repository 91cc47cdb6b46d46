/// When another server's lists are asked for because it says that they have changed.
#pragma once

#include <algorithm>
#include <chrono>

#include <hondana/clock.hpp>

namespace hondana::mcp {

/// At once, and after that never for more than a tenth of the time; ever more seldom while it says so though nothing has
/// changed, as servers do that say it whenever they are asked. Threads: one at a time.
class pacing {
 public:
  using clock = monotonic_clock;

  /// They have been asked for, which took so long. `is_news`: unless it said that they had changed, and they had not.
  void asked(clock::time_point now, clock::duration took, bool is_news) {
    pause_ = is_news ? clock::duration::zero() : std::clamp<clock::duration>(2 * pause_, shortest, longest);
    next_ = now + std::max(pause_, std::min<clock::duration>(rest_factor * took, longest));
  }
  [[nodiscard]] clock::time_point next() const noexcept { return next_; }

 private:
  static constexpr std::chrono::milliseconds shortest{50};
  static constexpr std::chrono::seconds longest{10};
  static constexpr int rest_factor = 9;

  clock::duration pause_{};
  clock::time_point next_{};
};

}  // namespace hondana::mcp
