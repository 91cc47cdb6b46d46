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

// Lines without jobs are removed only above this number, because the same few callers usually return.
constexpr std::size_t most_idle_lines = 64;

}  // namespace

std::size_t callers::waiting(std::string_view who) const {
  const auto found = lines_.find(who);
  return found == lines_.end() ? 0 : found->second.jobs[0].size() + found->second.jobs[1].size();
}

void callers::put(std::string_view who, waiting_job what) {
  auto found = lines_.find(who);
  if (found == lines_.end()) {
    found = lines_.try_emplace(std::string(who)).first;
    found->second.who = found->first;
  }
  const auto sort = static_cast<std::size_t>(what.cost);
  auto& jobs = found->second.jobs[sort];
  jobs.push_back(std::move(what));
  if (jobs.size() == 1) turns_[sort].push_back(&found->second);
  ++size_;
}

std::list<callers::line*>::iterator callers::next_turn(job_cost cost, std::size_t running_each) {
  auto& turns = turns_[static_cast<std::size_t>(cost)];
  return std::find_if(turns.begin(), turns.end(),
                      [=](const line* one) { return one->who.empty() || one->running < running_each; });
}

bool callers::has_next(job_cost cost, std::size_t running_each) {
  return next_turn(cost, running_each) != turns_[static_cast<std::size_t>(cost)].end();
}

std::pair<waiting_job, callers::line*> callers::take(job_cost cost, std::size_t running_each) {
  const auto turn = next_turn(cost, running_each);
  auto& turns = turns_[static_cast<std::size_t>(cost)];
  auto* whose = *turn;
  auto& jobs = whose->jobs[static_cast<std::size_t>(cost)];
  auto what = std::move(jobs.front());
  jobs.pop_front();
  if (jobs.empty()) {
    turns.erase(turn);
  } else {
    turns.splice(turns.end(), turns, turn);
  }
  ++whose->running;
  --size_;
  return {std::move(what), whose};
}

void callers::done(line* whose) {
  --whose->running;
  if (lines_.size() <= most_idle_lines || whose->running != 0 || !whose->jobs[0].empty() || !whose->jobs[1].empty()) return;
  lines_.erase(lines_.find(whose->who));
}

std::list<waiting_job> callers::clear() {
  std::list<waiting_job> out;
  for (std::size_t sort = 0; sort < turns_.size(); ++sort) {
    for (auto* one : turns_[sort]) out.splice(out.end(), one->jobs[sort]);
    turns_[sort].clear();
  }
  size_ = 0;
  return out;
}

/// Why a job was rejected.
enum class rejection : std::uint8_t { full, callers_share, stuck, closed, no_thread };

/// The metrics of one pool, labelled with its name. `now`: returns the current load.
struct pool_figures {
  pool_figures(const std::string& name, const std::function<pool_counts()>& now);

  std::shared_ptr<counters::times> waited;
  std::shared_ptr<counters::sums> rejected;  ///< Indexed by `rejection`.
  std::array<std::shared_ptr<const counters::part>, 3> gauges;
};

namespace {

std::shared_ptr<const counters::part> gauge(std::string_view name, std::string_view help, const std::string& pool,
                                            const std::function<pool_counts()>& now, std::size_t pool_counts::* which) {
  return counters::asked({name, counters::kind::gauge, "", help}, [pool, now, which](const counters::part::teller& to) {
    const std::array labels{counters::label{"pool", pool}};
    to("", labels, static_cast<double>(now().*which));
  });
}

}  // namespace

pool_figures::pool_figures(const std::string& name, const std::function<pool_counts()>& now)
    : waited(counters::times::make(
          {"hondana_pool_wait_seconds", counters::kind::histogram, "seconds", "Time that jobs wait for a thread of a pool."},
          {{"pool", {name}}})),
      rejected(
          counters::sums::make({"hondana_pool_rejected", counters::kind::counter, "", "Jobs that a pool rejected, by reason."},
                               {{"pool", {name}}, {"reason", {"full", "callers_share", "stuck", "closed", "no_thread"}}})),
      gauges{gauge("hondana_pool_threads", "Maximum number of threads of a pool.", name, now, &pool_counts::threads),
             gauge("hondana_pool_running", "Jobs that are running in a pool.", name, now, &pool_counts::running),
             gauge("hondana_pool_waiting", "Jobs that are waiting for a thread of a pool.", name, now, &pool_counts::waiting)} {
}

result<void> inline_lane::submit(task job, clock::time_point, urgency, std::string_view, job_kind) {
  job();
  return {};
}

namespace {

/// The pool does not know how long jobs take. One second is the smallest delay that HTTP can express.
constexpr std::chrono::seconds ask_again{1};

tl::unexpected<failure> overloaded(std::string text) {
  failure why{errc::overloaded, std::move(text), {}};
  why.retry = ask_again;
  return tl::unexpected(std::move(why));
}

/// The CPU time used by the calling thread.
std::chrono::nanoseconds time_of_thread() noexcept {
  timespec now{};
  if (::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) != 0) return {};
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

std::string requests_of(std::size_t count) { return std::to_string(count) + (count == 1 ? " request" : " requests"); }

/// A group of threads that run the same kinds of jobs. Guarded by the pool's mutex.
struct crew {
  std::size_t limit;
  std::size_t threads = 0;
  std::size_t idle = 0;
  std::vector<clock::time_point> running{};  // deadlines of its running jobs
  std::condition_variable work_arrived{};

  [[nodiscard]] bool is_stuck(clock::time_point now) const {
    return running.size() >= limit &&
           std::all_of(running.begin(), running.end(), [now](clock::time_point due) { return due < now; });
  }
};

}  // namespace

struct pool::state {
  std::string name;
  std::shared_ptr<const pool_figures> figures;

  std::mutex mutex;
  pool_limits within;
  std::condition_variable thread_left;
  callers requests;
  std::deque<waiting_job> continuations;
  crew general{1};     // runs all jobs, continuations first
  crew continuing{1};  // runs continuations only
  known_costs costs;
  std::vector<clock::time_point> costly{};  // deadlines of running costly requests
  bool was_costly = false;                  // whether the last started request was costly
  bool closed = false;

  /// Whether another costly request can start. Requests past their deadline may never end, so they do not count.
  [[nodiscard]] bool has_room_for_costly() const {
    // hardware_concurrency() is slow, so its result is cached.
    static const auto processors = std::max<std::size_t>(std::thread::hardware_concurrency(), 2) - 1;
    const auto now = clock::now();
    const auto running = std::count_if(costly.begin(), costly.end(), [now](clock::time_point due) { return due >= now; });
    const auto threads = std::max<std::size_t>(within.threads, 2) - 1;
    return static_cast<std::size_t>(running) < std::min(processors, threads);
  }
  /// When the next running costly request exceeds its deadline; the maximum time if no costly request is waiting.
  [[nodiscard]] clock::time_point next_room_for_costly() {
    auto next = clock::time_point::max();
    if (!requests.has_next(job_cost::large, within.running_each)) return next;
    const auto now = clock::now();
    for (const auto due : costly) {
      if (due >= now) next = std::min(next, due);
    }
    return next == clock::time_point::max() ? next : next + std::chrono::milliseconds(1);
  }
  /// The cost of the next request to run; nothing when none can run.
  [[nodiscard]] std::optional<job_cost> next_cost() {
    const bool has_small = requests.has_next(job_cost::small, within.running_each);
    const bool has_large = requests.has_next(job_cost::large, within.running_each) && has_room_for_costly();
    if (!has_small && !has_large) return {};
    return has_large && (!has_small || !was_costly) ? job_cost::large : job_cost::small;
  }
  [[nodiscard]] bool has_next(const crew& who) { return !continuations.empty() || (&who == &general && next_cost()); }

  /// Removes the next job to run. The line of its caller is null for a continuation.
  std::pair<waiting_job, callers::line*> next() {
    if (continuations.empty()) {
      const auto cost = *next_cost();
      was_costly = cost == job_cost::large;
      return requests.take(cost, within.running_each);
    }
    auto out = std::move(continuations.front());
    continuations.pop_front();
    return {std::move(out), nullptr};
  }

  [[nodiscard]] pool_counts counts() {
    const std::lock_guard lock(mutex);
    return {general.limit, general.running.size() + continuing.running.size(), requests.size() + continuations.size()};
  }

  void run(crew& as) {
    std::unique_lock lock(mutex);
    for (;;) {
      ++as.idle;
      while (!closed && as.threads <= as.limit && !has_next(as)) {
        const auto until = &as == &general ? next_room_for_costly() : clock::time_point::max();
        if (until == clock::time_point::max()) {
          as.work_arrived.wait(lock);
        } else {
          monotonic_clock::wait_until(as.work_arrived, lock, until);
        }
      }
      --as.idle;
      if (closed || as.threads > as.limit) break;
      auto [what, whose] = next();
      as.running.push_back(what.deadline);
      if (what.cost == job_cost::large) costly.push_back(what.deadline);
      lock.unlock();
      figures->waited->observe(0, clock::now() - what.since);
      // A job throws only when memory is exhausted. Destroying it then sends a prepared error to the caller.
      const auto before = what.kind != 0 ? time_of_thread() : std::chrono::nanoseconds(0);
      without_throwing(what.job);
      if (what.kind != 0) costs.record(what.kind, time_of_thread() - before);
      what.job = nullptr;  // destroy what the job owns before it stops counting as running
      lock.lock();
      as.running.erase(std::find(as.running.begin(), as.running.end(), what.deadline));
      if (what.cost == job_cost::large) {
        costly.erase(std::find(costly.begin(), costly.end(), what.deadline));
        // This thread may take a small request next, so another thread must take the costly request that can run now.
        as.work_arrived.notify_one();
      }
      if (whose != nullptr) requests.done(whose);
    }
    --as.threads;
    // A thread that leaves because of a lower limit may have consumed a notification for a job, so it passes that on.
    as.work_arrived.notify_one();
    thread_left.notify_all();
  }

  /// Starts a thread if none is free for one more waiting job. Returns false if there is no thread and none can be started.
  static bool man(const std::shared_ptr<state>& self, crew& who, std::size_t waiting) {
    if (who.idle > waiting || who.threads >= who.limit) return true;
    try {
      // Reserve now, so that the thread needs no memory to record its job.
      who.running.reserve(who.threads + 1);
      self->costly.reserve(who.threads + 1);
      std::thread([self, &who] { self->run(who); }).detach();
    } catch (const std::exception&) {
      return who.threads != 0;
    }
    ++who.threads;
    return true;
  }
};

pool::pool(std::string name, const pool_limits& within) : state_(std::make_shared<state>()) {
  state_->name = std::move(name);
  state_->figures = std::make_shared<const pool_figures>(state_->name, [of = std::weak_ptr(state_)] {
    const auto there = of.lock();
    return there ? there->counts() : pool_counts();
  });
  limit_to(within);
}

void pool::limit_to(const pool_limits& within) {
  {
    const std::lock_guard lock(state_->mutex);
    state_->within = within;
    state_->general.limit = within.threads;
  }
  state_->general.work_arrived.notify_all();
}

pool::~pool() { close(clock::now()); }

result<void> pool::submit(task job, clock::time_point deadline, urgency how, std::string_view whose, job_kind kind) {
  auto& s = *state_;
  std::unique_lock lock(s.mutex);
  const auto reject = [&s](rejection why) { s.figures->rejected->add(static_cast<std::size_t>(why)); };
  if (s.closed) {
    reject(rejection::closed);
    return fail(errc::source_unavailable, "The source \"" + s.name + "\" is shutting down.");
  }
  const auto now = clock::now();
  const bool is_request = how == urgency::request;
  if (s.general.is_stuck(now) && (is_request || s.continuing.is_stuck(now))) {
    reject(rejection::stuck);
    return fail(errc::source_unavailable, "The source \"" + s.name +
                                              "\" does not answer: all its threads are stuck in calls past their deadline. "
                                              "Check the disk, network or program behind it.");
  }
  // Continuations belong to requests that were admitted, so their number is bounded. Rejecting one would interrupt its answer.
  if (is_request && s.requests.size() >= s.within.waiting) {
    reject(rejection::full);
    return overloaded("The source \"" + s.name + "\" already has " + requests_of(s.requests.size()) + " waiting. Retry later.");
  }
  if (is_request && !whose.empty() && s.requests.waiting(whose) >= s.within.waiting_each) {
    reject(rejection::callers_share);
    return overloaded("The source \"" + s.name + "\" already has " + requests_of(s.within.waiting_each) +
                      " of this caller waiting. Wait for responses before sending more.");
  }
  bool is_manned = state::man(state_, s.general, s.requests.size() + s.continuations.size());
  const bool is_busy = s.general.idle == 0 && s.general.threads >= s.general.limit;
  if (!is_request && (is_busy || !is_manned)) is_manned = state::man(state_, s.continuing, s.continuations.size()) || is_manned;
  if (!is_manned) {
    reject(rejection::no_thread);
    return overloaded("The source \"" + s.name + "\" cannot start a thread. Retry later.");
  }
  if (is_request) {
    const auto cost = s.costs.is_costly(kind) ? job_cost::large : job_cost::small;
    s.requests.put(whose, {std::move(job), deadline, now, kind, cost});
  } else {
    s.continuations.push_back({std::move(job), deadline, now});
  }
  // Notify one thread per job: waking more threads than needed costs more than the jobs do.
  // Both groups can take a continuation, and the first free thread runs it.
  const bool continuing_helps = !is_request && s.continuing.idle != 0;
  lock.unlock();
  s.general.work_arrived.notify_one();
  if (continuing_helps) s.continuing.work_arrived.notify_one();
  return {};
}

pool_counts pool::counts() const { return state_->counts(); }

bool pool::close(clock::time_point until) {
  auto& s = *state_;
  std::list<waiting_job> dropped_requests;
  std::deque<waiting_job> dropped_continuations;
  std::unique_lock lock(s.mutex);
  s.closed = true;
  dropped_requests = s.requests.clear();
  dropped_continuations.swap(s.continuations);
  s.general.work_arrived.notify_all();
  s.continuing.work_arrived.notify_all();
  const bool all_left = monotonic_clock::wait_until(s.thread_left, lock, until,
                                                    [&s] { return s.general.threads == 0 && s.continuing.threads == 0; });
  lock.unlock();
  return all_left;
}

}  // namespace hondana::executor
