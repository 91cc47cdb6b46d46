/// What the cache's thread does: listening and tidying.
#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include <hondana/clock.hpp>

#include "base/executor/signals_blocked.hpp"
#include "sources/analyses/cache/cache_state.hpp"

namespace hondana::analyses {
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
  // A listener may come or go while it is called.
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
  // Where changes can be heard and lists cannot be made, each end of it has clients ask for one that fails again.
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
  // Whoever lets go waits until it is not called any more.
  return {kept.get(), [kept, of = state_](void*) mutable {
            const std::lock_guard none_called(of->calling);
            kept.reset();
          }};
}

}  // namespace hondana::analyses
