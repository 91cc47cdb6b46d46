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

/// Reports the end of a transfer. Threads: the loop's.
class transfer_end {
 public:
  transfer_end() = default;
  transfer_end(const transfer_end&) = delete;
  transfer_end& operator=(const transfer_end&) = delete;
  virtual ~transfer_end() = default;
  /// The handle has been removed from the loop.
  virtual void done(CURLcode how) = 0;
};

/// A `curl_multi` with its own thread, which survives exceptions of tasks and of `transfer_end::done`. Threads: `post` and
/// `stop` as noted; all others only on the loop's thread, and not inside libcurl's callbacks.
class loop {
 public:
  using task = std::function<void()>;
  using clock = monotonic_clock;
  using timer = std::pair<clock::time_point, std::uint64_t>;

  /// Errors: source_unavailable if libcurl or a thread is not available.
  [[nodiscard]] static result<std::unique_ptr<loop>> start();
  /// See `stop`.
  ~loop();
  loop(const loop&) = delete;
  loop& operator=(const loop&) = delete;

  /// Runs `what` on the loop's thread, in the order of the calls. Returns false after `stop`; then it never runs. Threads: any.
  bool post(task what);
  /// Runs the posted tasks, drops transfers and timers without callbacks, and ends the thread. Threads: any except the loop's.
  void stop();

  /// Starts a transfer. Returns false if libcurl rejects it; then `end` is not called.
  [[nodiscard]] bool add(CURL* handle, transfer_end& end);
  /// Ends a transfer without a callback. Does nothing if it has ended.
  void remove(CURL* handle);
  timer at(clock::time_point when, task what);
  timer after(std::chrono::milliseconds pause, task what) { return at(clock::now() + pause, std::move(what)); }
  void cancel(const timer& which) { timers_.erase(which); }

 private:
  explicit loop(CURLM* multi) noexcept : multi_(multi) {}
  void run();
  void run_posted();
  void run_due();
  void tell_of_ends();
  [[nodiscard]] int pause() const;

  CURLM* multi_;
  std::map<timer, task> timers_;
  std::uint64_t last_timer_ = 0;
  std::unordered_map<CURL*, transfer_end*> transfers_;
  std::mutex mutex_;
  std::vector<task> posted_;  // guarded by mutex_
  bool is_stopping_ = false;  // guarded by mutex_
  std::thread thread_;
};

/// Initializes libcurl once in the process. False if that fails.
[[nodiscard]] bool has_curl();

}  // namespace hondana::transport::http_client
