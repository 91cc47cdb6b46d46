/// What is known of the values in a window that moves on, without looking at each of them again.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

namespace hondana::series {

/// A sum that keeps what rounding would lose. Infinities and NaN go through as in plain sums.
struct exact_sum {
  double high = 0;
  double low = 0;

  [[nodiscard]] exact_sum with(const exact_sum& other) const noexcept {
    const double sum = high + other.high;
    if (!std::isfinite(sum)) return {sum, 0};
    const double back = sum - high;
    const double lost = (high - (sum - back)) + (other.high - back);
    return {sum, low + other.low + lost};
  }
  [[nodiscard]] double value() const noexcept { return high + low; }
};

/// Combines `of(i)` for all i in a window [begin, end) of numbers that only grow. Both ends move on; together all moves cost as
/// much as there are values. `T` has `with`, which is associative.
template <class T, class Of>
class sliding {
 public:
  explicit sliding(Of of) : of_(std::move(of)) {}

  /// The window must not be empty, and neither end may go back.
  [[nodiscard]] T over(std::size_t begin, std::size_t end) {
    if (begin >= turn_) turn(begin, end);
    for (; end_ < end; ++end_) {
      tail_ = has_tail_ ? tail_.with(of_(end_)) : of_(end_);
      has_tail_ = true;
    }
    const T& head = heads_[turn_ - 1 - begin];
    return has_tail_ ? head.with(tail_) : head;
  }

 private:
  /// From here on everything before `end` is taken from `heads_`: what is from there to the last of them, the last first.
  void turn(std::size_t begin, std::size_t end) {
    heads_.clear();
    for (std::size_t at = end; at-- > begin;) heads_.push_back(heads_.empty() ? of_(at) : of_(at).with(heads_.back()));
    turn_ = end_ = end;
    has_tail_ = false;
  }

  Of of_;
  std::vector<T> heads_{};
  T tail_{};
  std::size_t turn_ = 0;
  std::size_t end_ = 0;
  bool has_tail_ = false;
};

}  // namespace hondana::series
