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

/// Receives the events of a `readiness` or a `timer`. The default implementations do nothing.
/// A callback may destroy this object: the event loop does not access it afterwards.
class event_handler {
 public:
  /// The descriptor is readable (`input`) or writable (`output`), as far as requested. Also called if it has an error or has
  /// ended, which reading or writing then returns.
  virtual void on_ready(bool input, bool output);
  /// A timer of this handler is due.
  virtual void on_timer();

 protected:
  event_handler() = default;
  event_handler(const event_handler&) = default;
  event_handler& operator=(const event_handler&) = default;
  ~event_handler() = default;
};

/// An event loop: waits for descriptors, timers and jobs, and runs their callbacks one after the other.
///
/// Each iteration runs posted jobs, then due timers, then the callbacks of ready descriptors, then the callback for the end of
/// the iteration. A job that was posted before a peer sent data therefore runs before the data is handled.
/// Threads: the one in `run`, unless stated otherwise; before `run`, the thread that created it. See epoll(7) and eventfd(2).
class reactor {
 public:
  /// Throws std::system_error if the process cannot open more descriptors.
  reactor();
  reactor(const reactor&) = delete;
  reactor& operator=(const reactor&) = delete;
  ~reactor() = default;

  /// Queues `job` to run on the thread of `run` after earlier jobs. After `run` has returned, the job is dropped.
  /// Throws std::bad_alloc. Threads: any.
  void post(std::function<void()> job);
  /// Runs `job` immediately if called on the thread of `run`, otherwise posts it.
  /// Throws what `job` throws, or std::bad_alloc. Threads: any.
  void dispatch(std::function<void()> job);
  /// Sets a callback for the end of each iteration in which descriptors were ready or a job woke up the loop.
  /// Call it at most once, before `run`. If the callback throws, the next `run` calls it again.
  void on_iteration_end(std::function<void()> callback) { on_iteration_end_ = std::move(callback); }

  /// Runs the loop until `release` was called, no `readiness` is open, no `timer` is set and no job is left.
  /// If a callback throws, passes on the exception. Call `run` again to continue after that callback.
  /// Throws std::system_error if the kernel rejects a call.
  void run();
  /// Allows `run` to end. Threads: as for the class; another thread must post it.
  void release() noexcept { is_released_ = true; }

 private:
  friend class readiness;
  friend class timer;
  using timer_queue = std::multimap<clock::time_point, timer*>;

  /// A registered descriptor, or a free entry.
  struct registration {
    event_handler* handler = nullptr;
    int descriptor = -1;
    std::uint32_t generation = 0;  // number of uses of this entry; kernel events of earlier uses are ignored
    std::uint32_t interest = 0;    // events that the handler requested: EPOLLIN and EPOLLOUT
    std::uint32_t armed = 0;       // events registered with the kernel: `interest`, and earlier ones until they occur
  };

  [[nodiscard]] std::size_t register_descriptor(int descriptor, event_handler& handler);
  void unregister(std::size_t index) noexcept;
  void request_events(std::size_t index, std::uint32_t events);
  void arm(std::size_t index, std::uint32_t events);
  void dispatch_event(const epoll_event& event);
  void dispatch_events();
  void run_jobs();
  void run_timers();
  void wait();
  void finish();
  [[nodiscard]] bool is_idle() const noexcept;

  const disk::handle epoll_;
  const disk::handle wakeup_;
  std::vector<registration> registrations_;
  std::vector<std::size_t> free_indices_;
  std::size_t registered_count_ = 0;
  timer_queue timers_;
  std::function<void()> on_iteration_end_;
  std::array<epoll_event, 128> events_{};
  std::size_t next_event_ = 0;
  std::size_t event_count_ = 0;
  bool has_events_ = false;
  std::vector<std::function<void()>> jobs_;
  std::size_t next_job_ = 0;
  bool is_released_ = false;
  std::atomic<std::thread::id> thread_{};

  std::mutex posted_mutex_;
  std::vector<std::function<void()>> posted_;  // the mutex guards `posted_` and `is_finished_`
  bool is_finished_ = false;
  std::atomic<bool> has_posted_{false};
  std::atomic<bool> is_awake_{true};  // or about to wake up: `post` need not notify it
};

/// Waits until a descriptor is readable or writable. Does not own the descriptor.
/// Threads: the event loop's. Any thread may construct a `readiness`, and destroy one that is not open.
class readiness {
 public:
  explicit readiness(reactor& event_loop) noexcept : event_loop_(event_loop) {}
  readiness(const readiness&) = delete;
  readiness& operator=(const readiness&) = delete;
  ~readiness() { close(); }

  /// Begins to wait for `descriptor`. Must not be open already. Throws std::bad_alloc.
  /// `handler` receives the events that are requested below. It must exist until `close`.
  void open(int descriptor, event_handler& handler);
  /// Stops all callbacks. Call it before the descriptor is closed. Does nothing if it is not open.
  void close() noexcept;

  /// Requests one call of `event_handler::on_ready` when the descriptor is readable. Must be open. Throws std::system_error.
  /// Repeated requests cost no system call.
  void await_input() { event_loop_.request_events(index_, EPOLLIN); }
  /// Like `await_input`, when the descriptor is writable.
  void await_output() { event_loop_.request_events(index_, EPOLLOUT); }

 private:
  static constexpr std::size_t unregistered = ~std::size_t{0};
  reactor& event_loop_;
  std::size_t index_ = unregistered;
};

/// Waits for a point in time. Threads: as `readiness`.
class timer {
 public:
  timer(reactor& event_loop, event_handler& handler) noexcept : event_loop_(event_loop), handler_(handler) {}
  timer(const timer&) = delete;
  timer& operator=(const timer&) = delete;
  ~timer() { cancel(); }

  /// Requests one call of `event_handler::on_timer` at `due_at`, and cancels an earlier request. Throws std::bad_alloc.
  void set(clock::time_point due_at);
  /// Does nothing if the timer is not set.
  void cancel() noexcept;

 private:
  friend class reactor;
  reactor& event_loop_;
  event_handler& handler_;
  reactor::timer_queue::iterator position_{};
  bool is_set_ = false;
};

}  // namespace hondana::reactor
