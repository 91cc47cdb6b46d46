/// Bounded pools: the queue, the threads and the account of what is stuck.
#include "work/pool.hpp"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace hondana::work {

result<void> inline_lane::submit(task job, clock::time_point) {
  job();
  return {};
}

struct pool::state {
  struct waiting {
    task job;
    clock::time_point deadline;
  };

  std::string name;
  std::size_t thread_limit;
  std::size_t queue_limit;

  std::mutex mutex;
  std::condition_variable work_arrived;
  std::condition_variable thread_left;
  std::deque<waiting> queue;
  std::vector<clock::time_point> running;  // deadlines of the jobs under way
  std::size_t threads = 0;
  std::size_t idle = 0;
  bool closed = false;

  void run() {
    std::unique_lock lock(mutex);
    for (;;) {
      ++idle;
      work_arrived.wait(lock, [this] { return closed || !queue.empty(); });
      --idle;
      if (closed) break;
      auto next = std::move(queue.front());
      queue.pop_front();
      running.push_back(next.deadline);
      lock.unlock();
      next.job();
      next.job = nullptr;  // what the job owns dies before it stops counting as running
      lock.lock();
      running.erase(std::find(running.begin(), running.end(), next.deadline));
    }
    --threads;
    thread_left.notify_all();
  }
};

pool::pool(std::string name, std::size_t threads, std::size_t queue_limit) : state_(std::make_shared<state>()) {
  state_->name = std::move(name);
  state_->thread_limit = std::max<std::size_t>(threads, 1);
  state_->queue_limit = queue_limit;
}

pool::~pool() { close(clock::now()); }

result<void> pool::submit(task job, clock::time_point deadline) {
  auto& s = *state_;
  std::unique_lock lock(s.mutex);
  if (s.closed) return fail(errc::source_unavailable, "The source \"" + s.name + "\" is shutting down.");
  const auto now = clock::now();
  const auto is_stuck = [now](clock::time_point due) { return due < now; };
  if (s.running.size() == s.thread_limit && std::all_of(s.running.begin(), s.running.end(), is_stuck)) {
    return fail(errc::source_unavailable, "The source \"" + s.name +
                                              "\" does not answer: all its threads are stuck in calls past their deadline. "
                                              "Check the disk, network or program behind it.");
  }
  if (s.queue.size() >= s.queue_limit) {
    return fail(errc::overloaded, "The source \"" + s.name + "\" has " + std::to_string(s.queue.size()) +
                                      " requests waiting already. Ask again later.");
  }
  if (s.idle <= s.queue.size() && s.threads < s.thread_limit) {
    try {
      std::thread([state = state_] { state->run(); }).detach();
      ++s.threads;
    } catch (const std::system_error& error) {
      if (s.threads == 0) {
        return fail(errc::overloaded, "The source \"" + s.name + "\" cannot start a thread. Ask again later.", error.what());
      }
    }
  }
  s.queue.push_back({std::move(job), deadline});
  lock.unlock();
  s.work_arrived.notify_one();
  return {};
}

bool pool::close(clock::time_point until) {
  auto& s = *state_;
  std::deque<state::waiting> dropped;
  std::unique_lock lock(s.mutex);
  s.closed = true;
  dropped.swap(s.queue);
  s.work_arrived.notify_all();
  const bool all_left = s.thread_left.wait_until(lock, until, [&s] { return s.threads == 0; });
  lock.unlock();
  return all_left;
}

}  // namespace hondana::work
