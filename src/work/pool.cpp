/// Bounded pools: two queues, the threads and the account of what is stuck.
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

result<void> inline_lane::submit(task job, clock::time_point, urgency) {
  job();
  return {};
}

namespace {

struct waiting_job {
  task job;
  clock::time_point deadline;
};

/// Threads of one sort; guarded by the pool's mutex.
struct crew {
  std::size_t limit;
  std::size_t threads = 0;
  std::size_t idle = 0;
  std::vector<clock::time_point> running{};  // deadlines of the jobs under way

  [[nodiscard]] bool is_stuck(clock::time_point now) const {
    return running.size() == limit &&
           std::all_of(running.begin(), running.end(), [now](clock::time_point due) { return due < now; });
  }
};

}  // namespace

struct pool::state {
  std::string name;
  std::size_t queue_limit;

  std::mutex mutex;
  std::condition_variable work_arrived;
  std::condition_variable thread_left;
  std::deque<waiting_job> requests;
  std::deque<waiting_job> continuations;
  crew general{1};     // runs whatever waits, continuations first
  crew continuing{1};  // runs continuations only
  bool closed = false;

  std::deque<waiting_job>* next_for(const crew& who) {
    if (!continuations.empty()) return &continuations;
    return &who == &general && !requests.empty() ? &requests : nullptr;
  }

  void run(crew& as) {
    std::unique_lock lock(mutex);
    for (;;) {
      ++as.idle;
      work_arrived.wait(lock, [&] { return closed || next_for(as) != nullptr; });
      --as.idle;
      if (closed) break;
      auto* queue = next_for(as);
      auto next = std::move(queue->front());
      queue->pop_front();
      as.running.push_back(next.deadline);
      lock.unlock();
      next.job();
      next.job = nullptr;  // what the job owns dies before it stops counting as running
      lock.lock();
      as.running.erase(std::find(as.running.begin(), as.running.end(), next.deadline));
    }
    --as.threads;
    thread_left.notify_all();
  }

  /// Starts a thread when none is free for one more waiting job. False when there is no thread at all and none can be had.
  static bool man(const std::shared_ptr<state>& self, crew& who, std::size_t waiting) {
    if (who.idle > waiting || who.threads >= who.limit) return true;
    try {
      std::thread([self, &who] { self->run(who); }).detach();
    } catch (const std::system_error&) {
      return who.threads != 0;
    }
    ++who.threads;
    return true;
  }
};

pool::pool(std::string name, std::size_t threads, std::size_t queue_limit) : state_(std::make_shared<state>()) {
  state_->name = std::move(name);
  state_->general.limit = std::max<std::size_t>(threads, 1);
  state_->queue_limit = queue_limit;
}

pool::~pool() { close(clock::now()); }

result<void> pool::submit(task job, clock::time_point deadline, urgency how) {
  auto& s = *state_;
  std::unique_lock lock(s.mutex);
  if (s.closed) return fail(errc::source_unavailable, "The source \"" + s.name + "\" is shutting down.");
  const auto now = clock::now();
  const bool is_request = how == urgency::request;
  if (s.general.is_stuck(now) && (is_request || s.continuing.is_stuck(now))) {
    return fail(errc::source_unavailable, "The source \"" + s.name +
                                              "\" does not answer: all its threads are stuck in calls past their deadline. "
                                              "Check the disk, network or program behind it.");
  }
  auto& queue = is_request ? s.requests : s.continuations;
  if (queue.size() >= s.queue_limit) {
    return fail(errc::overloaded, "The source \"" + s.name + "\" has " + std::to_string(queue.size()) +
                                      " requests waiting already. Ask again later.");
  }
  bool is_manned = state::man(state_, s.general, s.requests.size() + s.continuations.size());
  const bool is_busy = s.general.idle == 0 && s.general.threads == s.general.limit;
  if (!is_request && (is_busy || !is_manned)) is_manned = state::man(state_, s.continuing, s.continuations.size()) || is_manned;
  if (!is_manned) {
    return fail(errc::overloaded, "The source \"" + s.name + "\" cannot start a thread. Ask again later.");
  }
  queue.push_back({std::move(job), deadline});
  lock.unlock();
  // One condition for both crews: the one that is woken must be one that may take the job.
  s.work_arrived.notify_all();
  return {};
}

bool pool::close(clock::time_point until) {
  auto& s = *state_;
  std::deque<waiting_job> dropped_requests;
  std::deque<waiting_job> dropped_continuations;
  std::unique_lock lock(s.mutex);
  s.closed = true;
  dropped_requests.swap(s.requests);
  dropped_continuations.swap(s.continuations);
  s.work_arrived.notify_all();
  const bool all_left =
      s.thread_left.wait_until(lock, until, [&s] { return s.general.threads == 0 && s.continuing.threads == 0; });
  lock.unlock();
  return all_left;
}

}  // namespace hondana::work
