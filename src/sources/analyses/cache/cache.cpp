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

constexpr milliseconds longest = hours(24 * 366 * 10);

tl::unexpected<failure> out_of_range(const std::string& what, const std::string& range) {
  return fail(errc::invalid_argument, what + " must be " + range);
}

bool is_share(double number) noexcept { return number >= 0 && number <= 1; }

}  // namespace

result<void> check(const policy& what) {
  for (std::size_t i = 0; i < count_of_tasks; ++i) {
    const auto& one = what.by_task[i];
    const std::string of = " of " + std::string(name_of(static_cast<task_type>(i))) + " tasks";
    if (one.fresh <= milliseconds(0) || one.fresh > longest)
      return out_of_range("the time that analyses" + of + " are fresh", "above 0 and at most 10 years");
    if (one.stale < milliseconds(0) || one.stale > longest)
      return out_of_range("the time that analyses" + of + " may be returned as stale", "from 0 to 10 years");
    if (!is_share(one.wanted.confidence) || !is_share(one.wanted.consensus))
      return out_of_range("the lowest confidence and consensus" + of, "from 0 to 1");
    if (one.wanted.providers < 1 || one.wanted.providers > 64)
      return out_of_range("the lowest number of providers" + of, "from 1 to 64");
  }
  if (what.failures < milliseconds(0) || what.failures > hours(24))
    return out_of_range("the time that failures are remembered", "from 0 to a day");
  if (what.longest_lease < milliseconds(100) || what.longest_lease > hours(24))
    return out_of_range("the longest lease", "from 100 ms to a day");
  if (what.lease < milliseconds(100) || what.lease > what.longest_lease)
    return out_of_range("the lease", "from 100 ms to the longest lease");
  if (what.most_waiting > 100'000) return out_of_range("the number of waiting calls", "at most 100000");
  if (what.kept.bytes < (1u << 20) || what.kept.entries < 1 || what.kept.age <= milliseconds(0) || what.kept.age > longest)
    return out_of_range("the limits of the cache", "at least 1 MiB, one analysis and 1 ms, and at most 10 years");
  return {};
}

struct cache::state {
  state(std::shared_ptr<store> from, cache_options how) : in(std::move(from)), options(std::move(how)) {}

  const std::shared_ptr<store> in;
  const cache_options options;
  std::atomic<std::uint64_t> generation{1};

  mutable std::mutex counting{};
  statistics uncounted{};       ///< Not written to the store yet.
  std::uint64_t bytes_put = 0;  ///< Since the last sweep.
  void add(task_type task, const std::function<void(task_statistics&)>& what);

  /// Callers that wait for the end of a computation, by key.
  struct crowd {
    std::size_t members = 0;
    std::uint64_t news = 0;
  };
  std::mutex waiting{};
  std::condition_variable_any has_news{};
  std::map<std::string, crowd, std::less<>> crowds{};
  std::size_t all_waiting = 0;

  std::recursive_mutex calling{};
  std::vector<std::weak_ptr<listener>> listeners{};

  mutable std::mutex troubling{};
  std::optional<failure> trouble{};  ///< As `cache::trouble`.
  bool is_of_lists = false;          ///< Reported by a list only; the thread still receives changes.
  std::chrono::steady_clock::time_point came_back{};

  std::mutex pausing{};
  std::condition_variable_any paused{};
  std::jthread follower{};

  void follow(const std::stop_token& stop, std::uint64_t last);
  void tell(const change* what);
  void hear(const changes& what);
  /// Called by the thread. Returns whether a trouble was set before.
  bool put_trouble(std::optional<failure> what);
  void notice(const failure& what);
  void say_lost(const failure& why) const;
  /// Call when changes are received. Returns whether a trouble is over now.
  [[nodiscard]] bool has_come_back();
  [[nodiscard]] result<void> tidy();
  [[nodiscard]] result<void> write_counts();
  void log(std::string_view line) const {
    if (options.log) options.log(line);
  }
};

namespace {

using patient = monotonic_clock;

/// Waiting callers check the store this often, even without notifications.
constexpr milliseconds longest_sleep{5'000};

bool reaches(const summary& what, const thresholds& by) noexcept {
  constexpr double slack = 1e-9;
  return what.confidence + slack >= by.confidence && what.agreement + slack >= by.consensus && what.providers >= by.providers;
}

/// What one analysis adds to the sums. Limited, since a writer may have given any number.
std::uint64_t counted_time(milliseconds took) noexcept {
  constexpr milliseconds longest_counted = std::chrono::hours(24 * 366 * 10);
  return static_cast<std::uint64_t>(std::clamp(took, milliseconds(0), longest_counted).count());
}

void count(task_statistics& into, const answer& what) {
  const auto save = [&] {
    task_statistics more;
    more.cost_saved = what.found->about.cost;
    more.milliseconds_saved = counted_time(what.found->about.took);
    into += more;
  };
  switch (what.what) {
    case answer::kind::fresh:
      ++into.hits;
      return save();
    case answer::kind::stale:
      ++into.stale_hits;
      return save();
    case answer::kind::failed:
      ++into.failures;
      return;
    case answer::kind::computing:
    case answer::kind::missing:
      ++into.misses;
  }
}

/// Removes an answer that the caller cannot use.
void take_away(answer& from) {
  from.found.reset();
  from.what = from.claim ? answer::kind::computing : from.until != instant() ? answer::kind::failed : answer::kind::missing;
}

/// Removes an answer that does not reach the thresholds of this task.
bool take_away_below(answer& from, const thresholds& wanted) {
  if (!from.found || reaches(from.found->about, wanted)) return false;
  take_away(from);
  return true;
}

}  // namespace

result<answer> cache::look(const question& asked, task_type task, const std::function<bool(const summary&)>& is_hidden) {
  return look(key_of(asked), task, is_hidden);
}

result<answer> cache::look(const key& of, task_type task, const std::function<bool(const summary&)>& is_hidden) {
  auto out = state_->in->look(of);
  if (!out) return out;
  if (out->found && is_hidden && is_hidden(out->found->about)) take_away(*out);
  take_away_below(*out, by().of(task).wanted);
  state_->add(task, [&](task_statistics& into) { count(into, *out); });
  return out;
}

result<claimed> cache::claim(const claim_request& what) {
  wish wanted{what.asked, key_of(what.asked), what.task, what.session, what.tags, what.who, what.lease, what.is_forced, false};
  if (wanted.who.empty()) wanted.who = state_->options.who;
  wanted.who = kept_reason(wanted.who).substr(0, longest_who);
  if (wanted.lease == milliseconds(0)) wanted.lease = by().lease;
  if (wanted.lease < milliseconds(0) || wanted.lease > by().longest_lease)
    return hondana::fail(errc::invalid_argument, "a lease can be at most " + std::to_string(by().longest_lease.count() / 1000) +
                                                     " s; renew it instead");
  const auto deadline = patient::now() + std::min<milliseconds>(what.wait, std::chrono::hours(24));
  const auto done_with = [&](claimed got) {
    state_->add(what.task, [&](task_statistics& into) { count(into, got.there); });
    return got;
  };
  auto& self = *state_;
  std::unique_lock held(self.waiting, std::defer_lock);
  // A waiting caller is registered before it checks the store, so that it misses no notification.
  struct place {
    state& in;
    const std::string& of;
    bool is_taken = false;
    ~place() {
      if (!is_taken) return;
      const std::lock_guard leaving(in.waiting);
      --in.all_waiting;
      if (const auto found = in.crowds.find(of); --found->second.members == 0) in.crowds.erase(found);
    }
  } mine{self, wanted.of.all};
  for (;;) {
    std::uint64_t known = 0;
    if (mine.is_taken) {
      held.lock();
      known = self.crowds.find(mine.of)->second.news;
      held.unlock();
    }
    auto got = self.in->claim(wanted);
    if (!got) return got;
    if (got->by) {
      self.generation.fetch_add(1, std::memory_order_release);
      take_away_below(got->there, by().of(what.task).wanted);
      if (got->there.found && what.is_hidden && what.is_hidden(got->there.found->about)) take_away(got->there);
      if (got->there.what != answer::kind::stale) {
        got->there.what = answer::kind::missing;
        got->there.found.reset();
      }
      return done_with(std::move(*got));
    }
    const bool is_hidden = got->there.found && what.is_hidden && what.is_hidden(got->there.found->about);
    if (is_hidden) take_away(got->there);
    if ((is_hidden || take_away_below(got->there, by().of(what.task).wanted)) && !got->there.claim && !wanted.is_anew) {
      wanted.is_anew = true;
      continue;
    }
    if (got->there.what != answer::kind::computing) return done_with(std::move(*got));
    const auto now_here = patient::now();
    if (what.stop.stop_requested()) return hondana::fail(errc::cancelled, "waiting for an analysis was cancelled");
    if (now_here >= deadline) return done_with(std::move(*got));
    if (!mine.is_taken) {
      held.lock();
      if (self.all_waiting >= by().most_waiting) {
        failure full{errc::overloaded,
                     "too many calls wait for analyses that other callers compute (at most " +
                         std::to_string(by().most_waiting) + "); retry later, or do not wait",
                     {}};
        full.retry = milliseconds(1000);
        return tl::unexpected(std::move(full));
      }
      ++self.all_waiting;
      ++self.crowds[mine.of].members;
      mine.is_taken = true;
      held.unlock();
      continue;  // earlier changes were not notified to this caller
    }
    const auto now = self.in->now();
    if (!now) return tl::unexpected(now.error());
    const auto lease_left =
        std::clamp<milliseconds>(got->there.claim->until - *now + milliseconds(1), milliseconds(1), longest_sleep);
    held.lock();
    monotonic_clock::wait_until(self.has_news, held, what.stop, std::min(deadline, now_here + lease_left),
                                [&] { return self.crowds.find(mine.of)->second.news != known; });
    held.unlock();
    wanted.is_anew = false;  // a usable answer may exist now
  }
}

result<instant> cache::renew(const ticket& by, milliseconds lease) {
  if (lease == milliseconds(0)) lease = this->by().lease;
  if (lease > this->by().longest_lease)
    return hondana::fail(errc::invalid_argument,
                         "a lease can be at most " + std::to_string(this->by().longest_lease.count() / 1000) + " s");
  return state_->in->renew(by, lease);
}

result<summary> cache::put_part(const ticket& by, const analysis& so_far) {
  HONDANA_TRY(auto what, prepare(so_far, status::computing));
  what.lease = this->by().lease;
  auto out = state_->in->put(by, what);
  if (out) state_->generation.fetch_add(1, std::memory_order_release);
  return out;
}

result<cache::kept> cache::put(const ticket& by, const analysis& whole) {
  const auto& rules = this->by().of(whole.task);
  auto judged = judge(whole, stricter(rules.wanted, whole.wanted));
  HONDANA_TRY(auto what, prepare(whole, judged.how));
  what.fresh = rules.fresh;
  what.stale = rules.stale;
  HONDANA_TRY(auto done, state_->in->put(by, what));
  state_->generation.fetch_add(1, std::memory_order_release);
  state_->add(whole.task, [&](task_statistics& into) {
    ++into.computed;
    into.below += judged.how == status::below ? 1 : 0;
    into.cost_spent += what.about.cost;
    task_statistics more;
    more.milliseconds_spent = counted_time(what.about.took);
    into += more;
    state_->bytes_put += what.body.size();
  });
  return kept{std::move(done), std::move(judged.why)};
}

result<cache::kept> cache::put(const analysis& whole) {
  wish wanted{whole.asked,         key_of(whole.asked), whole.task, whole.session, whole.tags,
              state_->options.who, by().lease,          true,       false};
  wanted.who = kept_reason(wanted.who).substr(0, longest_who);
  HONDANA_TRY(const auto got, state_->in->claim(wanted));
  if (!got.by) {
    failure busy{
        errc::overloaded, "another caller is computing this analysis; get it later, or store it after that claim ends", {}};
    const auto now = state_->in->now();
    if (now && got.there.claim) busy.retry = std::max(milliseconds(1), got.there.claim->until - *now);
    return tl::unexpected(std::move(busy));
  }
  auto out = put(*got.by, whole);
  if (!out) {
    if (const auto given_up = give_up(*got.by); !given_up)
      state_->log("an unused claim stays until its lease ends: " + given_up.error().public_text);
  }
  return out;
}

result<void> cache::fail(const ticket& by, std::string_view why) {
  state_->generation.fetch_add(1, std::memory_order_release);
  return state_->in->fail(by, why, this->by().failures);
}

result<void> cache::give_up(const ticket& by) {
  state_->generation.fetch_add(1, std::memory_order_release);
  return state_->in->fail(by, {}, milliseconds(0));
}

result<std::optional<entry>> cache::get(std::string_view id) const { return state_->in->get(id); }

result<std::uint64_t> cache::forget(const forgetting& which) {
  std::uint64_t all = 0;
  for (;;) {
    HONDANA_TRY(const auto done, state_->in->forget(which));
    all += done.count;
    if (done.count > 0) state_->generation.fetch_add(1, std::memory_order_release);
    if (done.is_last) return all;
  }
}

result<std::uint64_t> cache::changed(std::string_view uri, std::vector<std::string> versions) {
  forgetting which;
  which.uri = uri;
  which.versions = std::move(versions);
  return forget(which);
}

std::uint64_t cache::generation() const noexcept { return state_->generation.load(std::memory_order_acquire); }

result<statistics> cache::counted() const {
  auto out = state_->in->counted();
  if (!out) return out;
  const std::lock_guard held(state_->counting);
  *out += state_->uncounted;
  return out;
}

store& cache::in() const noexcept { return *state_->in; }
const policy& cache::by() const noexcept { return state_->options.by; }

result<void> cache::tidy() { return state_->tidy(); }

namespace {

using steady = monotonic_clock;

constexpr milliseconds between_tries{1000};
constexpr std::chrono::seconds between_returns{30};
constexpr int most_sweeps = 20;

}  // namespace

void cache::state::add(task_type task, const std::function<void(task_statistics&)>& what) {
  const std::lock_guard held(counting);
  what(uncounted.of(task));
}

void cache::state::tell(const change* what) {
  const std::lock_guard held(calling);
  // Listeners may be added or removed during the calls.
  const auto all = listeners;
  for (const auto& one : all) {
    if (const auto hears = one.lock()) (*hears)(what);
  }
}

void cache::state::hear(const changes& what) {
  if (what.all.empty() && what.is_complete) return;
  generation.fetch_add(1 + what.all.size(), std::memory_order_release);
  {
    const std::lock_guard held(waiting);
    bool has_woken = false;
    for (auto& [of, who] : crowds) {
      const bool is_meant = !what.is_complete || std::any_of(what.all.begin(), what.all.end(), [&of](const change& one) {
        return one.of == of && one.what != change::kind::claimed && one.what != change::kind::part;
      });
      if (!is_meant) continue;
      ++who.news;
      has_woken = true;
    }
    if (has_woken) has_news.notify_all();
  }
  if (!what.is_complete) tell(nullptr);
  for (const auto& one : what.all) tell(&one);
}

bool cache::state::put_trouble(std::optional<failure> what) {
  const std::lock_guard held(troubling);
  is_of_lists = false;
  trouble.swap(what);
  return what.has_value();
}

void cache::state::follow(const std::stop_token& stop, std::uint64_t last) {
  auto next_tidying = steady::now() + options.tidy_every;
  const auto is_getting_full = [this] {
    const std::lock_guard held(counting);
    return bytes_put > options.by.kept.bytes / 16;
  };
  while (!stop.stop_requested()) {
    const auto left = std::chrono::duration_cast<milliseconds>(next_tidying - steady::now());
    auto got = in->changes_since(last, std::clamp(left, milliseconds(0), between_tries), stop);
    if (got) {
      last = got->last;
      const bool is_back = has_come_back();
      hear(*got);
      if (is_back) {
        log("changes of analyses are received again");
        tell(nullptr);
      }
    } else {
      if (!put_trouble(got.error())) say_lost(got.error());
      std::unique_lock held(pausing);
      monotonic_clock::wait_for(paused, held, stop, between_tries, [] { return false; });
    }
    if ((steady::now() < next_tidying && !is_getting_full()) || stop.stop_requested()) continue;
    if (const auto done = tidy(); !done && got)
      log("cannot clean up analyses: " + done.error().public_text + " | " + done.error().private_text);
    next_tidying = steady::now() + options.tidy_every;
  }
}

std::optional<failure> cache::trouble() const {
  const std::lock_guard held(state_->troubling);
  return state_->trouble;
}

void cache::notice(const failure& what) { state_->notice(what); }

void cache::state::notice(const failure& what) {
  {
    const std::lock_guard held(troubling);
    if (trouble) return;
    trouble = what;
    is_of_lists = true;
  }
  say_lost(what);
}

void cache::state::say_lost(const failure& why) const {
  log("analyses are unavailable: " + why.public_text + " | " + why.private_text);
}

bool cache::state::has_come_back() {
  const auto now = steady::now();
  const std::lock_guard held(troubling);
  // If changes arrive but lists fail, each recovery makes clients request a list that fails again. So limit the rate of
  // recoveries.
  if (!trouble || (is_of_lists && now < came_back + between_returns)) return false;
  trouble.reset();
  came_back = now;
  return true;
}

result<void> cache::state::write_counts() {
  statistics some;
  {
    const std::lock_guard held(counting);
    some = std::exchange(uncounted, statistics());
  }
  if (some == statistics()) return {};
  auto done = in->count(some);
  if (!done) {
    const std::lock_guard held(counting);
    uncounted += some;
  }
  return done;
}

result<void> cache::state::tidy() {
  auto counted = write_counts();
  {
    const std::lock_guard held(counting);
    bytes_put = 0;
  }
  for (int i = 0; i < most_sweeps; ++i) {
    HONDANA_TRY(const auto swept, in->sweep(options.by.kept));
    if (swept.is_last) break;
  }
  return counted;
}

result<std::shared_ptr<cache>> cache::make(std::shared_ptr<store> in, cache_options options) {
  HONDANA_TRY(check(options.by));
  if (options.tidy_every < milliseconds(10))
    return hondana::fail(errc::invalid_argument, "the interval of cleanups must be at least 10 ms");
  HONDANA_TRY(const auto now, in->changes_since(0, milliseconds(0), {}));
  auto made = std::make_shared<state>(std::move(in), std::move(options));
  const executor::signals_blocked while_starting;
  made->follower = std::jthread([of = made.get(), last = now.last](const std::stop_token& stop) { of->follow(stop, last); });
  return std::shared_ptr<cache>(new cache(std::move(made)));
}

cache::cache(std::shared_ptr<state> made) noexcept : state_(std::move(made)) {}

cache::~cache() {
  state_->follower.request_stop();
  if (state_->follower.joinable()) state_->follower.join();
  if (const auto done = state_->write_counts(); !done)
    state_->log("some statistics of analyses were not saved: " + done.error().public_text);
}

std::shared_ptr<void> cache::listen(listener hears) {
  auto kept = std::make_shared<listener>(std::move(hears));
  const std::lock_guard held(state_->calling);
  std::erase_if(state_->listeners, [](const auto& one) { return one.expired(); });
  state_->listeners.push_back(kept);
  // Releasing the handle waits until the listener is not running.
  return {kept.get(), [kept, of = state_](void*) mutable {
            const std::lock_guard none_called(of->calling);
            kept.reset();
          }};
}

}  // namespace hondana::analyses
