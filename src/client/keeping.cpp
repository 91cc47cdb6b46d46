/// Taking watches up again after they were lost, and finding what they missed.
#include <algorithm>
#include <random>
#include <utility>

#include <hondana/clock.hpp>

#include "client/engine.hpp"
#include "client/watches.hpp"

namespace hondana::outbound {
namespace {

constexpr std::chrono::milliseconds first_pause{100};
constexpr std::chrono::milliseconds longest_pause{30'000};
constexpr std::size_t most_compared = 1'000;

/// Doubling, with up to half of it at random, so that the clients of a server that comes back do not all come at once.
std::chrono::milliseconds pause_after(unsigned failures) {
  thread_local std::minstd_rand chance(std::random_device{}());
  const auto whole = std::min(first_pause * (1u << std::min(failures, 10u)), longest_pause);
  return whole / 2 + std::chrono::milliseconds(chance() % static_cast<unsigned>(whole.count() / 2 + 1));
}

}  // namespace

void watches::up(const entry& one) {
  one->state = standing::up;
  one->up_since = clock::now();
  one->is_explained = false;
  one->is_refused = false;
  changed_.notify_all();
  if (one->ups++ == 0) return;
  // What was kept while nothing was heard may be old, and whoever hears this reads.
  engine_.forget_everything();
  change news;
  news.kind = change_kind::connection_back;
  queue(one, std::move(news));
}

void watches::down(const entry& one, const std::string& why) {
  if (one->state != standing::up) return;
  const auto now = clock::now();
  one->state = standing::down;
  ++one->doubts;
  if (now - one->up_since >= pace_.lasting) one->failures = 0;
  one->next_attempt = now + pause_after(one->failures++);
  change news;
  news.kind = change_kind::connection_lost;
  news.text = why;
  queue(one, std::move(news));
  changed_.notify_all();
}

void watches::lost(const failure& why) {
  engine_.forget_everything();
  const std::lock_guard lock(mutex_);
  ++losses_;
  subscribed_.clear();
  unwanted_.clear();
  put_off_.clear();
  for (const auto& one : all_) {
    // A stream of its own ends by itself.
    if (one->stream == 0) down(one, why.public_text);
  }
}

void watches::interrupted() {
  const std::lock_guard lock(mutex_);
  for (const auto& one : all_) {
    if (one->stream == 0) ++one->doubts;
  }
  changed_.notify_all();
}

bool watches::needs_pings() const {
  // Where each call has an exchange of its own, nothing says that a session has ended until somebody asks.
  const auto through = engine_.connection().talk().through();
  return through && through->has_exchanges() &&
         std::any_of(all_.begin(), all_.end(), [](const entry& one) { return one->state == standing::up && one->stream == 0; });
}

clock::time_point watches::next_work() const {
  auto until = unwanted_.empty() ? clock::time_point::max() : clock::now();
  for (const auto& one : all_) {
    if (one->state == standing::down) until = std::min(until, one->next_attempt);
    if (one->state == standing::up && one->doubts != one->settled) until = clock::now();
  }
  for (const auto due : {next_ping_, next_telling_}) {
    if (due != clock::time_point{}) until = std::min(until, due);
  }
  return until;
}

void watches::run() {
  held lock(mutex_);
  while (!is_closed()) {
    if (!needs_pings()) {
      next_ping_ = {};
      pings_unanswered_ = 0;
    } else if (next_ping_ == clock::time_point{}) {
      next_ping_ = clock::now() + pace_.between_pings;
    }
    const auto until = next_work();
    if (until == clock::time_point::max()) {
      changed_.wait(lock);
    } else {
      monotonic_clock::wait_until(changed_, lock, until);
    }
    if (!is_closed()) look_after(lock);
  }
}

void watches::look_after(held& lock) {
  if (next_telling_ != clock::time_point{} && clock::now() >= next_telling_) {
    bool is_told = true;
    for (const auto& one : all_) {
      if (one->waiting.empty()) continue;
      tell_soon(one);
      is_told = is_told && one->is_being_told;
    }
    if (is_told) next_telling_ = {};
  }
  if (!unwanted_.empty()) unsubscribe(lock);
  if (next_ping_ != clock::time_point{} && clock::now() >= next_ping_) ping(lock);
  const auto first = [this](const auto& which) {
    const auto found = std::find_if(all_.begin(), all_.end(), which);
    return found == all_.end() ? nullptr : *found;
  };
  const auto is_unsure = [](const entry& one) { return one->state == standing::up && one->doubts != one->settled; };
  const auto is_due = [](const entry& one) { return one->state == standing::down && one->next_attempt <= clock::now(); };
  // Their own share each: nothing is locked while they are looked after.
  if (auto one = first(is_unsure)) make_up(std::move(one), lock);
  if (auto one = first(is_due)) take_up(std::move(one), lock);
}

void watches::ping(held& lock) {
  next_ping_ = clock::now() + pace_.between_pings;
  const call_options how{.time = pace_.between_pings, .stop = closing_.get_token()};
  lock.unlock();
  const auto done = engine_.call({.asked = asking::ping()}, how);
  lock.lock();
  const bool is_late = !done && done.error().code == errc::timed_out;
  pings_unanswered_ = is_late ? pings_unanswered_ + 1 : 0;
  if (done) return;
  const auto& why = done.error();
  // A server that is busy, or answers anything else, is there.
  const bool is_lost =
      why.code == errc::source_unavailable || (why.answer && why.answer->http_status == 404) || pings_unanswered_ >= 2;
  if (!is_lost) return;
  pings_unanswered_ = 0;
  lock.unlock();
  engine_.lost(why);
  lock.lock();
}

void watches::take_up(entry one, held& lock) {
  one->state = standing::subscribing;
  lock.unlock();
  const auto done = subscribe(one, {.stop = closing_.get_token()});
  lock.lock();
  if (done || one->state != standing::subscribing) return;
  one->state = standing::down;
  // A server that says when to come back is not asked before, if that is not too long to be believed.
  const auto wanted = std::min(done.error().retry.value_or(std::chrono::milliseconds(0)), longest_pause);
  one->next_attempt = clock::now() + std::max(pause_after(one->failures++), wanted);
  // Once is news; that it goes on is none.
  if (done.error().code == errc::unauthorized || done.error().code == errc::scope_missing) {
    if (std::exchange(one->is_refused, true)) return;
    change news;
    news.kind = change_kind::refused;
    news.text = done.error().public_text;
    return queue(one, std::move(news));
  }
  if (done.error().code != errc::cancelled && !std::exchange(one->is_explained, true))
    engine_.noticed("subscriptions cannot be restored yet: " + done.error().public_text);
}

void watches::make_up(entry one, held& lock) {
  const auto doubts = one->doubts;
  std::size_t compared = 0;
  for (const auto& uri : one->what.uris) {
    // What was not looked at by then is when it is up again.
    if (one->state != standing::up) return;
    bool is_compared = compared < most_compared && seen_.contains(uri);
    if (is_compared) {
      ++compared;
      lock.unlock();
      // `seen` tells when it is another than before.
      const auto now = engine_.digest_of(uri, {.stop = closing_.get_token(), .afresh = true});
      lock.lock();
      is_compared = now.has_value();
      if (!now && now.error().code == errc::cancelled) return;
    }
    if (!is_compared) queue_missed(one, change_kind::resource, uri);
  }
  if (one->state != standing::up) return;
  if (one->honoured.resource_list) queue_missed(one, change_kind::resource_list);
  if (one->honoured.tool_list) queue_missed(one, change_kind::tool_list);
  if (one->honoured.prompt_list) queue_missed(one, change_kind::prompt_list);
  one->settled = doubts;
}

}  // namespace hondana::outbound
