/// The order of values that fit, and the best of many of them.
#pragma once

#include <algorithm>
#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/match/matcher.hpp"

namespace hondana::match {

/// How lately something changed, coarse enough that a second more or less makes no difference.
enum class recency : std::uint8_t { hour, day, week, month, older };

[[nodiscard]] inline recency recency_of(std::optional<std::chrono::sys_time<std::chrono::milliseconds>> modified,
                                        std::chrono::system_clock::time_point now) noexcept {
  using namespace std::chrono_literals;
  if (!modified) return recency::older;
  const auto age = now - *modified;
  if (age <= 1h) return recency::hour;
  if (age <= 24h) return recency::day;
  if (age <= 7 * 24h) return recency::week;
  return age <= 30 * 24h ? recency::month : recency::older;
}

/// What two values are compared by before their text: the fit, then what matters more, then what changed more lately.
struct rank {
  fit how;
  double priority = 0.5;  ///< 0 to 1, the more the better.
  recency age = recency::older;

  friend bool operator==(const rank&, const rank&) = default;
  friend bool operator<(const rank& a, const rank& b) noexcept {
    if (a.how != b.how) return a.how < b.how;
    if (a.priority != b.priority) return a.priority > b.priority;
    return a.age < b.age;
  }
};

/// Keeps the best `limit` of what is added, by `<`, and counts all. Threads: one at a time.
template <class T>
class best {
 public:
  explicit best(std::size_t limit) : limit_(limit) {}

  void add(T one) {
    ++count_;
    if (kept_.size() == limit_) {
      if (limit_ == 0 || !(one < kept_.front())) return;
      std::pop_heap(kept_.begin(), kept_.end());
      kept_.pop_back();
    }
    kept_.push_back(std::move(one));
    std::push_heap(kept_.begin(), kept_.end());
  }
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  /// The best first; empties it.
  [[nodiscard]] std::vector<T> take() {
    std::sort_heap(kept_.begin(), kept_.end());
    return std::move(kept_);
  }

 private:
  std::size_t limit_;
  std::uint64_t count_ = 0;
  std::vector<T> kept_;
};

}  // namespace hondana::match
