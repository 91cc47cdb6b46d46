/// Whose turn it is, and when.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <hondana/clock.hpp>

namespace hondana::scraping {

/// Targets in the order in which they are due. Those that were slow never hold all threads. Threads: one at a time.
class rota {
 public:
  using clock = monotonic_clock;

  /// `every`: of each target. `most_slow`: how many slow ones may be under way at once. All are slow until they are known.
  rota(const std::vector<std::chrono::milliseconds>& every, clock::time_point begin, std::size_t most_slow);

  /// The target to be scraped now, which is then under way; nothing: `next_due` says when to ask again.
  [[nodiscard]] std::optional<std::size_t> take(clock::time_point now);
  /// Nothing: only when one that is under way is done.
  [[nodiscard]] std::optional<clock::time_point> next_due() const;
  /// What is overdue by then is left out.
  void done(std::size_t which, bool was_slow, clock::time_point now);

 private:
  struct turn {
    std::chrono::milliseconds every;
    clock::time_point due;   // the first time
    clock::time_point base;  // of the regular ones after it
    bool is_slow = true;
  };
  using queue = std::set<std::pair<clock::time_point, std::size_t>>;
  [[nodiscard]] bool may_take_slow() const noexcept { return slow_under_way_ < most_slow_; }
  queue& queue_of(const turn& one) noexcept { return one.is_slow ? slow_ : quick_; }

  std::vector<turn> turns_{};
  queue quick_{};
  queue slow_{};
  std::size_t most_slow_;
  std::size_t slow_under_way_ = 0;
};

}  // namespace hondana::scraping
