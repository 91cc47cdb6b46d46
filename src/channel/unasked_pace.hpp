/// How fast what nobody has asked for is taken.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

#include <hondana/clock.hpp>

namespace hondana::channel {

/// A server that sends notifications, questions or noise without end is read more slowly once it has sent 50 000 messages, or
/// 200 MB, more than 1 000, or 4 MB, a second: taking them all would keep a processor busy. Answers that somebody waits for do
/// not count. Threads: one at a time.
class unasked_pace {
 public:
  using clock = monotonic_clock;

  /// `most_ahead`: how much later all that comes at once could have come at that pace.
  explicit unasked_pace(clock::duration most_ahead = std::chrono::seconds(50)) : most_ahead_(most_ahead) {}

  void message(std::size_t size) {
    add(for_message);
    bytes(size);
  }
  void bytes(std::size_t count) { add(for_page * static_cast<clock::rep>(count) / page_bytes); }
  /// For how long nothing more is to be read; zero: it may be.
  [[nodiscard]] std::chrono::milliseconds pause() const {
    const auto ahead = done_at_ - clock::now();
    return std::chrono::ceil<std::chrono::milliseconds>(std::max(ahead, most_ahead_) - most_ahead_);
  }

 private:
  static constexpr clock::duration for_message = std::chrono::milliseconds(1);
  static constexpr clock::duration for_page = std::chrono::milliseconds(1);
  static constexpr clock::rep page_bytes = 4'096;

  void add(clock::duration time) { done_at_ = std::max(done_at_, clock::now()) + time; }

  clock::duration most_ahead_;
  clock::time_point done_at_{};  // when all that has come could have come at that pace
};

}  // namespace hondana::channel
