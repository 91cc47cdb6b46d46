/// An event loop: sockets, timers and jobs of one thread.
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

/// Is told that what it has waited for is there. It may die of that: nothing of it is touched when such a call returns.
class waiter {
 public:
  /// A descriptor can be read from or written to now, or has an error or an end that trying tells.
  virtual void ready(bool input, bool output);
  /// The time of a timer has come.
  virtual void due();

 protected:
  waiter() = default;
  waiter(const waiter&) = default;
  waiter& operator=(const waiter&) = default;
  ~waiter() = default;
};

/// Waits for descriptors, for times and for jobs of others, and calls for one after the other.
///
/// A turn: jobs posted before are run; timers whose time has come are told of; whoever waits for a descriptor that was ready is
/// told; and `at_end_of_telling` is called. So a job that was posted before a peer sent something is run before that is told
/// of, and what decides about requests can be posted. Threads: the one in `run`, but where it says otherwise; before `run`,
/// whoever made it. See epoll(7) and eventfd(2).
class reactor {
 public:
  /// Throws std::system_error when the process may open no more descriptors.
  reactor();
  reactor(const reactor&) = delete;
  reactor& operator=(const reactor&) = delete;
  ~reactor() = default;

  /// Has the thread run `what`, behind what was posted before. After the end of `run` nothing is done. Throws std::bad_alloc.
  /// Threads: any.
  void post(std::function<void()> what);
  /// Runs it at once if this is the thread, and posts it otherwise. Throws what it throws, or std::bad_alloc. Threads: any.
  void dispatch(std::function<void()> what);
  /// `what` is called in each turn in which the kernel has told of something, and again when it has thrown. To be said once,
  /// before `run`.
  void at_end_of_telling(std::function<void()> what) { at_end_of_telling_ = std::move(what); }

  /// Goes on until it is released, no `readiness` is open, no `timer` is set and no job is left. What a call throws comes out
  /// of here; the next `run` goes on behind that call.
  void run();
  /// Lets `run` end.
  void release() noexcept { is_released_ = true; }

 private:
  friend class readiness;
  friend class timer;
  using timetable = std::multimap<clock::time_point, timer*>;

  /// A descriptor, or room for one.
  struct place {
    waiter* who = nullptr;
    int descriptor = -1;
    std::uint32_t use = 0;     // how often the place was given away; what the kernel says of an earlier use is late
    std::uint32_t wanted = 0;  // of EPOLLIN and EPOLLOUT
    std::uint32_t armed = 0;   // what the kernel looks for: what was wanted, until it tells of what is not wanted any more
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
  std::vector<std::function<void()>> posted_;  // this and whether it has ended are guarded
  bool has_ended_ = false;
  std::atomic<bool> has_posted_{false};
  std::atomic<bool> is_awake_{true};  // or will be: whoever posts need not ring
};

/// Waits for a descriptor, which is neither owned nor closed here. Nothing is waited for before `open`. Threads: the reactor's,
/// but for making it, and for the end of one that is not open.
class readiness {
 public:
  explicit readiness(reactor& by) noexcept : by_(by) {}
  readiness(const readiness&) = delete;
  readiness& operator=(const readiness&) = delete;
  ~readiness() { close(); }

  /// `who` is told, and has to be there until `close`. Throws std::bad_alloc.
  void open(int descriptor, waiter& who);
  /// Nobody is told any more. To be called before the descriptor is closed. Harmless when repeated.
  void close() noexcept;

  /// `waiter::ready`, once, when there is something to read; asked for again and again it costs no system call. Throws
  /// std::system_error.
  void await_input() { by_.want(place_, EPOLLIN); }
  /// The same, when something can be written.
  void await_output() { by_.want(place_, EPOLLOUT); }

 private:
  static constexpr std::size_t none = ~std::size_t{0};
  reactor& by_;
  std::size_t place_ = none;
};

/// Waits for a time. Threads: as `readiness`.
class timer {
 public:
  timer(reactor& by, waiter& who) noexcept : by_(by), who_(who) {}
  timer(const timer&) = delete;
  timer& operator=(const timer&) = delete;
  ~timer() { cancel(); }

  /// `waiter::due`, once, at `when` and no more at any time told of before. Throws std::bad_alloc.
  void set(clock::time_point when);
  /// Harmless when nothing is waited for.
  void cancel() noexcept;

 private:
  friend class reactor;
  reactor& by_;
  waiter& who_;
  reactor::timetable::iterator place_{};
  bool is_set_ = false;
};

}  // namespace hondana::reactor
