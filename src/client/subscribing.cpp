/// Subscriptions: asked for, refused and standing, with streams and with sessions.
#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include <hondana/clock.hpp>
#include <hondana/uri.hpp>

#include "client/engine.hpp"
#include "client/watches.hpp"
#include "protocol/wire/asking/speech.hpp"

namespace hondana::outbound {
namespace {

/// Whether a server with sessions says that it tells when its list of `what` changes.
bool tells_of(const server_description& with, std::string_view what) {
  const auto* offer = with.capabilities.find(what);
  const auto* flag = offer == nullptr ? nullptr : offer->find("listChanged");
  return flag != nullptr && flag->as_boolean().value_or(false);
}

bool is_nothing(const watch_request& honoured) {
  return honoured.uris.empty() && !honoured.resource_list && !honoured.tool_list && !honoured.prompt_list;
}

/// As a server may know it; what is malformed stays as it is.
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
      // It may have ended again since, which the keeper looks after.
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
    // What takes it back must not overtake what subscribes it.
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
    // Somebody may want it again by now, or in another spelling, of which a server would take the subscription back as well.
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
  // One that does not answer this does not answer the next.
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

}  // namespace hondana::outbound
