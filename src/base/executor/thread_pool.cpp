/// Thread pools with a bounded, fair queue for callers. They detect when all of their threads are stuck.
#include "base/executor/thread_pool.hpp"

#include <time.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <hondana/clock.hpp>

#include "base/counters/metrics.hpp"
#include "base/executor/thread_guards.hpp"

namespace hondana::executor {
namespace {

// Callers without jobs are removed only above this number, because the same few callers usually return.
constexpr std::size_t max_idle_callers = 64;

}  // namespace

std::size_t caller_queue::waiting(std::string_view caller) const {
  const auto entry = callers_.find(caller);
  return entry == callers_.end() ? 0 : entry->second.jobs[0].size() + entry->second.jobs[1].size();
}

void caller_queue::push(std::string_view caller, waiting_job job) {
  auto entry = callers_.find(caller);
  if (entry == callers_.end()) {
    entry = callers_.try_emplace(std::string(caller)).first;
    entry->second.name = entry->first;
  }
  const auto cost_index = static_cast<std::size_t>(job.cost);
  auto& jobs = entry->second.jobs[cost_index];
  jobs.push_back(std::move(job));
  if (jobs.size() == 1) waiting_[cost_index].push_back(&entry->second);
  ++size_;
}

std::list<caller_queue::caller_jobs*>::iterator caller_queue::find_next(job_cost cost, std::size_t max_running) {
  auto& queue = waiting_[static_cast<std::size_t>(cost)];
  return std::find_if(queue.begin(), queue.end(),
                      [=](const caller_jobs* caller) { return caller->name.empty() || caller->running < max_running; });
}

bool caller_queue::has_next(job_cost cost, std::size_t max_running) {
  return find_next(cost, max_running) != waiting_[static_cast<std::size_t>(cost)].end();
}

std::pair<waiting_job, caller_queue::caller_jobs*> caller_queue::pop(job_cost cost, std::size_t max_running) {
  const auto position = find_next(cost, max_running);
  auto& queue = waiting_[static_cast<std::size_t>(cost)];
  auto* caller = *position;
  auto& jobs = caller->jobs[static_cast<std::size_t>(cost)];
  auto job = std::move(jobs.front());
  jobs.pop_front();
  if (jobs.empty()) {
    queue.erase(position);
  } else {
    queue.splice(queue.end(), queue, position);
  }
  ++caller->running;
  --size_;
  return {std::move(job), caller};
}

void caller_queue::finish(caller_jobs* caller) {
  --caller->running;
  if (callers_.size() <= max_idle_callers || caller->running != 0 || !caller->jobs[0].empty() || !caller->jobs[1].empty())
    return;
  callers_.erase(callers_.find(caller->name));
}

std::list<waiting_job> caller_queue::drain() {
  std::list<waiting_job> out;
  for (std::size_t cost_index = 0; cost_index < waiting_.size(); ++cost_index) {
    for (auto* caller : waiting_[cost_index]) out.splice(out.end(), caller->jobs[cost_index]);
    waiting_[cost_index].clear();
  }
  size_ = 0;
  return out;
}

/// Why a job was rejected.
enum class rejection : std::uint8_t { queue_full, caller_limit, stalled, closed, no_thread };

/// The metrics of one pool, labelled with its name. `get_load`: returns the current load.
struct pool_metrics {
  pool_metrics(const std::string& name, const std::function<pool_load()>& get_load);

  std::shared_ptr<counters::duration_histogram> wait_times;
  std::shared_ptr<counters::counter_family> rejected;  ///< Indexed by `rejection`.
  std::array<std::shared_ptr<const counters::collector>, 3> gauges;
};

namespace {

std::shared_ptr<const counters::collector> gauge(std::string_view name, std::string_view help, const std::string& pool,
                                                 const std::function<pool_load()>& get_load, std::size_t pool_load::* field) {
  return counters::register_collector({name, counters::kind::gauge, "", help},
                                      [pool, get_load, field](const counters::collector::sample_callback& on_sample) {
                                        const std::array labels{counters::label{"pool", pool}};
                                        on_sample("", labels, static_cast<double>(get_load().*field));
                                      });
}

}  // namespace

pool_metrics::pool_metrics(const std::string& name, const std::function<pool_load()>& get_load)
    : wait_times(counters::duration_histogram::make(
          {"hondana_pool_wait_seconds", counters::kind::histogram, "seconds", "Time that jobs wait for a thread of a pool."},
          {{"pool", {name}}})),
      rejected(counters::counter_family::make(
          {"hondana_pool_rejected", counters::kind::counter, "", "Jobs that a pool rejected, by reason."},
          {{"pool", {name}}, {"reason", {"queue_full", "caller_limit", "stalled", "closed", "no_thread"}}})),
      gauges{
          gauge("hondana_pool_threads", "Maximum number of threads of a pool.", name, get_load, &pool_load::threads),
          gauge("hondana_pool_running", "Jobs that are running in a pool.", name, get_load, &pool_load::running),
          gauge("hondana_pool_waiting", "Jobs that are waiting for a thread of a pool.", name, get_load, &pool_load::waiting)} {
}

result<void> inline_executor::submit(task job, clock::time_point, job_priority, std::string_view, job_kind) {
  job();
  return {};
}

namespace {

/// The pool does not know how long jobs take. One second is the smallest delay that HTTP can express.
constexpr std::chrono::seconds retry_delay{1};

tl::unexpected<failure> overloaded_error(std::string text) {
  failure error{errc::overloaded, std::move(text), {}};
  error.retry_after = retry_delay;
  return tl::unexpected(std::move(error));
}

/// The CPU time used by the calling thread.
std::chrono::nanoseconds thread_cpu_time() noexcept {
  timespec now{};
  if (::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) != 0) return {};
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

std::string describe_requests(std::size_t count) { return std::to_string(count) + (count == 1 ? " request" : " requests"); }

/// A group of threads that run the same kinds of jobs. Guarded by the pool's mutex.
struct worker_group {
  std::size_t limit;
  std::size_t threads = 0;
  std::size_t idle = 0;
  std::vector<clock::time_point> running{};  // deadlines of its running jobs
  std::condition_variable work_arrived{};

  [[nodiscard]] bool is_stuck(clock::time_point now) const {
    return running.size() >= limit &&
           std::all_of(running.begin(), running.end(), [now](clock::time_point deadline) { return deadline < now; });
  }
};

}  // namespace

struct thread_pool::state {
  std::string name;
  std::shared_ptr<const pool_metrics> metrics;

  std::mutex mutex;
  pool_limits limits;
  std::condition_variable thread_exited;
  caller_queue requests;
  std::deque<waiting_job> continuations;
  worker_group general{1};     // runs all jobs, continuations first
  worker_group continuing{1};  // runs continuations only
  cost_history costs;
  std::vector<clock::time_point> costly{};  // deadlines of running costly requests
  bool was_costly = false;                  // whether the last started request was costly
  bool is_closed = false;

  /// Whether another costly request can start. Requests past their deadline may never end, so they do not count.
  [[nodiscard]] bool can_start_costly() const {
    // hardware_concurrency() is slow, so its result is cached.
    static const auto processors = std::max<std::size_t>(std::thread::hardware_concurrency(), 2) - 1;
    const auto now = clock::now();
    const auto running =
        std::count_if(costly.begin(), costly.end(), [now](clock::time_point deadline) { return deadline >= now; });
    const auto threads = std::max<std::size_t>(limits.max_threads, 2) - 1;
    return static_cast<std::size_t>(running) < std::min(processors, threads);
  }
  /// When the next running costly request exceeds its deadline; the maximum time if no costly request is waiting.
  [[nodiscard]] clock::time_point next_costly_start() {
    auto next = clock::time_point::max();
    if (!requests.has_next(job_cost::large, limits.max_running_per_caller)) return next;
    const auto now = clock::now();
    for (const auto deadline : costly) {
      if (deadline >= now) next = std::min(next, deadline);
    }
    return next == clock::time_point::max() ? next : next + std::chrono::milliseconds(1);
  }
  /// The cost of the next request to run; nothing when none can run.
  [[nodiscard]] std::optional<job_cost> next_cost() {
    const bool has_small = requests.has_next(job_cost::small, limits.max_running_per_caller);
    const bool has_large = requests.has_next(job_cost::large, limits.max_running_per_caller) && can_start_costly();
    if (!has_small && !has_large) return {};
    return has_large && (!has_small || !was_costly) ? job_cost::large : job_cost::small;
  }
  [[nodiscard]] bool has_next(const worker_group& group) {
    return !continuations.empty() || (&group == &general && next_cost());
  }

  /// Removes the next job to run. The entry of its caller is null for a continuation.
  std::pair<waiting_job, caller_queue::caller_jobs*> pop_next() {
    if (continuations.empty()) {
      const auto cost = *next_cost();
      was_costly = cost == job_cost::large;
      return requests.pop(cost, limits.max_running_per_caller);
    }
    auto out = std::move(continuations.front());
    continuations.pop_front();
    return {std::move(out), nullptr};
  }

  [[nodiscard]] pool_load load() {
    const std::lock_guard lock(mutex);
    return {general.limit, general.running.size() + continuing.running.size(), requests.size() + continuations.size()};
  }

  void run(worker_group& group) {
    std::unique_lock lock(mutex);
    for (;;) {
      ++group.idle;
      while (!is_closed && group.threads <= group.limit && !has_next(group)) {
        const auto wake_at = &group == &general ? next_costly_start() : clock::time_point::max();
        if (wake_at == clock::time_point::max()) {
          group.work_arrived.wait(lock);
        } else {
          monotonic_clock::wait_until(group.work_arrived, lock, wake_at);
        }
      }
      --group.idle;
      if (is_closed || group.threads > group.limit) break;
      auto [job, caller] = pop_next();
      group.running.push_back(job.deadline);
      if (job.cost == job_cost::large) costly.push_back(job.deadline);
      lock.unlock();
      metrics->wait_times->observe(0, clock::now() - job.queued_at);
      // A job throws only when memory is exhausted. Destroying it then sends a prepared error to the caller.
      const auto cpu_start = job.kind != 0 ? thread_cpu_time() : std::chrono::nanoseconds(0);
      run_noexcept(job.job);
      if (job.kind != 0) costs.record(job.kind, thread_cpu_time() - cpu_start);
      job.job = nullptr;  // destroy what the job owns before it stops counting as running
      lock.lock();
      group.running.erase(std::find(group.running.begin(), group.running.end(), job.deadline));
      if (job.cost == job_cost::large) {
        costly.erase(std::find(costly.begin(), costly.end(), job.deadline));
        // This thread may take a small request next, so another thread must take the costly request that can run now.
        group.work_arrived.notify_one();
      }
      if (caller != nullptr) requests.finish(caller);
    }
    --group.threads;
    // A thread that leaves because of a lower limit may have consumed a notification for a job, so it passes that on.
    group.work_arrived.notify_one();
    thread_exited.notify_all();
  }

  /// Starts a thread if none is free for one more waiting job. Returns false if there is no thread and none can be started.
  static bool ensure_thread(const std::shared_ptr<state>& pool_state, worker_group& group, std::size_t waiting) {
    if (group.idle > waiting || group.threads >= group.limit) return true;
    try {
      // Reserve now, so that the thread needs no memory to record its job.
      group.running.reserve(group.threads + 1);
      pool_state->costly.reserve(group.threads + 1);
      std::thread([pool_state, &group] { pool_state->run(group); }).detach();
    } catch (const std::exception&) {
      return group.threads != 0;
    }
    ++group.threads;
    return true;
  }
};

thread_pool::thread_pool(std::string name, const pool_limits& limits) : state_(std::make_shared<state>()) {
  state_->name = std::move(name);
  state_->metrics = std::make_shared<const pool_metrics>(state_->name, [weak_state = std::weak_ptr(state_)] {
    const auto locked = weak_state.lock();
    return locked ? locked->load() : pool_load();
  });
  set_limits(limits);
}

void thread_pool::set_limits(const pool_limits& limits) {
  {
    const std::lock_guard lock(state_->mutex);
    state_->limits = limits;
    state_->general.limit = limits.max_threads;
  }
  state_->general.work_arrived.notify_all();
}

thread_pool::~thread_pool() { close(clock::now()); }

result<void> thread_pool::submit(task job, clock::time_point deadline, job_priority priority, std::string_view caller,
                                 job_kind kind) {
  auto& s = *state_;
  std::unique_lock lock(s.mutex);
  const auto reject = [&s](rejection reason) { s.metrics->rejected->add(static_cast<std::size_t>(reason)); };
  if (s.is_closed) {
    reject(rejection::closed);
    return fail(errc::source_unavailable, "The source \"" + s.name + "\" is shutting down.");
  }
  const auto now = clock::now();
  const bool is_request = priority == job_priority::request;
  if (s.general.is_stuck(now) && (is_request || s.continuing.is_stuck(now))) {
    reject(rejection::stalled);
    return fail(errc::source_unavailable, "The source \"" + s.name +
                                              "\" does not answer: all its threads are stuck in calls past their deadline. "
                                              "Check the disk, network or program behind it.");
  }
  // Continuations belong to requests that were admitted, so their number is bounded. Rejecting one would interrupt its answer.
  if (is_request && s.requests.size() >= s.limits.max_waiting) {
    reject(rejection::queue_full);
    return overloaded_error("The source \"" + s.name + "\" already has " + describe_requests(s.requests.size()) +
                            " waiting. Retry later.");
  }
  if (is_request && !caller.empty() && s.requests.waiting(caller) >= s.limits.max_waiting_per_caller) {
    reject(rejection::caller_limit);
    return overloaded_error("The source \"" + s.name + "\" already has " + describe_requests(s.limits.max_waiting_per_caller) +
                            " of this caller waiting. Wait for responses before sending more.");
  }
  bool has_thread = state::ensure_thread(state_, s.general, s.requests.size() + s.continuations.size());
  const bool is_busy = s.general.idle == 0 && s.general.threads >= s.general.limit;
  if (!is_request && (is_busy || !has_thread))
    has_thread = state::ensure_thread(state_, s.continuing, s.continuations.size()) || has_thread;
  if (!has_thread) {
    reject(rejection::no_thread);
    return overloaded_error("The source \"" + s.name + "\" cannot start a thread. Retry later.");
  }
  if (is_request) {
    const auto cost = s.costs.is_costly(kind) ? job_cost::large : job_cost::small;
    s.requests.push(caller, {std::move(job), deadline, now, kind, cost});
  } else {
    s.continuations.push_back({std::move(job), deadline, now});
  }
  // Notify one thread per job: waking more threads than needed costs more than the jobs do.
  // Both groups can take a continuation, and the first free thread runs it.
  const bool notify_continuing = !is_request && s.continuing.idle != 0;
  lock.unlock();
  s.general.work_arrived.notify_one();
  if (notify_continuing) s.continuing.work_arrived.notify_one();
  return {};
}

pool_load thread_pool::load() const { return state_->load(); }

bool thread_pool::close(clock::time_point deadline) {
  auto& s = *state_;
  std::list<waiting_job> dropped_requests;
  std::deque<waiting_job> dropped_continuations;
  std::unique_lock lock(s.mutex);
  s.is_closed = true;
  dropped_requests = s.requests.drain();
  dropped_continuations.swap(s.continuations);
  s.general.work_arrived.notify_all();
  s.continuing.work_arrived.notify_all();
  const bool all_exited = monotonic_clock::wait_until(s.thread_exited, lock, deadline,
                                                      [&s] { return s.general.threads == 0 && s.continuing.threads == 0; });
  lock.unlock();
  return all_exited;
}

}  // namespace hondana::executor
