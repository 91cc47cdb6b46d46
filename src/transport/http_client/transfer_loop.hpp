/// One thread that runs HTTP transfers, timers and short tasks.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include <hondana/clock.hpp>
#include <hondana/error.hpp>

#include "transport/http_client/curl.hpp"

namespace hondana::transport::http_client {

/// Is notified of the end of a transfer. Threads: the loop's.
class transfer_listener {
 public:
  transfer_listener() = default;
  transfer_listener(const transfer_listener&) = delete;
  transfer_listener& operator=(const transfer_listener&) = delete;
  virtual ~transfer_listener() = default;
  /// Called once, after the transfer's handle has been removed from the loop.
  virtual void on_done(CURLcode code) = 0;
};

/// Runs libcurl transfers, timers and tasks on one thread, which survives exceptions of tasks and of
/// `transfer_listener::on_done`. Threads: `post` and `stop` as noted; all others only on the loop's thread, and not inside
/// libcurl's callbacks.
class transfer_loop {
 public:
  using task = std::function<void()>;
  using clock = monotonic_clock;
  /// Identifies a scheduled task.
  using timer = std::pair<clock::time_point, std::uint64_t>;

  /// Makes a loop and starts its thread. Errors: source_unavailable if libcurl or a thread is not available.
  [[nodiscard]] static result<std::unique_ptr<transfer_loop>> start();
  /// Calls `stop`.
  ~transfer_loop();
  transfer_loop(const transfer_loop&) = delete;
  transfer_loop& operator=(const transfer_loop&) = delete;

  /// Runs `work` later on the loop's thread, in the order of the calls. Returns false after `stop`; `work` then never runs.
  /// Threads: any.
  bool post(task work);
  /// Runs the posted tasks, drops transfers and timers without callbacks, and waits for the end of the thread. Threads: any
  /// except the loop's.
  void stop();

  /// Starts a transfer. Returns false if libcurl rejects it; `listener` is then not called. The handle and `listener` must live
  /// until `on_done` or `remove`.
  [[nodiscard]] bool add(CURL* handle, transfer_listener& listener);
  /// Ends a transfer without a callback. Does nothing if it has ended.
  void remove(CURL* handle);
  /// Runs `work` at `time`, unless the result is passed to `cancel` before.
  timer schedule_at(clock::time_point time, task work);
  timer schedule_after(std::chrono::milliseconds delay, task work) {
    return schedule_at(clock::now() + delay, std::move(work));
  }
  void cancel(const timer& id) { timers_.erase(id); }

 private:
  explicit transfer_loop(multi_handle multi) noexcept : multi_(std::move(multi)) {}
  void run();
  void run_posted();
  void run_due_timers();
  void report_finished();
  [[nodiscard]] int next_timeout() const;

  multi_handle multi_;
  std::map<timer, task> timers_;
  std::uint64_t last_timer_ = 0;
  std::unordered_map<CURL*, transfer_listener*> transfers_;
  std::mutex mutex_;
  std::vector<task> posted_;  // guarded by mutex_
  bool is_stopping_ = false;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace hondana::transport::http_client
