/// Subscribes watches, and subscribes them again after a lost connection.

#include <algorithm>
#include <array>
#include <iterator>
#include <random>
#include <utility>

#include <hondana/clock.hpp>
#include <hondana/uri.hpp>

#include "client/engine.hpp"
#include "client/watches.hpp"
#include "protocol/wire/asking/requests.hpp"

namespace hondana::outbound {
namespace {

/// Whether a server with sessions declares notifications for its list of `what`.
bool tells_of(const server_description& with, std::string_view what) {
  const auto* offer = with.capabilities.find(what);
  const auto* flag = offer == nullptr ? nullptr : offer->find("listChanged");
  return flag != nullptr && flag->as_boolean().value_or(false);
}

bool is_nothing(const watch_request& honoured) {
  return honoured.uris.empty() && !honoured.resource_list && !honoured.tool_list && !honoured.prompt_list;
}

/// The canonical form of a URI, which the server may use instead; malformed URIs stay unchanged.
std::string spelled_canonically(const std::string& uri) { return canonical_uri(uri).value_or(uri); }

failure session_ended() { return {errc::source_unavailable, "the session with the server ended during the subscription", {}}; }

}  // namespace

result<void> watches::subscribe(const entry& one, const call_options& how) {
  if (auto ready = engine_.connection().ready(how); !ready) return tl::unexpected(std::move(ready.error()));
  const std::stop_callback wake(how.stop, [this] {
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
  });
  return engine_.server().is_modern ? listen(one, how) : subscribe_each(one, how);
}

result<void> watches::listen(const entry& one, const call_options& how) {
  auto& talk = engine_.connection().talk();
  const auto in = engine_.connection().ready(how);
  if (!in) return tl::unexpected(in.error());
  const auto asked = asking::listen(one->what, one->what.entries && engine_.server().has_versions);
  const auto id = talk.next_id();
  unsigned ups = 0;
  {
    const std::lock_guard lock(mutex_);
    if (one->state != standing::subscribing) return fail(errc::cancelled, "the watch has ended");
    one->stream = id;
    one->refusal.reset();
    ups = one->ups;
  }
  const sending out{.method = asked.method, .headers = asking::headers_of(asked, *in)};
  auto done = talk.subscribe(id, asking::spelled(asked, id, *in, engine_.options(), false), out);
  {
    std::unique_lock lock(mutex_);
    if (done) {
      monotonic_clock::wait_until(changed_, lock, clock::now() + how.time.value_or(engine_.options().call_time), [&] {
        return one->ups != ups || one->refusal || one->state == standing::gone || is_closed() || how.stop.stop_requested();
      });
      // If the subscription has ended again since, the `keeper_` thread restores it.
      if (one->ups != ups) return {};
      if (one->refusal) {
        done = tl::unexpected(*one->refusal);
      } else if (one->state == standing::gone || is_closed() || how.stop.stop_requested()) {
        done = fail(errc::cancelled, "the watch was cancelled");
      } else {
        done = fail(errc::timed_out, "the server did not acknowledge subscriptions/listen in time");
      }
    }
    if (one->stream == id) one->stream = 0;
  }
  talk.drop(id);
  return done;
}

result<void> watches::subscribe_each(const entry& one, const call_options& how) {
  const auto with = engine_.server();
  auto honoured = one->what;
  if (!honoured.uris.empty() && !with.has_subscriptions)
    return fail(errc::unsupported, "the server does not declare support for resource subscriptions");
  honoured.resource_list = honoured.resource_list && with.has_list_changes;
  honoured.tool_list = honoured.tool_list && tells_of(with, "tools");
  honoured.prompt_list = honoured.prompt_list && tells_of(with, "prompts");
  honoured.entries = honoured.entries && with.has_versions;
  if (is_nothing(honoured)) return fail(errc::unsupported, "the server does not declare notifications of changed lists");
  std::uint64_t losses = 0;
  {
    const std::lock_guard lock(mutex_);
    losses = losses_;
  }
  if (honoured.entries) {
    HONDANA_TRY(subscribe_some(one, honoured.uris, true, losses, how));
  } else {
    for (const auto& uri : honoured.uris) {
      HONDANA_TRY(subscribe_some(one, {uri}, false, losses, how));
    }
  }
  const std::lock_guard lock(mutex_);
  if (one->state != standing::subscribing) return fail(errc::cancelled, "the watch has ended");
  if (losses_ != losses) return tl::unexpected(session_ended());
  one->honoured = std::move(honoured);
  up(one);
  return {};
}

result<void> watches::subscribe_some(const entry& one, const std::vector<std::string>& uris, bool entries, std::uint64_t losses,
                                     const call_options& how) {
  std::vector<std::string> missing;
  std::vector<std::string> canonical;
  std::transform(uris.begin(), uris.end(), std::back_inserter(canonical), spelled_canonically);
  {
    std::unique_lock lock(mutex_);
    const auto is_free = [&] {
      return std::none_of(canonical.begin(), canonical.end(), [this](const std::string& uri) { return ending_.contains(uri); });
    };
    // A pending unsubscribe must finish before the same URI is subscribed again.
    monotonic_clock::wait_until(changed_, lock, clock::now() + how.time.value_or(engine_.options().call_time), [&] {
      return is_free() || one->state == standing::gone || is_closed() || how.stop.stop_requested();
    });
    if (one->state == standing::gone || is_closed()) return fail(errc::cancelled, "the watch has ended");
    if (losses_ != losses) return tl::unexpected(session_ended());
    for (const auto& uri : uris) {
      const auto [at, is_new] = subscribed_.try_emplace({uri, entries}, false);
      if (is_new || !at->second) missing.push_back(uri);
    }
  }
  if (missing.empty()) return {};
  auto done = engine_.call({.asked = entries ? asking::subscribe_entries(missing) : asking::subscribe(missing.front())}, how);
  const std::lock_guard lock(mutex_);
  for (const auto& uri : missing) {
    const auto found = subscribed_.find({uri, entries});
    if (losses_ != losses || found == subscribed_.end()) continue;
    if (done) {
      found->second = true;
    } else if (done.error().answer && !found->second) {
      subscribed_.erase(found);
    }
  }
  if (!done) return tl::unexpected(std::move(done.error()));
  return {};
}

void watches::unsubscribe(held& lock) {
  constexpr std::chrono::milliseconds unsubscribing_time{2'000};
  const bool entries = unwanted_.begin()->second;
  std::vector<std::string> uris;
  for (auto one = unwanted_.begin(); one != unwanted_.end() && (entries || uris.empty());) {
    const auto next = std::next(one);
    // The URI may be watched again by now, or in another spelling. A server would end that subscription, too.
    if (wanted_.contains(one->first)) {
      unwanted_.erase(one);
    } else if (auto canonical = spelled_canonically(one->first); wanted_.contains(canonical)) {
      put_off_[std::move(canonical)].insert(*one);
      unwanted_.erase(one);
    } else if (one->second == entries) {
      uris.push_back(one->first);
      subscribed_.erase(*one);
      unwanted_.erase(one);
    }
    one = next;
  }
  if (uris.empty()) return;
  std::transform(uris.begin(), uris.end(), std::inserter(ending_, ending_.end()), spelled_canonically);
  lock.unlock();
  const auto done = engine_.call({.asked = entries ? asking::unsubscribe_entries(uris) : asking::unsubscribe(uris.front())},
                                 {.time = unsubscribing_time, .stop = closing_.get_token()});
  lock.lock();
  ending_.clear();
  changed_.notify_all();
  if (done || done.error().code == errc::cancelled) return;
  engine_.noticed("the subscription to " + uris.front() + " could not be ended: " + done.error().public_text);
  // If the server does not answer this request, it will not answer the next one either.
  if (done.error().code == errc::timed_out) unwanted_.clear();
}

void watches::begun(const entry& one, watch_request honoured) {
  if (one->state != standing::subscribing) return;
  honoured.resource_list = honoured.resource_list && one->what.resource_list;
  honoured.tool_list = honoured.tool_list && one->what.tool_list;
  honoured.prompt_list = honoured.prompt_list && one->what.prompt_list;
  if (is_nothing(honoured)) {
    one->refusal = failure{errc::unsupported, "the server accepted none of the requested subscriptions", {}};
    changed_.notify_all();
    return;
  }
  one->honoured = std::move(honoured);
  up(one);
}

void watches::over(const entry& one, std::optional<failure> why) {
  one->stream = 0;
  if (one->state == standing::subscribing) {
    if (!one->refusal)
      one->refusal = why ? std::move(*why) : failure{errc::unsupported, "the server ended the subscription immediately", {}};
    changed_.notify_all();
    return;
  }
  engine_.forget_everything();
  down(one, why ? why->public_text : "the server has ended the subscription");
}

namespace {

constexpr std::chrono::milliseconds first_pause{100};
constexpr std::chrono::milliseconds longest_pause{30'000};
constexpr std::size_t most_compared = 1'000;

/// Exponential back-off. Up to half of the pause is random, so that not all clients of a restarted server reconnect at once.
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
  // Cached responses may be stale, and a handler that gets `connection_back` is likely to read.
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
    // The end of a separate stream is reported by itself.
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
  // With one exchange per call, the end of a session is noticed only by a request.
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
  // Each of these releases the mutex while it works.
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
  // A server that is busy or answers with an error is alive.
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
  // Waits as long as the server asks, but at most `longest_pause`.
  const auto wanted = std::min(done.error().retry.value_or(std::chrono::milliseconds(0)), longest_pause);
  one->next_attempt = clock::now() + std::max(pause_after(one->failures++), wanted);
  // Notify the handler only of the first rejection.
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
    // The remaining URIs are compared when the watch is up again.
    if (one->state != standing::up) return;
    bool is_compared = compared < most_compared && seen_.contains(uri);
    if (is_compared) {
      ++compared;
      lock.unlock();
      // `digest_of` passes the new content to `seen`, which notifies the watches if it differs.
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
