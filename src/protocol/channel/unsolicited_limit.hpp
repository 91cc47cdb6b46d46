/// A rate limit for what a server sends without a request.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

#include <hondana/clock.hpp>

namespace hondana::channel {

/// Limits how fast a client reads notifications, requests and bytes that are no messages, so that a server that sends them
/// without end does not keep a processor busy. The sustained rate is 1,000 messages or 4 MB a second; with the default burst a
/// server may send 50,000 messages or 200 MB at once. Answers to pending calls are not counted. Threads: one at a time.
class unsolicited_limit {
 public:
  using clock = monotonic_clock;

  /// `burst`: the time for which the sustained rate may be used up in advance.
  explicit unsolicited_limit(clock::duration burst = std::chrono::seconds(50)) : burst_(burst) {}

  /// Counts a message of `size` bytes.
  void message(std::size_t size) {
    add(message_time);
    bytes(size);
  }
  /// Counts bytes that are no message.
  void bytes(std::size_t count) { add(page_time * static_cast<clock::rep>(count) / page_bytes); }
  /// How long the client must stop reading; zero: not at all.
  [[nodiscard]] std::chrono::milliseconds pause() const {
    const auto ahead = used_until_ - clock::now();
    return std::chrono::ceil<std::chrono::milliseconds>(std::max(ahead, burst_) - burst_);
  }

 private:
  static constexpr clock::duration message_time = std::chrono::milliseconds(1);
  static constexpr clock::duration page_time = std::chrono::milliseconds(1);
  static constexpr clock::rep page_bytes = 4'096;

  void add(clock::duration time) { used_until_ = std::max(used_until_, clock::now()) + time; }

  clock::duration burst_;
  clock::time_point used_until_{};  // when everything counted so far would have arrived at the sustained rate
};

}  // namespace hondana::channel
