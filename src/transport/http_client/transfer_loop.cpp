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
constexpr long max_idle_connections = 32;
/// Longest sleep without timers; libcurl and `post` wake the loop earlier.
constexpr std::chrono::milliseconds max_sleep{60'000};

}  // namespace

result<std::unique_ptr<transfer_loop>> transfer_loop::start() {
  HONDANA_TRY(auto multi, make_multi_handle());
  curl().multi_setopt(multi.get(), CURLMOPT_MAXCONNECTS, max_idle_connections);
  std::unique_ptr<transfer_loop> out(new transfer_loop(std::move(multi)));
  try {
    const executor::signal_blocker blocked;
    out->thread_ = std::thread([loop = out.get()] { loop->run(); });
  } catch (const std::system_error& error) {
    return fail(errc::source_unavailable, "cannot start a thread for HTTP; stop other work first", error.what());
  }
  return out;
}

transfer_loop::~transfer_loop() { stop(); }

bool transfer_loop::post(task work) {
  {
    const std::lock_guard lock(mutex_);
    if (is_stopping_) return false;
    posted_.push_back(std::move(work));
    if (posted_.size() > 1) return true;  // already woken
  }
  curl().multi_wakeup(multi_.get());
  return true;
}

void transfer_loop::stop() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  curl().multi_wakeup(multi_.get());
  if (thread_.joinable()) thread_.join();
}

bool transfer_loop::add(CURL* handle, transfer_listener& listener) {
  if (curl().multi_add_handle(multi_.get(), handle) != CURLM_OK) return false;
  transfers_.emplace(handle, &listener);
  return true;
}

void transfer_loop::remove(CURL* handle) {
  if (transfers_.erase(handle) > 0) curl().multi_remove_handle(multi_.get(), handle);
}

transfer_loop::timer transfer_loop::schedule_at(clock::time_point time, task work) {
  const timer id{time, ++last_timer_};
  timers_.emplace(id, std::move(work));
  return id;
}

void transfer_loop::run() {
  for (;;) {
    run_posted();
    {
      const std::lock_guard lock(mutex_);
      if (is_stopping_ && posted_.empty()) break;
    }
    run_due_timers();
    int running = 0;
    curl().multi_perform(multi_.get(), &running);
    report_finished();
    curl().multi_poll(multi_.get(), nullptr, 0, monotonic_clock::poll_timeout(next_timeout()), nullptr);
  }
  timers_.clear();
  while (!transfers_.empty()) remove(transfers_.begin()->first);
}

void transfer_loop::run_posted() {
  std::vector<task> tasks;
  {
    const std::lock_guard lock(mutex_);
    tasks.swap(posted_);
  }
  for (const auto& work : tasks) executor::run_noexcept(work);
}

void transfer_loop::run_due_timers() {
  const auto now = clock::now();
  while (!timers_.empty() && timers_.begin()->first.first <= now) {
    const auto due = timers_.extract(timers_.begin());
    executor::run_noexcept(due.mapped());
  }
}

void transfer_loop::report_finished() {
  int queued = 0;
  while (const auto* completion = curl().multi_info_read(multi_.get(), &queued)) {
    if (completion->msg != CURLMSG_DONE) continue;
    CURL* const handle = completion->easy_handle;
    const auto code = completion->data.result;
    const auto match = transfers_.find(handle);
    if (match == transfers_.end()) continue;
    auto* const listener = match->second;
    remove(handle);
    executor::run_noexcept([&] { listener->on_done(code); });
  }
}

int transfer_loop::next_timeout() const {
  // A transfer that was started in `on_done` needs no case here: libcurl's own timer wakes the poll.
  if (timers_.empty()) return static_cast<int>(max_sleep.count());
  const auto remaining = std::chrono::ceil<std::chrono::milliseconds>(timers_.begin()->first.first - clock::now());
  return static_cast<int>(std::clamp(remaining, std::chrono::milliseconds(0), max_sleep).count());
}

}  // namespace hondana::transport::http_client
