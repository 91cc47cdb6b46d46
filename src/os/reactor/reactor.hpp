/// An event loop for one thread: descriptors, timers and jobs.
#pragma once

#include <sys/epoll.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <hondana/clock.hpp>

#include "os/disk/file_descriptor.hpp"

namespace hondana::reactor {

using clock = monotonic_clock;

class timer;

/// Receives events of a `readiness` or a `timer`. A callback may destroy this object: the event loop does not access it
/// afterwards.
class waiter {
 public:
  /// The descriptor is readable or writable, or has an error or end that reading or writing returns.
  virtual void ready(bool input, bool output);
  /// A timer is due.
  virtual void due();

 protected:
  waiter() = default;
  waiter(const waiter&) = default;
  waiter& operator=(const waiter&) = default;
  ~waiter() = default;
};

/// An event loop: waits for descriptors, timers and jobs, and runs their callbacks one after the other.
///
/// Each iteration runs posted jobs, then due timers, then the callbacks of ready descriptors, then `at_end_of_telling`. A job
/// that was posted before a peer sent data therefore runs before the data is handled. Code can post changes that affect how
/// requests are decided.
/// Threads: the one in `run`, unless stated otherwise; before `run`, the thread that created it. See epoll(7) and eventfd(2).
class reactor {
 public:
  /// Throws std::system_error when the process cannot open more descriptors.
  reactor();
  reactor(const reactor&) = delete;
  reactor& operator=(const reactor&) = delete;
  ~reactor() = default;

  /// Queues `what` to run on the event loop after earlier jobs. After the end of `run`, the job is dropped.
  /// Throws std::bad_alloc. Threads: any.
  void post(std::function<void()> what);
  /// Runs `what` immediately if called on the event loop's thread, otherwise posts it. Throws what `what` throws, or
  /// std::bad_alloc. Threads: any.
  void dispatch(std::function<void()> what);
  /// Sets a callback for the end of each iteration with kernel events. If it throws, it is called again.
  /// Set it once, before `run`.
  void at_end_of_telling(std::function<void()> what) { at_end_of_telling_ = std::move(what); }

  /// Runs the loop until it is released, no `readiness` is open, no `timer` is set and no job is left.
  /// Exceptions of callbacks leave this function. Another `run` continues after that callback.
  void run();
  /// Allows `run` to end.
  void release() noexcept { is_released_ = true; }

 private:
  friend class readiness;
  friend class timer;
  using timetable = std::multimap<clock::time_point, timer*>;

  /// A registered descriptor, or a free entry.
  struct place {
    waiter* who = nullptr;
    int descriptor = -1;
    std::uint32_t use = 0;     // number of uses of this entry; identifies kernel events of an earlier use, which are ignored
    std::uint32_t wanted = 0;  // events that the waiter expects: EPOLLIN and EPOLLOUT
    std::uint32_t armed = 0;   // events registered with the kernel: `wanted`, and earlier ones until they occur
  };

  [[nodiscard]] std::size_t take_place(int descriptor, waiter& who);
  void leave_place(std::size_t at) noexcept;
  void want(std::size_t at, std::uint32_t what);
  void arm(std::size_t at, std::uint32_t what);
  void tell(const epoll_event& of);
  void tell_all();
  void run_jobs();
  void tell_times();
  void wait();
  void end();
  [[nodiscard]] bool is_idle() const noexcept;

  const disk::handle epoll_;
  const disk::handle bell_;
  std::vector<place> places_;
  std::vector<std::size_t> free_places_;
  std::size_t used_places_ = 0;
  timetable times_;
  std::function<void()> at_end_of_telling_;
  std::array<epoll_event, 128> told_{};
  std::size_t next_told_ = 0;
  std::size_t all_told_ = 0;
  bool is_telling_ = false;
  std::vector<std::function<void()>> running_;
  std::size_t next_running_ = 0;
  bool is_released_ = false;
  std::atomic<std::thread::id> thread_{};

  std::mutex posting_;
  std::vector<std::function<void()>> posted_;  // the mutex guards `posted_` and `has_ended_`
  bool has_ended_ = false;
  std::atomic<bool> has_posted_{false};
  std::atomic<bool> is_awake_{true};  // or about to wake up: `post` need not notify it
};

/// Waits for a descriptor, which it neither owns nor closes. Inactive until `open`.
/// Threads: the event loop's, except for construction and for the destruction of a closed one.
class readiness {
 public:
  explicit readiness(reactor& by) noexcept : by_(by) {}
  readiness(const readiness&) = delete;
  readiness& operator=(const readiness&) = delete;
  ~readiness() { close(); }

  /// `who` receives the events and must exist until `close`. Throws std::bad_alloc.
  void open(int descriptor, waiter& who);
  /// Stops all callbacks. Call it before the descriptor is closed. Repeated calls have no effect.
  void close() noexcept;

  /// Requests one call of `waiter::ready` when the descriptor is readable. Repeated requests cost no system call.
  /// Throws std::system_error.
  void await_input() { by_.want(place_, EPOLLIN); }
  /// The same for writing.
  void await_output() { by_.want(place_, EPOLLOUT); }

 private:
  static constexpr std::size_t none = ~std::size_t{0};
  reactor& by_;
  std::size_t place_ = none;
};

/// Waits for a point in time. Threads: as `readiness`.
class timer {
 public:
  timer(reactor& by, waiter& who) noexcept : by_(by), who_(who) {}
  timer(const timer&) = delete;
  timer& operator=(const timer&) = delete;
  ~timer() { cancel(); }

  /// Requests one call of `waiter::due` at `when`, and cancels an earlier request. Throws std::bad_alloc.
  void set(clock::time_point when);
  /// Has no effect when the timer is not set.
  void cancel() noexcept;

 private:
  friend class reactor;
  reactor& by_;
  waiter& who_;
  reactor::timetable::iterator place_{};
  bool is_set_ = false;
};

}  // namespace hondana::reactor
