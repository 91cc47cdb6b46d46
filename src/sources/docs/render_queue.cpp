/// A queue that renders documents on threads of its own, each document once for all callers.
#include "sources/docs/render_queue.hpp"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <new>
#include <optional>
#include <stop_token>
#include <system_error>
#include <thread>
#include <utility>

#include <hondana/clock.hpp>

#include "base/executor/thread_guards.hpp"

namespace hondana::docs {
namespace {

using clock = monotonic_clock;

constexpr std::chrono::seconds shutdown_timeout{1};
constexpr std::chrono::hours max_wait{24};
/// In addition to the renderer's own time limit.
constexpr std::chrono::seconds grace_period{10};
constexpr std::size_t max_failures = 256;
constexpr std::chrono::milliseconds retry_delay{1000};

tl::unexpected<failure> overloaded_error(std::string_view reason) {
  failure error{
      errc::overloaded, "This document must be rendered first, but " + std::string(reason) + ". Retry in a moment.", {}};
  error.retry_after = retry_delay;
  return tl::unexpected(std::move(error));
}

}  // namespace

struct render_queue::job {
  render_request request{};
  std::optional<text_result> outcome{};
  std::size_t waiting_calls = 0;
  bool has_started = false;
  bool is_urgent = false;
};

struct render_queue::state {
  explicit state(const render_queue_limits& bounds) : limits(bounds) {}

  struct failed_render {
    failure error;
    clock::time_point expires_at;
  };

  const render_queue_limits limits;
  std::stop_source stop;
  std::mutex mutex;
  std::condition_variable_any changed;
  std::deque<std::shared_ptr<job>> jobs;  // in order of arrival, including those that have begun
  std::size_t running_jobs = 0;
  std::size_t workers = 0;
  std::size_t waiting_requests = 0;  // waiting calls of requests
  std::map<std::string, failed_render> failures;

  /// Call the following members with the mutex held.
  std::shared_ptr<job> find(const render_request& request) {
    const auto match = std::find_if(jobs.begin(), jobs.end(), [&request](const auto& entry) {
      return entry->request.key == request.key && (!entry->has_started || request.can_join_running);
    });
    return match == jobs.end() ? nullptr : *match;
  }
  std::shared_ptr<job> next() {
    const auto is_waiting = [](const auto& entry) { return !entry->has_started; };
    auto match =
        std::find_if(jobs.begin(), jobs.end(), [&](const auto& entry) { return is_waiting(entry) && entry->is_urgent; });
    if (match == jobs.end()) match = std::find_if(jobs.begin(), jobs.end(), is_waiting);
    return match == jobs.end() ? nullptr : *match;
  }
  void remove(const std::shared_ptr<job>& removed) {
    const auto match = std::find(jobs.begin(), jobs.end(), removed);
    if (match != jobs.end()) jobs.erase(match);
  }
  void record_failure(const std::string& key, const failure& error) {
    const bool is_slow = error.code == errc::timed_out;
    if (!is_slow && error.code != errc::source_unavailable && error.code != errc::internal) return;
    const auto now = clock::now();
    std::erase_if(failures, [now](const auto& entry) { return entry.second.expires_at <= now; });
    if (failures.size() >= max_failures) {
      const auto first = std::min_element(failures.begin(), failures.end(), [](const auto& a, const auto& b) {
        return a.second.expires_at < b.second.expires_at;
      });
      failures.erase(first);
    }
    failures.insert_or_assign(key, failed_render{error, now + (is_slow ? limits.slow_ttl : limits.failure_ttl)});
  }

  /// If there is no memory to record the failure, the rendering is tried again next time.
  void try_record_failure(const std::string& key, const failure& error) {
    try {
      record_failure(key, error);
    } catch (const std::bad_alloc&) {
      failures.clear();
    }
  }

  /// Starts a worker if allowed. It waits for the mutex, so it also finds jobs that are added until then.
  result<void> ensure_worker(const std::shared_ptr<state>& owner) {
    if (workers >= limits.max_concurrency) return {};
    try {
      const executor::signal_blocker quiet;
      std::thread([owner] { owner->run(); }).detach();
      ++workers;
    } catch (const std::system_error& problem) {
      if (workers == 0) return fail(errc::source_unavailable, "No document can be rendered now. Retry later.", problem.what());
    }
    return {};
  }

  static text_result run_job(const job& current, const request_context& context) {
    try {
      return current.request.render(context);
    } catch (const std::bad_alloc&) {
      return fail(errc::internal, "No memory left.");  // short enough for the small string optimization
    } catch (const std::exception& problem) {
      return fail(errc::internal, "The document could not be rendered.", problem.what());
    }
  }

  void run() {
    std::unique_lock lock(mutex);
    while (const auto current = stop.stop_requested() ? nullptr : next()) {
      current->has_started = true;
      ++running_jobs;
      lock.unlock();
      request_context context;
      context.stop = stop.get_token();
      context.deadline = clock::now() + limits.render_timeout + grace_period;
      auto outcome = run_job(*current, context);
      lock.lock();
      --running_jobs;
      if (!outcome) try_record_failure(current->request.key, outcome.error());
      current->outcome = std::move(outcome);
      // Releases the resources of the job early.
      current->request.render = nullptr;
      remove(current);
      changed.notify_all();
    }
    --workers;
    changed.notify_all();
  }
};

render_queue::render_queue(const render_queue_limits& within) : state_(std::make_shared<state>(within)) {}

render_queue::~render_queue() {
  state_->stop.request_stop();
  std::unique_lock lock(state_->mutex);
  monotonic_clock::wait_for(state_->changed, lock, shutdown_timeout, [this] { return state_->workers == 0; });
}

render_queue::text_result render_queue::render(render_request request, const request_context& context) {
  const auto shared_state = state_;
  auto& queue = *shared_state;
  std::unique_lock lock(queue.mutex);
  if (const auto known = queue.failures.find(request.key); known != queue.failures.end()) {
    if (known->second.expires_at > clock::now()) return tl::unexpected(known->second.error);
    queue.failures.erase(known);
  }
  const bool is_urgent = !request.is_background;
  if (is_urgent && queue.waiting_requests >= queue.limits.max_waiting_calls)
    return overloaded_error("too many reads wait for renderings");
  auto entry = queue.find(request);
  if (!entry) {
    if (queue.jobs.size() - queue.running_jobs >= queue.limits.max_queued)
      return overloaded_error("too many documents are queued before it");
    HONDANA_TRY(queue.ensure_worker(shared_state));
    entry = std::make_shared<job>();
    entry->request = std::move(request);
    queue.jobs.push_back(entry);
  }
  entry->is_urgent = entry->is_urgent || is_urgent;
  ++entry->waiting_calls;
  if (is_urgent) ++queue.waiting_requests;
  const auto deadline = std::min(context.deadline, clock::now() + max_wait);
  monotonic_clock::wait_until(queue.changed, lock, context.stop, deadline, [&] { return entry->outcome.has_value(); });
  --entry->waiting_calls;
  if (is_urgent) --queue.waiting_requests;
  if (entry->outcome) return *entry->outcome;
  if (!entry->has_started && entry->waiting_calls == 0) queue.remove(entry);
  if (context.stop.stop_requested()) return fail(errc::cancelled, "The request was cancelled.");
  if (entry->has_started) {
    return fail(errc::timed_out, "The document is still being rendered. Retry: the result is cached.");
  }
  // This is not an error of the document: background rendering tries again.
  return !is_urgent ? overloaded_error("other documents were being rendered until the deadline")
                    : fail(errc::timed_out, "Other documents were being rendered until the deadline. Retry later.");
}

}  // namespace hondana::docs
