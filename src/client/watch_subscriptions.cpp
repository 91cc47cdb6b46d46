/// Subscribes watches, and subscribes them again after a lost connection.

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include <hondana/clock.hpp>
#include <hondana/uri.hpp>

#include "base/executor/backoff.hpp"
#include "client/engine.hpp"
#include "client/watch_registry.hpp"
#include "protocol/wire/asking/requests.hpp"

namespace hondana::outbound {
namespace {

/// Whether a server with sessions declares change notifications for `list`.
bool declares_list_changes(const server_description& server, std::string_view list) {
  const auto* offer = server.capabilities.find(list);
  const auto* flag = offer == nullptr ? nullptr : offer->find("listChanged");
  return flag != nullptr && flag->as_boolean().value_or(false);
}

bool is_empty(const watch_request& accepted) {
  return accepted.uris.empty() && !accepted.resource_list && !accepted.tool_list && !accepted.prompt_list;
}

/// The canonical form of a URI, which the server may use instead; malformed URIs stay unchanged.
std::string canonical_or_unchanged(const std::string& uri) { return canonical_uri(uri).value_or(uri); }

failure session_ended() { return {errc::source_unavailable, "the session with the server ended during the subscription", {}}; }

}  // namespace

result<void> watch_registry::subscribe(const watch_ptr& watch, const call_options& options) {
  if (auto ready = engine_.connection().ensure_open(options); !ready) return tl::unexpected(std::move(ready.error()));
  const std::stop_callback on_stop(options.stop, [this] {
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
  });
  return engine_.server().is_modern ? listen(watch, options) : subscribe_each(watch, options);
}

result<void> watch_registry::listen(const watch_ptr& watch, const call_options& options) {
  auto& peer = engine_.connection().peer();
  const auto protocol = engine_.connection().ensure_open(options);
  if (!protocol) return tl::unexpected(protocol.error());
  const auto request = asking::listen(watch->request, watch->request.include_entries && engine_.server().has_versions);
  const auto id = peer.next_id();
  unsigned activations = 0;
  {
    const std::lock_guard lock(mutex_);
    if (watch->status != watch_status::subscribing) return fail(errc::cancelled, "the watch has ended");
    watch->stream_id = id;
    watch->rejection.reset();
    activations = watch->activations;
  }
  const outgoing_request outgoing{.method = request.method, .headers = asking::headers_of(request, *protocol)};
  auto subscribed = peer.subscribe(id, asking::encode_request(request, id, *protocol, engine_.options(), false), outgoing);
  {
    std::unique_lock lock(mutex_);
    if (subscribed) {
      monotonic_clock::wait_until(changed_, lock, clock::now() + options.timeout.value_or(engine_.options().call_timeout), [&] {
        return watch->activations != activations || watch->rejection || watch->status == watch_status::closed || is_closed() ||
               options.stop.stop_requested();
      });
      // If the subscription has ended again since, the `worker_` thread restores it.
      if (watch->activations != activations) return {};
      if (watch->rejection) {
        subscribed = tl::unexpected(*watch->rejection);
      } else if (watch->status == watch_status::closed || is_closed() || options.stop.stop_requested()) {
        subscribed = fail(errc::cancelled, "the watch was cancelled");
      } else {
        subscribed = fail(errc::timed_out, "the server did not acknowledge subscriptions/listen in time");
      }
    }
    if (watch->stream_id == id) watch->stream_id = 0;
  }
  peer.unsubscribe(id);
  return subscribed;
}

result<void> watch_registry::subscribe_each(const watch_ptr& watch, const call_options& options) {
  const auto server = engine_.server();
  auto accepted = watch->request;
  if (!accepted.uris.empty() && !server.has_subscriptions)
    return fail(errc::unsupported, "the server does not declare support for resource subscriptions");
  accepted.resource_list = accepted.resource_list && server.has_list_changes;
  accepted.tool_list = accepted.tool_list && declares_list_changes(server, "tools");
  accepted.prompt_list = accepted.prompt_list && declares_list_changes(server, "prompts");
  accepted.include_entries = accepted.include_entries && server.has_versions;
  if (is_empty(accepted)) return fail(errc::unsupported, "the server does not declare notifications of changed lists");
  std::uint64_t lost_sessions = 0;
  {
    const std::lock_guard lock(mutex_);
    lost_sessions = lost_sessions_;
  }
  if (accepted.include_entries) {
    HONDANA_TRY(subscribe_uris(watch, accepted.uris, true, lost_sessions, options));
  } else {
    for (const auto& uri : accepted.uris) {
      HONDANA_TRY(subscribe_uris(watch, {uri}, false, lost_sessions, options));
    }
  }
  const std::lock_guard lock(mutex_);
  if (watch->status != watch_status::subscribing) return fail(errc::cancelled, "the watch has ended");
  if (lost_sessions_ != lost_sessions) return tl::unexpected(session_ended());
  watch->accepted = std::move(accepted);
  activate(watch);
  return {};
}

result<void> watch_registry::subscribe_uris(const watch_ptr& watch, const std::vector<std::string>& uris, bool entries,
                                            std::uint64_t lost_sessions, const call_options& options) {
  std::vector<std::string> missing;
  std::vector<std::string> canonical;
  std::transform(uris.begin(), uris.end(), std::back_inserter(canonical), canonical_or_unchanged);
  {
    std::unique_lock lock(mutex_);
    const auto is_free = [&] {
      return std::none_of(canonical.begin(), canonical.end(),
                          [this](const std::string& uri) { return unsubscribing_.contains(uri); });
    };
    // A pending unsubscribe must finish before the same URI is subscribed again.
    monotonic_clock::wait_until(changed_, lock, clock::now() + options.timeout.value_or(engine_.options().call_timeout), [&] {
      return is_free() || watch->status == watch_status::closed || is_closed() || options.stop.stop_requested();
    });
    if (watch->status == watch_status::closed || is_closed()) return fail(errc::cancelled, "the watch has ended");
    if (lost_sessions_ != lost_sessions) return tl::unexpected(session_ended());
    for (const auto& uri : uris) {
      const auto [position, is_new] = subscriptions_.try_emplace({uri, entries}, false);
      if (is_new || !position->second) missing.push_back(uri);
    }
  }
  if (missing.empty()) return {};
  auto subscribed =
      engine_.call({.message = entries ? asking::subscribe_entries(missing) : asking::subscribe(missing.front())}, options);
  const std::lock_guard lock(mutex_);
  for (const auto& uri : missing) {
    const auto position = subscriptions_.find({uri, entries});
    if (lost_sessions_ != lost_sessions || position == subscriptions_.end()) continue;
    if (subscribed) {
      position->second = true;
    } else if (subscribed.error().server_error && !position->second) {
      subscriptions_.erase(position);
    }
  }
  if (!subscribed) return tl::unexpected(std::move(subscribed.error()));
  return {};
}

void watch_registry::unsubscribe(lock_type& lock) {
  constexpr std::chrono::milliseconds unsubscribing_time{2'000};
  const bool entries = to_unsubscribe_.begin()->second;
  std::vector<std::string> uris;
  for (auto position = to_unsubscribe_.begin(); position != to_unsubscribe_.end() && (entries || uris.empty());) {
    const auto next = std::next(position);
    // The URI may be watched again by now, or in another spelling. A server would end that subscription, too.
    if (uri_counts_.contains(position->first)) {
      to_unsubscribe_.erase(position);
    } else if (auto canonical = canonical_or_unchanged(position->first); uri_counts_.contains(canonical)) {
      deferred_[std::move(canonical)].insert(*position);
      to_unsubscribe_.erase(position);
    } else if (position->second == entries) {
      uris.push_back(position->first);
      subscriptions_.erase(*position);
      to_unsubscribe_.erase(position);
    }
    position = next;
  }
  if (uris.empty()) return;
  std::transform(uris.begin(), uris.end(), std::inserter(unsubscribing_, unsubscribing_.end()), canonical_or_unchanged);
  lock.unlock();
  const auto unsubscribed =
      engine_.call({.message = entries ? asking::unsubscribe_entries(uris) : asking::unsubscribe(uris.front())},
                   {.timeout = unsubscribing_time, .stop = closing_.get_token()});
  lock.lock();
  unsubscribing_.clear();
  changed_.notify_all();
  if (unsubscribed || unsubscribed.error().code == errc::cancelled) return;
  engine_.log_line("the subscription to " + uris.front() + " could not be ended: " + unsubscribed.error().public_text);
  // If the server does not answer this request, it will not answer the next one either.
  if (unsubscribed.error().code == errc::timed_out) to_unsubscribe_.clear();
}

void watch_registry::on_acknowledged(const watch_ptr& watch, watch_request accepted) {
  if (watch->status != watch_status::subscribing) return;
  accepted.resource_list = accepted.resource_list && watch->request.resource_list;
  accepted.tool_list = accepted.tool_list && watch->request.tool_list;
  accepted.prompt_list = accepted.prompt_list && watch->request.prompt_list;
  if (is_empty(accepted)) {
    watch->rejection = failure{errc::unsupported, "the server accepted none of the requested subscriptions", {}};
    changed_.notify_all();
    return;
  }
  watch->accepted = std::move(accepted);
  activate(watch);
}

void watch_registry::end_stream(const watch_ptr& watch, std::optional<failure> reason) {
  watch->stream_id = 0;
  if (watch->status == watch_status::subscribing) {
    if (!watch->rejection)
      watch->rejection =
          reason ? std::move(*reason) : failure{errc::unsupported, "the server ended the subscription immediately", {}};
    changed_.notify_all();
    return;
  }
  engine_.clear_cache();
  deactivate(watch, reason ? reason->public_text : "the server has ended the subscription");
}

namespace {

constexpr executor::backoff pauses{std::chrono::milliseconds(100), std::chrono::milliseconds(30'000)};
constexpr std::size_t max_compared = 1'000;

/// Up to half of the pause is random, so that not all clients of a restarted server reconnect at once.
std::chrono::milliseconds pause_after(std::size_t failures) {
  const auto delay = pauses.delay(failures);
  return delay / 2 + executor::random_delay(delay / 2);
}

}  // namespace

void watch_registry::activate(const watch_ptr& watch) {
  watch->status = watch_status::active;
  watch->active_since = clock::now();
  watch->is_logged = false;
  watch->is_rejected = false;
  changed_.notify_all();
  if (watch->activations++ == 0) return;
  // Cached responses may be stale, and a handler that gets `connection_restored` is likely to read.
  engine_.clear_cache();
  watch_event event;
  event.kind = watch_event_kind::connection_restored;
  enqueue(watch, std::move(event));
}

void watch_registry::deactivate(const watch_ptr& watch, const std::string& reason) {
  if (watch->status != watch_status::active) return;
  const auto now = clock::now();
  watch->status = watch_status::inactive;
  ++watch->gaps;
  if (now - watch->active_since >= timing_.min_lifetime) watch->failures = 0;
  watch->next_attempt = now + pause_after(++watch->failures);
  watch_event event;
  event.kind = watch_event_kind::connection_lost;
  event.reason = reason;
  enqueue(watch, std::move(event));
  changed_.notify_all();
}

void watch_registry::on_disconnect(const failure& reason) {
  engine_.clear_cache();
  const std::lock_guard lock(mutex_);
  ++lost_sessions_;
  subscriptions_.clear();
  to_unsubscribe_.clear();
  deferred_.clear();
  for (const auto& watch : watches_) {
    // The end of a separate stream is reported by itself.
    if (watch->stream_id == 0) deactivate(watch, reason.public_text);
  }
}

void watch_registry::on_interruption() {
  const std::lock_guard lock(mutex_);
  for (const auto& watch : watches_) {
    if (watch->stream_id == 0) ++watch->gaps;
  }
  changed_.notify_all();
}

bool watch_registry::needs_pings() const {
  // With one exchange per call, the end of a session is noticed only by a request.
  const auto channel = engine_.connection().peer().current_channel();
  return channel && channel->has_exchanges() && std::any_of(watches_.begin(), watches_.end(), [](const watch_ptr& watch) {
           return watch->status == watch_status::active && watch->stream_id == 0;
         });
}

clock::time_point watch_registry::next_wakeup() const {
  auto wakeup = to_unsubscribe_.empty() ? clock::time_point::max() : clock::now();
  for (const auto& watch : watches_) {
    if (watch->status == watch_status::inactive) wakeup = std::min(wakeup, watch->next_attempt);
    if (watch->status == watch_status::active && watch->gaps != watch->reported_gaps) wakeup = clock::now();
  }
  for (const auto scheduled : {next_ping_, next_delivery_}) {
    if (scheduled != clock::time_point{}) wakeup = std::min(wakeup, scheduled);
  }
  return wakeup;
}

void watch_registry::run() {
  lock_type lock(mutex_);
  while (!is_closed()) {
    if (!needs_pings()) {
      next_ping_ = {};
      pings_unanswered_ = 0;
    } else if (next_ping_ == clock::time_point{}) {
      next_ping_ = clock::now() + timing_.ping_interval;
    }
    const auto wakeup = next_wakeup();
    if (wakeup == clock::time_point::max()) {
      changed_.wait(lock);
    } else {
      monotonic_clock::wait_until(changed_, lock, wakeup);
    }
    if (!is_closed()) do_work(lock);
  }
}

void watch_registry::do_work(lock_type& lock) {
  if (next_delivery_ != clock::time_point{} && clock::now() >= next_delivery_) {
    bool is_scheduled = true;
    for (const auto& watch : watches_) {
      if (watch->events.empty()) continue;
      schedule(watch);
      is_scheduled = is_scheduled && watch->is_scheduled;
    }
    if (is_scheduled) next_delivery_ = {};
  }
  if (!to_unsubscribe_.empty()) unsubscribe(lock);
  if (next_ping_ != clock::time_point{} && clock::now() >= next_ping_) ping(lock);
  const auto first = [this](const auto& predicate) {
    const auto position = std::find_if(watches_.begin(), watches_.end(), predicate);
    return position == watches_.end() ? nullptr : *position;
  };
  const auto needs_report = [](const watch_ptr& watch) {
    return watch->status == watch_status::active && watch->gaps != watch->reported_gaps;
  };
  const auto is_due = [](const watch_ptr& watch) {
    return watch->status == watch_status::inactive && watch->next_attempt <= clock::now();
  };
  // Each of these releases the mutex while it works.
  if (auto unsure_watch = first(needs_report)) report_missed(std::move(unsure_watch), lock);
  if (auto due_watch = first(is_due)) resubscribe(std::move(due_watch), lock);
}

void watch_registry::ping(lock_type& lock) {
  next_ping_ = clock::now() + timing_.ping_interval;
  const call_options ping_options{.timeout = timing_.ping_interval, .stop = closing_.get_token()};
  lock.unlock();
  const auto response = engine_.call({.message = asking::ping()}, ping_options);
  lock.lock();
  const bool is_late = !response && response.error().code == errc::timed_out;
  pings_unanswered_ = is_late ? pings_unanswered_ + 1 : 0;
  if (response) return;
  const auto& error = response.error();
  // A server that is busy or answers with an error is alive.
  const bool is_lost = error.code == errc::source_unavailable ||
                       (error.server_error && error.server_error->http_status == 404) || pings_unanswered_ >= 2;
  if (!is_lost) return;
  pings_unanswered_ = 0;
  lock.unlock();
  engine_.on_disconnect(error);
  lock.lock();
}

void watch_registry::resubscribe(watch_ptr watch, lock_type& lock) {
  watch->status = watch_status::subscribing;
  lock.unlock();
  const auto subscribed = subscribe(watch, {.stop = closing_.get_token()});
  lock.lock();
  if (subscribed || watch->status != watch_status::subscribing) return;
  watch->status = watch_status::inactive;
  // Waits as long as the server asks, but at most as long as the longest pause.
  const auto requested_delay = std::min(subscribed.error().retry_after.value_or(std::chrono::milliseconds(0)), pauses.max);
  watch->next_attempt = clock::now() + std::max(pause_after(++watch->failures), requested_delay);
  // Notify the handler only of the first rejection.
  if (subscribed.error().code == errc::unauthorized || subscribed.error().code == errc::insufficient_scope) {
    if (std::exchange(watch->is_rejected, true)) return;
    watch_event event;
    event.kind = watch_event_kind::subscription_rejected;
    event.reason = subscribed.error().public_text;
    return enqueue(watch, std::move(event));
  }
  if (subscribed.error().code != errc::cancelled && !std::exchange(watch->is_logged, true))
    engine_.log_line("subscriptions cannot be restored yet: " + subscribed.error().public_text);
}

void watch_registry::report_missed(watch_ptr watch, lock_type& lock) {
  const auto gaps = watch->gaps;
  std::size_t compared = 0;
  for (const auto& uri : watch->request.uris) {
    // The remaining URIs are compared when the watch is active again.
    if (watch->status != watch_status::active) return;
    bool is_compared = compared < max_compared && digests_.contains(uri);
    if (is_compared) {
      ++compared;
      lock.unlock();
      // `read_digest` passes the new digest to `record_content`, which notifies the watches if it differs.
      const auto digest = engine_.read_digest(uri, {.stop = closing_.get_token(), .bypass_cache = true});
      lock.lock();
      is_compared = digest.has_value();
      if (!digest && digest.error().code == errc::cancelled) return;
    }
    if (!is_compared) enqueue_missed(watch, watch_event_kind::resource, uri);
  }
  if (watch->status != watch_status::active) return;
  if (watch->accepted.resource_list) enqueue_missed(watch, watch_event_kind::resource_list);
  if (watch->accepted.tool_list) enqueue_missed(watch, watch_event_kind::tool_list);
  if (watch->accepted.prompt_list) enqueue_missed(watch, watch_event_kind::prompt_list);
  watch->reported_gaps = gaps;
}

}  // namespace hondana::outbound
