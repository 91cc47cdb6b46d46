/// Asking the cache, claiming, and putting.
#include "sources/analyses/cache/cache.hpp"

#include <algorithm>
#include <utility>

#include <hondana/clock.hpp>

#include "sources/analyses/cache/cache_state.hpp"
#include "sources/analyses/cache/refusals.hpp"

namespace hondana::analyses {
namespace {

using patient = monotonic_clock;

/// How often those who wait look by themselves, whatever they hear.
constexpr milliseconds longest_sleep{5'000};

bool reaches(const summary& what, const thresholds& by) noexcept {
  constexpr double slack = 1e-9;
  return what.confidence + slack >= by.confidence && what.agreement + slack >= by.consensus && what.providers >= by.providers;
}

/// What one analysis adds to the sums: who put it may have written any number.
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

/// What does not do is not there.
void take_away(answer& from) {
  from.found.reset();
  from.what = from.claim ? answer::kind::computing : from.until != instant() ? answer::kind::failed : answer::kind::missing;
}

/// What is not good enough for this task is not there.
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
  // Whoever waits is counted from before it looks, so that it misses no news.
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
      continue;  // what happened before this was not heard
    }
    const auto now = self.in->now();
    if (!now) return tl::unexpected(now.error());
    const auto lease_left =
        std::clamp<milliseconds>(got->there.claim->until - *now + milliseconds(1), milliseconds(1), longest_sleep);
    held.lock();
    monotonic_clock::wait_until(self.has_news, held, what.stop, std::min(deadline, now_here + lease_left),
                                [&] { return self.crowds.find(mine.of)->second.news != known; });
    held.unlock();
    wanted.is_anew = false;  // there may be one that does by now
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

}  // namespace hondana::analyses
