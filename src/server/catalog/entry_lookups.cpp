/// Looks up the entries of changed resources, once for all listeners that need them.
#include "server/catalog/entry_lookups.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "base/executor/backoff.hpp"

namespace hondana::catalog {
namespace {

constexpr std::chrono::seconds lookup_timeout{5};
constexpr int max_tries = 3;
constexpr int max_persistent_tries = 8;

constexpr executor::backoff pauses{std::chrono::seconds(1), std::chrono::seconds(32)};

/// Whether the failure is a final answer for this caller, so that a retry is useless. Busy and failing sources give no answer.
bool is_final(errc code) noexcept {
  return code == errc::resource_not_found || code == errc::access_denied || code == errc::insufficient_scope ||
         code == errc::invalid_argument || code == errc::part_not_found || code == errc::unreadable ||
         code == errc::unsupported || code == errc::response_too_large;
}

result<resource> entry_not_found() { return fail(errc::resource_not_found, "Resource not found"); }

}  // namespace

void entry_lookups::set_catalog(std::shared_ptr<const catalog> catalog) {
  const std::lock_guard lock(mutex_);
  catalog_.swap(catalog);  // the previous catalog is destroyed after the lock is released
}

void entry_lookups::request(const std::string& uri, std::shared_ptr<const access_filter> filter, entry_callback callback) {
  request({uri, std::move(filter), false}, std::move(callback));
}

void entry_lookups::request_persistently(const std::string& uri, std::shared_ptr<const access_filter> filter,
                                         entry_callback callback) {
  request({uri, std::move(filter), true}, std::move(callback));
}

void entry_lookups::request(lookup_key lookup, entry_callback callback) {
  std::uint64_t source_id = 0;
  {
    const std::lock_guard lock(mutex_);
    const auto [position, is_new] = jobs_.try_emplace(std::move(lookup));
    auto& job = position->second;
    if (is_new) {
      const auto source = catalog_ ? catalog_->source_of(position->first.uri) : nullptr;
      job.source_id = source ? source->id() : 0;
      queues_[job.source_id].ready.push_back(position);
    }
    source_id = job.source_id;
    // A lookup that has not started will see the state after this change.
    const bool has_started = !is_new && job.current.empty();
    (has_started ? job.next : job.current).push_back({std::move(callback)});
    if (!is_new) return;
  }
  if (!timers_) return dispatch(source_id);
  timers_->schedule(executor::clock::now(), [owner = shared_from_this(), source_id] { owner->dispatch(source_id); });
}

void entry_lookups::resume(const lookup_key& lookup) {
  std::uint64_t source_id = 0;
  {
    const std::lock_guard lock(mutex_);
    const auto position = jobs_.find(lookup);
    if (position == jobs_.end()) return;
    source_id = position->second.source_id;
    queues_[source_id].ready.push_back(position);
  }
  dispatch(source_id);
}

void entry_lookups::dispatch(std::uint64_t source_id) {
  std::unique_lock lock(mutex_);
  const auto queue_position = queues_.find(source_id);
  if (queue_position == queues_.end() || std::exchange(queue_position->second.is_dispatching, true)) return;
  auto& queue = queue_position->second;
  while (!queue.ready.empty() && queue.running < max_running_) {
    ++queue.running;
    const auto position = queue.ready.front();
    queue.ready.pop_front();
    const auto waiters = std::make_shared<const std::vector<lookup_waiter>>(std::exchange(position->second.current, {}));
    const auto catalog = catalog_;
    request_context context{{"hondana", {}, position->first.filter}, executor::clock::now() + lookup_timeout, {}, {}};
    lock.unlock();
    const auto callback = [owner = shared_from_this(), position, waiters](const result<resource>& outcome) {
      owner->finish(position, *waiters, outcome);
    };
    if (catalog) {
      catalog->describe(context, position->first.uri, callback);
    } else {
      callback(entry_not_found());
    }
    lock.lock();
  }
  queue.is_dispatching = false;
  if (queue.ready.empty() && queue.running == 0) queues_.erase(queue_position);
}

void entry_lookups::finish(job_map::iterator position, const std::vector<lookup_waiter>& waiters,
                           const result<resource>& outcome) {
  const bool is_persistent = position->first.is_persistent;
  const bool is_answer =
      outcome || is_final(outcome.error().code) || (!is_persistent && outcome.error().code == errc::timed_out);
  std::unique_lock lock(mutex_);
  auto& job = position->second;
  // Each caller has its own number of tries, so a late caller does not delay those that have waited.
  const auto is_retried = [&](const lookup_waiter& waiter) {
    return !is_answer && waiter.tries + 1 < (is_persistent ? max_persistent_tries : max_tries);
  };
  bool has_retries = false;
  for (const auto& waiter : waiters) {
    if (!is_retried(waiter)) continue;
    has_retries = true;
    job.current.push_back({waiter.callback, waiter.tries + 1});
  }
  ++job.failures;
  lock.unlock();
  const auto entry = outcome ? std::make_shared<const resource>(*outcome) : nullptr;
  for (const auto& requester : waiters) {
    if (!is_retried(requester)) requester.callback(entry);
  }
  lock.lock();
  const auto source_id = job.source_id;
  auto& queue = queues_.at(source_id);
  --queue.running;
  std::move(job.next.begin(), job.next.end(), std::back_inserter(job.current));
  job.next.clear();
  if (job.current.empty()) {
    jobs_.erase(position);
    if (queue.ready.empty() && queue.running == 0 && !queue.is_dispatching) queues_.erase(source_id);
  } else {
    if (!has_retries) job.failures = 0;
    if (has_retries && is_persistent && timers_) {
      timers_->schedule(executor::clock::now() + pauses.delay(job.failures),
                        [weak_owner = weak_from_this(), key = position->first] {
                          if (const auto owner = weak_owner.lock()) owner->resume(key);
                        });
    } else {
      queue.ready.push_back(position);
    }
    if (queue.ready.empty() && queue.running == 0 && !queue.is_dispatching) queues_.erase(source_id);
  }
  lock.unlock();
  dispatch(source_id);
}

std::size_t entry_lookups::in_progress() const {
  const std::lock_guard lock(mutex_);
  return jobs_.size();
}

}  // namespace hondana::catalog
