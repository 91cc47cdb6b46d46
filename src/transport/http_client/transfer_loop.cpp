/// One thread that runs HTTP transfers, timers and short tasks.
#include "transport/http_client/transfer_loop.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include <hondana/clock.hpp>

#include "base/executor/thread_guards.hpp"

namespace hondana::transport::http_client {
namespace {

/// Number of idle connections to keep.
constexpr long kept_connections = 32;
/// Longest sleep without timers; libcurl and `post` wake the loop earlier.
constexpr std::chrono::milliseconds longest_sleep{60'000};

}  // namespace

bool has_curl() {
  // Never undone, because other parts of the process may use libcurl as well.
  static const bool is_ready = loaded_curl() && curl().global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
  return is_ready;
}

result<std::unique_ptr<loop>> loop::start() {
  HONDANA_TRY(loaded_curl());
  CURLM* multi = has_curl() ? curl().multi_init() : nullptr;
  if (multi == nullptr) return fail(errc::source_unavailable, "libcurl cannot be started: out of memory or file descriptors");
  std::unique_ptr<loop> out(new loop(multi));
  curl().multi_setopt(multi, CURLMOPT_MAXCONNECTS, kept_connections);
  try {
    const executor::signals_blocked blocked;
    out->thread_ = std::thread([it = out.get()] { it->run(); });
  } catch (const std::system_error& error) {
    return fail(errc::source_unavailable, "cannot start a thread for HTTP; stop other work first", error.what());
  }
  return out;
}

loop::~loop() {
  stop();
  curl().multi_cleanup(multi_);
}

bool loop::post(task what) {
  {
    const std::lock_guard lock(mutex_);
    if (is_stopping_) return false;
    posted_.push_back(std::move(what));
    if (posted_.size() > 1) return true;  // already woken
  }
  curl().multi_wakeup(multi_);
  return true;
}

void loop::stop() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  curl().multi_wakeup(multi_);
  if (thread_.joinable()) thread_.join();
}

bool loop::add(CURL* handle, transfer_end& end) {
  if (curl().multi_add_handle(multi_, handle) != CURLM_OK) return false;
  transfers_.emplace(handle, &end);
  return true;
}

void loop::remove(CURL* handle) {
  if (transfers_.erase(handle) > 0) curl().multi_remove_handle(multi_, handle);
}

loop::timer loop::at(clock::time_point when, task what) {
  const timer name{when, ++last_timer_};
  timers_.emplace(name, std::move(what));
  return name;
}

void loop::run() {
  for (;;) {
    run_posted();
    {
      const std::lock_guard lock(mutex_);
      if (is_stopping_ && posted_.empty()) break;
    }
    run_due();
    int running = 0;
    curl().multi_perform(multi_, &running);
    tell_of_ends();
    curl().multi_poll(multi_, nullptr, 0, monotonic_clock::poll_timeout(pause()), nullptr);
  }
  timers_.clear();
  while (!transfers_.empty()) remove(transfers_.begin()->first);
}

void loop::run_posted() {
  std::vector<task> now;
  {
    const std::lock_guard lock(mutex_);
    now.swap(posted_);
  }
  for (const auto& one : now) executor::without_throwing(one);
}

void loop::run_due() {
  const auto now = clock::now();
  while (!timers_.empty() && timers_.begin()->first.first <= now) {
    const auto one = timers_.extract(timers_.begin());
    executor::without_throwing(one.mapped());
  }
}

void loop::tell_of_ends() {
  int left = 0;
  while (const auto* message = curl().multi_info_read(multi_, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    CURL* const handle = message->easy_handle;
    const auto how = message->data.result;
    const auto found = transfers_.find(handle);
    if (found == transfers_.end()) continue;
    auto* const end = found->second;
    remove(handle);
    executor::without_throwing([&] { end->done(how); });
  }
}

int loop::pause() const {
  // A transfer that was started in `done` needs no case here: libcurl's own timer wakes the poll.
  if (timers_.empty()) return static_cast<int>(longest_sleep.count());
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(timers_.begin()->first.first - clock::now());
  return static_cast<int>(std::clamp(left, std::chrono::milliseconds(0), longest_sleep).count());
}

}  // namespace hondana::transport::http_client
