/// How long output waits for a peer, which may be shortened while it waits.
#pragma once

#include <chrono>
#include <mutex>

#include <hondana/clock.hpp>

namespace hondana::transport::stdio {

/// Threads: any.
class patience {
 public:
  using clock = monotonic_clock;

  /// A peer that takes nothing for `stall` is given up.
  explicit patience(std::chrono::milliseconds stall);
  ~patience();
  patience(const patience&) = delete;
  patience& operator=(const patience&) = delete;

  /// From now on: at most `stall` without progress, and nothing after `end`. Wakes whoever waits. Never lengthens.
  void shorten(std::chrono::milliseconds stall, clock::time_point end);
  /// When to give up, if the last byte was taken at `progress`.
  [[nodiscard]] clock::time_point until(clock::time_point progress) const;
  /// Readable after `shorten`, until `heard` is called; for poll.
  [[nodiscard]] int descriptor() const noexcept { return changed_; }
  void heard() const noexcept;

 private:
  int changed_;
  mutable std::mutex mutex_;
  std::chrono::milliseconds stall_;
  clock::time_point end_ = clock::time_point::max();
};

}  // namespace hondana::transport::stdio
