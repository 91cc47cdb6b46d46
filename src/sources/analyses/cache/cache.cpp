/// The cache of analyses: policy, claims, waiting callers and listeners on top of a store.
#include "sources/analyses/cache/cache.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <hondana/clock.hpp>

#include "base/executor/thread_guards.hpp"
#include "sources/analyses/cache/store.hpp"

namespace hondana::analyses {
namespace {

using std::chrono::hours;

constexpr milliseconds max_duration = hours(24 * 366 * 10);

tl::unexpected<failure> out_of_range(const std::string& name, const std::string& range) {
  return fail(errc::invalid_argument, name + " must be " + range);
}

bool is_fraction(double number) noexcept { return number >= 0 && number <= 1; }

}  // namespace

result<void> validate(const cache_policy& policy) {
  for (std::size_t i = 0; i < task_type_count; ++i) {
    const auto& task = policy.by_task[i];
    const std::string suffix = " of " + std::string(name_of(static_cast<task_type>(i))) + " tasks";
    if (task.fresh_ttl <= milliseconds(0) || task.fresh_ttl > max_duration)
      return out_of_range("the time that analyses" + suffix + " are fresh", "above 0 and at most 10 years");
    if (task.stale_ttl < milliseconds(0) || task.stale_ttl > max_duration)
      return out_of_range("the time that analyses" + suffix + " may be returned as stale", "from 0 to 10 years");
    if (!is_fraction(task.required.confidence) || !is_fraction(task.required.consensus))
      return out_of_range("the lowest confidence and consensus" + suffix, "from 0 to 1");
    if (task.required.providers < 1 || task.required.providers > 64)
      return out_of_range("the lowest number of providers" + suffix, "from 1 to 64");
  }
  if (policy.failure_ttl < milliseconds(0) || policy.failure_ttl > hours(24))
    return out_of_range("the time that failures are remembered", "from 0 to a day");
  if (policy.max_lease_ttl < milliseconds(100) || policy.max_lease_ttl > hours(24))
    return out_of_range("the longest lease", "from 100 ms to a day");
  if (policy.lease_ttl < milliseconds(100) || policy.lease_ttl > policy.max_lease_ttl)
    return out_of_range("the lease", "from 100 ms to the longest lease");
  if (policy.max_waiting_claims > 100'000) return out_of_range("the number of waiting calls", "at most 100000");
  if (policy.limits.max_bytes < (1u << 20) || policy.limits.max_entries < 1 || policy.limits.max_age <= milliseconds(0) ||
      policy.limits.max_age > max_duration)
    return out_of_range("the limits of the cache", "at least 1 MiB, one analysis and 1 ms, and at most 10 years");
  return {};
}

struct cache::state {
  state(std::shared_ptr<analysis_store> backing_store, cache_options cache_settings)
      : store(std::move(backing_store)), options(std::move(cache_settings)) {}

  const std::shared_ptr<analysis_store> store;
  const cache_options options;
  std::atomic<std::uint64_t> generation{1};

  mutable std::mutex statistics_mutex{};
  statistics pending_statistics{};      ///< Not written to the store yet.
  std::uint64_t bytes_since_sweep = 0;  ///< Bytes stored.
  void update_statistics(task_type task, const std::function<void(task_statistics&)>& update);

  /// Callers that wait for the end of a computation, by key.
  struct waiter_group {
    std::size_t waiters = 0;
    std::uint64_t notifications = 0;
  };
  std::mutex waiters_mutex{};
  std::condition_variable_any waiters_notified{};
  std::map<std::string, waiter_group, std::less<>> waiter_groups{};
  std::size_t waiter_count = 0;

  std::recursive_mutex listeners_mutex{};
  std::vector<std::weak_ptr<change_callback>> listeners{};

  mutable std::mutex problem_mutex{};
  std::optional<failure> problem{};  ///< As `cache::problem`.
  bool is_list_problem = false;      ///< Reported by a list only; the thread still receives changes.
  std::chrono::steady_clock::time_point recovered_at{};

  std::mutex retry_mutex{};
  std::condition_variable_any retry_wakeup{};
  std::jthread change_thread{};

  void follow_changes(const std::stop_token& stop, std::uint64_t last_number);
  void notify_listeners(const store_change* change);
  void handle_changes(const change_batch& batch);
  /// Called by the thread. Returns whether a problem was set before.
  bool set_problem(std::optional<failure> error);
  void report_problem(const failure& error);
  void log_problem(const failure& error) const;
  /// Call when changes are received. Returns whether a problem is over now.
  [[nodiscard]] bool try_clear_problem();
  [[nodiscard]] result<void> clean_up();
  [[nodiscard]] result<void> flush_statistics();
  void log(std::string_view line) const {
    if (options.log) options.log(line);
  }
};

namespace {

using wait_clock = monotonic_clock;

/// Waiting callers check the store this often, even without notifications.
constexpr milliseconds max_sleep{5'000};

bool meets_thresholds(const analysis_summary& summary, const thresholds& required) noexcept {
  constexpr double tolerance = 1e-9;
  return summary.confidence + tolerance >= required.confidence && summary.agreement + tolerance >= required.consensus &&
         summary.providers >= required.providers;
}

/// What one analysis adds to the sums. Limited, since a writer may have given any number.
std::uint64_t limited_milliseconds(milliseconds duration) noexcept {
  constexpr milliseconds max_counted = std::chrono::hours(24 * 366 * 10);
  return static_cast<std::uint64_t>(std::clamp(duration, milliseconds(0), max_counted).count());
}

void count_lookup(task_statistics& counters, const cached_answer& answer) {
  const auto save = [&] {
    task_statistics additions;
    additions.cost_saved = answer.entry->summary.cost;
    additions.milliseconds_saved = limited_milliseconds(answer.entry->summary.duration);
    counters += additions;
  };
  switch (answer.status) {
    case cached_answer::cache_status::fresh:
      ++counters.hits;
      return save();
    case cached_answer::cache_status::stale:
      ++counters.stale_hits;
      return save();
    case cached_answer::cache_status::failed:
      ++counters.failures;
      return;
    case cached_answer::cache_status::computing:
    case cached_answer::cache_status::missing:
      ++counters.misses;
  }
}

/// Removes an answer that the caller cannot use.
void remove_entry(cached_answer& answer) {
  answer.entry.reset();
  answer.status = answer.claim                             ? cached_answer::cache_status::computing
                  : answer.failure_expires_at != instant() ? cached_answer::cache_status::failed
                                                           : cached_answer::cache_status::missing;
}

/// Removes an answer that does not reach the thresholds of this task.
bool remove_entry_below(cached_answer& answer, const thresholds& required) {
  if (!answer.entry || meets_thresholds(answer.entry->summary, required)) return false;
  remove_entry(answer);
  return true;
}

}  // namespace

result<cached_answer> cache::look_up(const model_question& question, task_type task,
                                     const std::function<bool(const analysis_summary&)>& is_hidden) {
  return look_up(make_key(question), task, is_hidden);
}

result<cached_answer> cache::look_up(const question_key& key, task_type task,
                                     const std::function<bool(const analysis_summary&)>& is_hidden) {
  auto out = state_->store->look_up(key);
  if (!out) return out;
  if (out->entry && is_hidden && is_hidden(out->entry->summary)) remove_entry(*out);
  remove_entry_below(*out, policy().for_task(task).required);
  state_->update_statistics(task, [&](task_statistics& counters) { count_lookup(counters, *out); });
  return out;
}

result<claim_result> cache::claim(const claim_request& request) {
  claim_parameters parameters{
      request.question,  make_key(request.question), request.task, request.session, request.tags, request.claimant,
      request.lease_ttl, request.is_forced,          false};
  if (parameters.claimant.empty()) parameters.claimant = state_->options.claimant;
  parameters.claimant = truncate_reason(parameters.claimant).substr(0, max_claimant_bytes);
  if (parameters.lease_ttl == milliseconds(0)) parameters.lease_ttl = policy().lease_ttl;
  if (parameters.lease_ttl < milliseconds(0) || parameters.lease_ttl > policy().max_lease_ttl)
    return hondana::fail(
        errc::invalid_argument,
        "a lease can be at most " + std::to_string(policy().max_lease_ttl.count() / 1000) + " s; renew it instead");
  const auto deadline = wait_clock::now() + std::min<milliseconds>(request.wait_timeout, std::chrono::hours(24));
  const auto count_and_return = [&](claim_result result) {
    state_->update_statistics(request.task, [&](task_statistics& counters) { count_lookup(counters, result.answer); });
    return result;
  };
  auto& shared_state = *state_;
  std::unique_lock waiters_lock(shared_state.waiters_mutex, std::defer_lock);
  // A waiting caller is registered before it checks the store, so that it misses no notification.
  struct waiter_registration {
    state& cache_state;
    const std::string& key;
    bool is_registered = false;
    ~waiter_registration() {
      if (!is_registered) return;
      const std::lock_guard lock(cache_state.waiters_mutex);
      --cache_state.waiter_count;
      if (const auto group = cache_state.waiter_groups.find(key); --group->second.waiters == 0)
        cache_state.waiter_groups.erase(group);
    }
  } registration{shared_state, parameters.key.digest};
  for (;;) {
    std::uint64_t seen_notifications = 0;
    if (registration.is_registered) {
      waiters_lock.lock();
      seen_notifications = shared_state.waiter_groups.find(registration.key)->second.notifications;
      waiters_lock.unlock();
    }
    auto attempt = shared_state.store->claim(parameters);
    if (!attempt) return attempt;
    if (attempt->ticket) {
      shared_state.generation.fetch_add(1, std::memory_order_release);
      remove_entry_below(attempt->answer, policy().for_task(request.task).required);
      if (attempt->answer.entry && request.is_hidden && request.is_hidden(attempt->answer.entry->summary))
        remove_entry(attempt->answer);
      if (attempt->answer.status != cached_answer::cache_status::stale) {
        attempt->answer.status = cached_answer::cache_status::missing;
        attempt->answer.entry.reset();
      }
      return count_and_return(std::move(*attempt));
    }
    const bool is_hidden = attempt->answer.entry && request.is_hidden && request.is_hidden(attempt->answer.entry->summary);
    if (is_hidden) remove_entry(attempt->answer);
    if ((is_hidden || remove_entry_below(attempt->answer, policy().for_task(request.task).required)) &&
        !attempt->answer.claim && !parameters.ignores_fresh_answer) {
      parameters.ignores_fresh_answer = true;
      continue;
    }
    if (attempt->answer.status != cached_answer::cache_status::computing) return count_and_return(std::move(*attempt));
    const auto local_now = wait_clock::now();
    if (request.stop.stop_requested()) return hondana::fail(errc::cancelled, "waiting for an analysis was cancelled");
    if (local_now >= deadline) return count_and_return(std::move(*attempt));
    if (!registration.is_registered) {
      waiters_lock.lock();
      if (shared_state.waiter_count >= policy().max_waiting_claims) {
        failure error{errc::overloaded,
                      "too many calls wait for analyses that other callers compute (at most " +
                          std::to_string(policy().max_waiting_claims) + "); retry later, or do not wait",
                      {}};
        error.retry_after = milliseconds(1000);
        return tl::unexpected(std::move(error));
      }
      ++shared_state.waiter_count;
      ++shared_state.waiter_groups[registration.key].waiters;
      registration.is_registered = true;
      waiters_lock.unlock();
      continue;  // earlier changes were not notified to this caller
    }
    const auto now = shared_state.store->now();
    if (!now) return tl::unexpected(now.error());
    const auto lease_left =
        std::clamp<milliseconds>(attempt->answer.claim->lease_expires_at - *now + milliseconds(1), milliseconds(1), max_sleep);
    waiters_lock.lock();
    monotonic_clock::wait_until(
        shared_state.waiters_notified, waiters_lock, request.stop, std::min(deadline, local_now + lease_left),
        [&] { return shared_state.waiter_groups.find(registration.key)->second.notifications != seen_notifications; });
    waiters_lock.unlock();
    parameters.ignores_fresh_answer = false;  // a usable answer may exist now
  }
}

result<instant> cache::renew(const claim_ticket& ticket, milliseconds lease_ttl) {
  if (lease_ttl == milliseconds(0)) lease_ttl = this->policy().lease_ttl;
  if (lease_ttl > this->policy().max_lease_ttl)
    return hondana::fail(errc::invalid_argument,
                         "a lease can be at most " + std::to_string(this->policy().max_lease_ttl.count() / 1000) + " s");
  return state_->store->renew(ticket, lease_ttl);
}

result<analysis_summary> cache::put_partial(const claim_ticket& ticket, const analysis& analysis) {
  HONDANA_TRY(auto parameters, prepare_put(analysis, analysis_status::computing));
  parameters.lease_ttl = this->policy().lease_ttl;
  auto out = state_->store->put(ticket, parameters);
  if (out) state_->generation.fetch_add(1, std::memory_order_release);
  return out;
}

result<cache::put_result> cache::put(const claim_ticket& ticket, const analysis& analysis) {
  const auto& rules = this->policy().for_task(analysis.task);
  auto verdict = judge(analysis, stricter_of(rules.required, analysis.required));
  HONDANA_TRY(auto parameters, prepare_put(analysis, verdict.status));
  parameters.fresh_ttl = rules.fresh_ttl;
  parameters.stale_ttl = rules.stale_ttl;
  HONDANA_TRY(auto stored, state_->store->put(ticket, parameters));
  state_->generation.fetch_add(1, std::memory_order_release);
  state_->update_statistics(analysis.task, [&](task_statistics& counters) {
    ++counters.computed;
    counters.below_thresholds += verdict.status == analysis_status::below_thresholds ? 1 : 0;
    counters.cost_spent += parameters.summary.cost;
    task_statistics additions;
    additions.milliseconds_spent = limited_milliseconds(parameters.summary.duration);
    counters += additions;
    state_->bytes_since_sweep += parameters.body.size();
  });
  return put_result{std::move(stored), std::move(verdict.reason)};
}

result<cache::put_result> cache::put(const analysis& analysis) {
  claim_parameters parameters{analysis.question,
                              make_key(analysis.question),
                              analysis.task,
                              analysis.session,
                              analysis.tags,
                              state_->options.claimant,
                              policy().lease_ttl,
                              true,
                              false};
  parameters.claimant = truncate_reason(parameters.claimant).substr(0, max_claimant_bytes);
  HONDANA_TRY(const auto claim_outcome, state_->store->claim(parameters));
  if (!claim_outcome.ticket) {
    failure error{
        errc::overloaded, "another caller is computing this analysis; get it later, or store it after that claim ends", {}};
    const auto now = state_->store->now();
    if (now && claim_outcome.answer.claim)
      error.retry_after = std::max(milliseconds(1), claim_outcome.answer.claim->lease_expires_at - *now);
    return tl::unexpected(std::move(error));
  }
  auto out = put(*claim_outcome.ticket, analysis);
  if (!out) {
    if (const auto released = release_claim(*claim_outcome.ticket); !released)
      state_->log("an unused claim stays until its lease ends: " + released.error().public_text);
  }
  return out;
}

result<void> cache::fail(const claim_ticket& ticket, std::string_view reason) {
  state_->generation.fetch_add(1, std::memory_order_release);
  return state_->store->fail(ticket, reason, this->policy().failure_ttl);
}

result<void> cache::release_claim(const claim_ticket& ticket) {
  state_->generation.fetch_add(1, std::memory_order_release);
  return state_->store->fail(ticket, {}, milliseconds(0));
}

result<std::optional<cache_entry>> cache::get(std::string_view id) const { return state_->store->get(id); }

result<std::uint64_t> cache::erase(const erase_filter& filter) {
  std::uint64_t erased_count = 0;
  for (;;) {
    HONDANA_TRY(const auto batch, state_->store->erase(filter));
    erased_count += batch.count;
    if (batch.count > 0) state_->generation.fetch_add(1, std::memory_order_release);
    if (batch.is_last) return erased_count;
  }
}

result<std::uint64_t> cache::erase_outdated(std::string_view uri, std::vector<std::string> current_versions) {
  erase_filter filter;
  filter.uri = uri;
  filter.versions = std::move(current_versions);
  return erase(filter);
}

std::uint64_t cache::generation() const noexcept { return state_->generation.load(std::memory_order_acquire); }

result<statistics> cache::read_statistics() const {
  auto out = state_->store->read_statistics();
  if (!out) return out;
  const std::lock_guard lock(state_->statistics_mutex);
  *out += state_->pending_statistics;
  return out;
}

analysis_store& cache::store() const noexcept { return *state_->store; }
const cache_policy& cache::policy() const noexcept { return state_->options.policy; }

result<void> cache::clean_up() { return state_->clean_up(); }

namespace {

using clock = monotonic_clock;

constexpr milliseconds retry_interval{1000};
constexpr std::chrono::seconds min_recovery_interval{30};
constexpr int max_sweeps = 20;

}  // namespace

void cache::state::update_statistics(task_type task, const std::function<void(task_statistics&)>& update) {
  const std::lock_guard lock(statistics_mutex);
  update(pending_statistics.for_task(task));
}

void cache::state::notify_listeners(const store_change* change) {
  const std::lock_guard lock(listeners_mutex);
  // Listeners may be added or removed during the calls.
  const auto current_listeners = listeners;
  for (const auto& weak_callback : current_listeners) {
    if (const auto callback = weak_callback.lock()) (*callback)(change);
  }
}

void cache::state::handle_changes(const change_batch& batch) {
  if (batch.changes.empty() && batch.is_complete) return;
  generation.fetch_add(1 + batch.changes.size(), std::memory_order_release);
  {
    const std::lock_guard lock(waiters_mutex);
    bool has_notified = false;
    for (auto& [key, group] : waiter_groups) {
      const bool concerns_key =
          !batch.is_complete || std::any_of(batch.changes.begin(), batch.changes.end(), [&key](const store_change& change) {
            return change.key == key && change.event != store_change::event_kind::claimed &&
                   change.event != store_change::event_kind::part;
          });
      if (!concerns_key) continue;
      ++group.notifications;
      has_notified = true;
    }
    if (has_notified) waiters_notified.notify_all();
  }
  if (!batch.is_complete) notify_listeners(nullptr);
  for (const auto& change : batch.changes) notify_listeners(&change);
}

bool cache::state::set_problem(std::optional<failure> error) {
  const std::lock_guard lock(problem_mutex);
  is_list_problem = false;
  problem.swap(error);
  return error.has_value();
}

void cache::state::follow_changes(const std::stop_token& stop, std::uint64_t last_number) {
  auto next_cleanup = clock::now() + options.cleanup_interval;
  const auto is_getting_full = [this] {
    const std::lock_guard lock(statistics_mutex);
    return bytes_since_sweep > options.policy.limits.max_bytes / 16;
  };
  while (!stop.stop_requested()) {
    const auto remaining = std::chrono::duration_cast<milliseconds>(next_cleanup - clock::now());
    auto batch = store->changes_since(last_number, std::clamp(remaining, milliseconds(0), retry_interval), stop);
    if (batch) {
      last_number = batch->last_number;
      const bool has_recovered = try_clear_problem();
      handle_changes(*batch);
      if (has_recovered) {
        log("changes of analyses are received again");
        notify_listeners(nullptr);
      }
    } else {
      if (!set_problem(batch.error())) log_problem(batch.error());
      std::unique_lock lock(retry_mutex);
      monotonic_clock::wait_for(retry_wakeup, lock, stop, retry_interval, [] { return false; });
    }
    if ((clock::now() < next_cleanup && !is_getting_full()) || stop.stop_requested()) continue;
    if (const auto cleaned = clean_up(); !cleaned && batch)
      log("cannot clean up analyses: " + cleaned.error().public_text + " | " + cleaned.error().private_text);
    next_cleanup = clock::now() + options.cleanup_interval;
  }
}

std::optional<failure> cache::problem() const {
  const std::lock_guard lock(state_->problem_mutex);
  return state_->problem;
}

void cache::report_problem(const failure& error) { state_->report_problem(error); }

void cache::state::report_problem(const failure& error) {
  {
    const std::lock_guard lock(problem_mutex);
    if (problem) return;
    problem = error;
    is_list_problem = true;
  }
  log_problem(error);
}

void cache::state::log_problem(const failure& error) const {
  log("analyses are unavailable: " + error.public_text + " | " + error.private_text);
}

bool cache::state::try_clear_problem() {
  const auto now = clock::now();
  const std::lock_guard lock(problem_mutex);
  // If changes arrive but lists fail, each recovery makes clients request a list that fails again. So limit the rate of
  // recoveries.
  if (!problem || (is_list_problem && now < recovered_at + min_recovery_interval)) return false;
  problem.reset();
  recovered_at = now;
  return true;
}

result<void> cache::state::flush_statistics() {
  statistics written;
  {
    const std::lock_guard lock(statistics_mutex);
    written = std::exchange(pending_statistics, statistics());
  }
  if (written == statistics()) return {};
  auto status = store->add_statistics(written);
  if (!status) {
    const std::lock_guard lock(statistics_mutex);
    pending_statistics += written;
  }
  return status;
}

result<void> cache::state::clean_up() {
  auto flushed = flush_statistics();
  {
    const std::lock_guard lock(statistics_mutex);
    bytes_since_sweep = 0;
  }
  for (int i = 0; i < max_sweeps; ++i) {
    HONDANA_TRY(const auto swept, store->sweep(options.policy.limits));
    if (swept.is_last) break;
  }
  return flushed;
}

result<std::shared_ptr<cache>> cache::create(std::shared_ptr<analysis_store> store, cache_options options) {
  HONDANA_TRY(validate(options.policy));
  if (options.cleanup_interval < milliseconds(10))
    return hondana::fail(errc::invalid_argument, "the interval of cleanups must be at least 10 ms");
  HONDANA_TRY(const auto now, store->changes_since(0, milliseconds(0), {}));
  auto shared_state = std::make_shared<state>(std::move(store), std::move(options));
  const executor::signal_blocker signals_blocked_here;
  shared_state->change_thread = std::jthread([state_pointer = shared_state.get(), last = now.last_number](
                                                 const std::stop_token& stop) { state_pointer->follow_changes(stop, last); });
  return std::shared_ptr<cache>(new cache(std::move(shared_state)));
}

cache::cache(std::shared_ptr<state> initial_state) noexcept : state_(std::move(initial_state)) {}

cache::~cache() {
  state_->change_thread.request_stop();
  if (state_->change_thread.joinable()) state_->change_thread.join();
  if (const auto flushed = state_->flush_statistics(); !flushed)
    state_->log("some statistics of analyses were not saved: " + flushed.error().public_text);
}

std::shared_ptr<void> cache::listen(change_callback callback) {
  auto stored = std::make_shared<change_callback>(std::move(callback));
  const std::lock_guard listeners_lock(state_->listeners_mutex);
  std::erase_if(state_->listeners, [](const auto& candidate) { return candidate.expired(); });
  state_->listeners.push_back(stored);
  // Releasing the handle waits until the listener is not running.
  return {stored.get(), [stored, owner = state_](void*) mutable {
            const std::lock_guard lock(owner->listeners_mutex);
            stored.reset();
          }};
}

}  // namespace hondana::analyses
