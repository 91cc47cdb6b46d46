/// The monotonic clock for deadlines, timeouts and back-offs, and a manual replacement for tests.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <stop_token>
#include <utility>

namespace hondana::inline v0 {

/// `std::chrono::steady_clock`, or the time of a `manual_clock` while one exists. Deadlines of the library are time points of
/// this clock. Threads: any.
struct monotonic_clock {
  using duration = std::chrono::steady_clock::duration;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::steady_clock::time_point;
  static constexpr bool is_steady = true;

  [[nodiscard]] static time_point now() noexcept {
    const auto manual = manual_time.load(std::memory_order_relaxed);
    return manual == real_time ? std::chrono::steady_clock::now() : time_point(duration(manual));
  }

  /// As `condition.wait_until(lock, deadline)`; may return early.
  template <class Condition, class Lock>
  static void wait_until(Condition& condition, Lock& lock, time_point deadline) {
    if (is_manual()) {
      condition.wait_for(lock, manual_poll_interval);
    } else {
      condition.wait_until(lock, deadline);
    }
  }
  /// As `condition.wait_for(lock, timeout)`; may return early.
  template <class Condition, class Lock>
  static void wait_for(Condition& condition, Lock& lock, duration timeout) {
    wait_until(condition, lock, deadline_after(timeout));
  }
  /// As `condition.wait_until(lock, deadline, predicate)`.
  template <class Condition, class Lock, class Predicate>
  static bool wait_until(Condition& condition, Lock& lock, time_point deadline, Predicate predicate) {
    if (!is_manual()) return condition.wait_until(lock, deadline, std::move(predicate));
    while (!predicate()) {
      if (now() >= deadline) return predicate();
      condition.wait_for(lock, manual_poll_interval);
    }
    return true;
  }
  /// As `condition.wait_until(lock, stop, deadline, predicate)` of a `std::condition_variable_any`.
  template <class Condition, class Lock, class Predicate>
  static bool wait_until(Condition& condition, Lock& lock, const std::stop_token& stop, time_point deadline,
                         Predicate predicate) {
    if (!is_manual()) return condition.wait_until(lock, stop, deadline, std::move(predicate));
    while (!predicate()) {
      if (stop.stop_requested() || now() >= deadline) return predicate();
      condition.wait_for(lock, stop, manual_poll_interval, [] { return false; });
    }
    return true;
  }
  /// As `condition.wait_for(lock, timeout, predicate)`.
  template <class Condition, class Lock, class Predicate>
  static bool wait_for(Condition& condition, Lock& lock, duration timeout, Predicate predicate) {
    return wait_until(condition, lock, deadline_after(timeout), std::move(predicate));
  }
  /// As `condition.wait_for(lock, stop, timeout, predicate)` of a `std::condition_variable_any`.
  template <class Condition, class Lock, class Predicate>
  static bool wait_for(Condition& condition, Lock& lock, const std::stop_token& stop, duration timeout, Predicate predicate) {
    return wait_until(condition, lock, stop, deadline_after(timeout), std::move(predicate));
  }

  /// As `lock.try_lock_until(deadline)` for a lock of a `std::timed_mutex`.
  template <class Lock>
  static bool try_lock_until(Lock& lock, time_point deadline) {
    if (!is_manual()) return lock.try_lock_until(deadline);
    while (!lock.try_lock_for(manual_poll_interval))
      if (now() >= deadline) return false;
    return true;
  }

  /// Returns the timeout to pass to poll(2) or epoll_wait(2) for a wait of `milliseconds`. Negative: no timeout. With a manual
  /// clock the result is at most 1 ms, so that the calling loop notices when the clock moves.
  [[nodiscard]] static int poll_timeout(std::int64_t milliseconds) noexcept {
    constexpr std::int64_t max_timeout = std::numeric_limits<int>::max();
    if (!is_manual()) return static_cast<int>(std::clamp<std::int64_t>(milliseconds, -1, max_timeout));
    return milliseconds == 0 ? 0 : static_cast<int>(manual_poll_interval.count());
  }

  /// Returns whether a `manual_clock` exists.
  [[nodiscard]] static bool is_manual() noexcept { return manual_time.load(std::memory_order_relaxed) != real_time; }

 private:
  friend class manual_clock;
  static constexpr rep real_time = std::numeric_limits<rep>::min();
  /// How often a wait polls a manual clock.
  static constexpr std::chrono::milliseconds manual_poll_interval{1};

  [[nodiscard]] static time_point deadline_after(duration timeout) noexcept {
    const auto begin = now();
    return timeout >= time_point::max() - begin ? time_point::max() : begin + timeout;
  }

  static inline constinit std::atomic<rep> manual_time{real_time};
};

/// While it exists, `monotonic_clock` stands still until `advance`. Tests use it to reach deadlines on a machine of any speed.
/// At most one may exist in a process. Create it before the objects whose time it controls, and destroy it after them.
class manual_clock {
 public:
  manual_clock() noexcept {
    monotonic_clock::manual_time.store(std::chrono::steady_clock::now().time_since_epoch().count(), std::memory_order_relaxed);
  }
  manual_clock(const manual_clock&) = delete;
  manual_clock& operator=(const manual_clock&) = delete;
  ~manual_clock() { monotonic_clock::manual_time.store(monotonic_clock::real_time, std::memory_order_relaxed); }

  /// Advances the clock. Waits that end by the new time wake within a few milliseconds of real time. Threads: any.
  void advance(monotonic_clock::duration amount) noexcept {
    monotonic_clock::manual_time.fetch_add(amount.count(), std::memory_order_relaxed);
  }
};

}  // namespace hondana::inline v0
