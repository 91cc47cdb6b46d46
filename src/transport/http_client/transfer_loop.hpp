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

/// Hears that a transfer has ended. Threads: the loop's.
class transfer_end {
 public:
  transfer_end() = default;
  transfer_end(const transfer_end&) = delete;
  transfer_end& operator=(const transfer_end&) = delete;
  virtual ~transfer_end() = default;
  /// The handle is out of the loop.
  virtual void done(CURLcode how) = 0;
};

/// A `curl_multi` with its own thread, which goes on after an exception of a task or of `transfer_end::done`. All but `post`
/// and `stop`: the loop's thread only, and not inside libcurl's callbacks.
class loop {
 public:
  using task = std::function<void()>;
  using clock = monotonic_clock;
  using timer = std::pair<clock::time_point, std::uint64_t>;

  /// Errors: source_unavailable when libcurl or a thread cannot be had.
  [[nodiscard]] static result<std::unique_ptr<loop>> start();
  /// As `stop`.
  ~loop();
  loop(const loop&) = delete;
  loop& operator=(const loop&) = delete;

  /// Runs `what` on the thread, in the order of the calls. False, and then it never runs, after `stop`. Threads: any.
  bool post(task what);
  /// Runs what has been posted, then drops transfers and timers unheard, and ends the thread. Threads: any but the loop's.
  void stop();

  /// Begins a transfer. False when libcurl does not take it; then `end` is not told.
  [[nodiscard]] bool add(CURL* handle, transfer_end& end);
  /// Ends one unheard. Harmless when it has ended.
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

/// Makes libcurl ready, once a process. False when it cannot be.
[[nodiscard]] bool has_curl();

}  // namespace hondana::transport::http_client
