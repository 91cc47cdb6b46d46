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
  std::multimap<clock::time_point, std::pair<id, std::function<void()>>> due;
  std::unordered_map<id, decltype(due)::iterator> by_id;
  id last_id = 0;
  /// When the thread wakes up. A timer that is due earlier must notify it.
  clock::time_point sleeps_until = clock::time_point::min();
  bool stopping = false;
  std::thread thread;

  void run() {
    std::unique_lock lock(mutex);
    while (!stopping) {
      if (due.empty()) {
        sleep(lock, clock::time_point::max());
        continue;
      }
      const auto next = due.begin();
      if (clock::now() < next->first) {
        sleep(lock, next->first);
        continue;
      }
      auto call = std::move(next->second.second);
      by_id.erase(next->second.first);
      due.erase(next);
      lock.unlock();
      // If the function throws, destroying it sends a prepared error to the request that it would have answered.
      without_throwing(call);
      call = nullptr;
      lock.lock();
    }
  }

  void sleep(std::unique_lock<std::mutex>& lock, clock::time_point until) {
    sleeps_until = until;
    if (until == clock::time_point::max()) {
      changed.wait(lock);
    } else {
      monotonic_clock::wait_until(changed, lock, until);
    }
    sleeps_until = clock::time_point::min();
  }
};

timers::timers() : state_(std::make_shared<state>()) {}

timers::~timers() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->stopping = true;
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

timers::id timers::at(clock::time_point when, std::function<void()> call) {
  auto& s = *state_;
  const std::lock_guard lock(s.mutex);
  if (!s.thread.joinable()) s.thread = std::thread([state = state_] { state->run(); });
  const auto timer = ++s.last_id;
  const auto place = s.due.emplace(when, std::pair{timer, std::move(call)});
  s.by_id.emplace(timer, place);
  if (when < s.sleeps_until) s.changed.notify_one();
  return timer;
}

void timers::cancel(id timer) {
  auto& s = *state_;
  std::function<void()> forgotten;
  const std::lock_guard lock(s.mutex);
  const auto place = s.by_id.find(timer);
  if (place == s.by_id.end()) return;
  forgotten = std::move(place->second->second.second);
  s.due.erase(place->second);
  s.by_id.erase(place);
}

}  // namespace hondana::executor
