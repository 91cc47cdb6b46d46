/// Calls functions at given times, for deadlines.
#include "base/executor/timers.hpp"

#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>

#include <hondana/clock.hpp>

#include "base/executor/thread_guards.hpp"

namespace hondana::executor {

struct timers::state {
  std::mutex mutex;
  std::condition_variable changed;
  std::multimap<clock::time_point, std::pair<id, std::function<void()>>> pending;
  std::unordered_map<id, decltype(pending)::iterator> by_id;
  id last_id = 0;
  /// When the thread wakes up. A timer that is due earlier must notify it.
  clock::time_point wakes_at = clock::time_point::min();
  bool is_stopping = false;
  std::thread thread;

  void run() {
    std::unique_lock lock(mutex);
    while (!is_stopping) {
      if (pending.empty()) {
        wait_until_due(lock, clock::time_point::max());
        continue;
      }
      const auto next = pending.begin();
      if (clock::now() < next->first) {
        wait_until_due(lock, next->first);
        continue;
      }
      auto callback = std::move(next->second.second);
      by_id.erase(next->second.first);
      pending.erase(next);
      lock.unlock();
      // If the function throws, destroying it sends a prepared error to the request that it would have answered.
      run_noexcept(callback);
      callback = nullptr;
      lock.lock();
    }
  }

  void wait_until_due(std::unique_lock<std::mutex>& lock, clock::time_point wake_at) {
    wakes_at = wake_at;
    if (wake_at == clock::time_point::max()) {
      changed.wait(lock);
    } else {
      monotonic_clock::wait_until(changed, lock, wake_at);
    }
    wakes_at = clock::time_point::min();
  }
};

timers::timers() : state_(std::make_shared<state>()) {}

timers::~timers() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->is_stopping = true;
  }
  state_->changed.notify_all();
  if (!state_->thread.joinable()) return;
  // The function of a timer may own the last reference to an object that owns the timers.
  if (state_->thread.get_id() == std::this_thread::get_id()) {
    state_->thread.detach();
  } else {
    state_->thread.join();
  }
}

timers::id timers::schedule(clock::time_point due_at, std::function<void()> callback) {
  auto& s = *state_;
  const std::lock_guard lock(s.mutex);
  if (!s.thread.joinable()) s.thread = std::thread([state = state_] { state->run(); });
  const auto timer = ++s.last_id;
  const auto entry = s.pending.emplace(due_at, std::pair{timer, std::move(callback)});
  s.by_id.emplace(timer, entry);
  if (due_at < s.wakes_at) s.changed.notify_one();
  return timer;
}

void timers::cancel(id timer) {
  auto& s = *state_;
  std::function<void()> cancelled;
  const std::lock_guard lock(s.mutex);
  const auto entry = s.by_id.find(timer);
  if (entry == s.by_id.end()) return;
  cancelled = std::move(entry->second->second.second);
  s.pending.erase(entry->second);
  s.by_id.erase(entry);
}

}  // namespace hondana::executor
