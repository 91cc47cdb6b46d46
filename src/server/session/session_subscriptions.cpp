/// Subscriptions of a client: by requests of a session, or by a stream of its own.

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/rpc/message.hpp"
#include "protocol/wire/codec.hpp"
#include "protocol/wire/notifications.hpp"
#include "server/session/change_stream.hpp"
#include "server/session/request_execution.hpp"
#include "server/session/response_collector.hpp"
#include "server/session/session.hpp"

namespace hondana::session {

std::shared_ptr<rpc::message_source> session::notification_stream() { return session_stream(); }

std::shared_ptr<change_stream> session::session_stream() {
  const std::lock_guard lock(stream_mutex_);
  if (!session_stream_) session_stream_ = std::make_shared<change_stream>(snapshots_->current()->feed, nullptr, std::nullopt);
  return session_stream_;
}

caller_info with_current_filter(caller_info caller, const snapshot_source& snapshots) {
  caller.access_filter = snapshots.current()->gate->filter_of(caller);
  return caller;
}

void session::update_stream_access(change_stream& stream, stream_party party, const caller_info& caller) const {
  // Changed rules are passed to the streams that the feed knows, possibly before this stream joins it. So this repeats until
  // they are stable.
  for (auto current = snapshots_->current();;) {
    stream.set_caller(party, caller, current->gate, current->lookups);
    auto previous = std::exchange(current, snapshots_->current());
    if (previous->gate == current->gate) return;
  }
}

void session::set_subscriber(const caller_info& caller) {
  if (has_same_access(last_caller_, caller)) return;
  last_caller_ = caller;
  update_stream_access(*session_stream(), change_stream::party::subscriber, caller);
}

std::uint64_t session::set_stream_reader(const caller_info& caller) {
  const auto stream = session_stream();
  update_stream_access(*stream, change_stream::party::reader, caller);
  return stream->filter_generation();
}

result<void> session::subscribe(const model::subscribe& subscription, const caller_info& caller,
                                const server_snapshot& snapshot) {
  if (!snapshot.catalog->could_serve(subscription.uri)) {
    return fail(errc::invalid_argument, "No source of this server can serve this URI, so there is nothing to subscribe to.");
  }
  const auto stream = session_stream();
  update_stream_access(*stream, change_stream::party::subscriber, caller);
  // A URI that was watched with entries is watched both ways for a moment, so that no change is missed.
  if (!stream->watch(subscription.uri, subscription.requested_uri,
                     snapshot.max_subscriptions + (stream->is_watching(subscription.uri) ? 1 : 0))) {
    return fail(errc::overloaded, "This client already watches " + std::to_string(snapshot.max_subscriptions) +
                                      " resources. Unsubscribe from some before subscribing to more.");
  }
  if (negotiation_.revision != nullptr) stream->start(*negotiation_.revision);
  if (!snapshot.feed->watch(stream, subscription.uri)) {
    stream->unwatch(subscription.uri);
    return fail(errc::overloaded,
                "This client, or all clients of this server together, watch the maximum number of resources. Subscribe to "
                "fewer, or retry later.");
  }
  stream->restore_pending(subscription.uri, stream->unwatch_entry(subscription.uri));
  return {};
}

/// Spec: 2026-07-28 basic/patterns/subscriptions. URIs that no source can serve, and notifications that are off, are not
/// accepted.
void session::listen(const model::listen& subscription, const std::shared_ptr<pending_request>& pending,
                     const incoming_message& incoming) {
  const auto& snapshot = *pending->snapshot;
  if (incoming.request_info.http && !incoming.request_info.http->accepts_stream) {
    return pending->reject(wire::rejected_by_http(
        406, "Not acceptable: this request is answered by a stream. Send Accept: application/json, text/event-stream."));
  }
  const auto stream = std::make_shared<change_stream>(snapshot.feed, &pending->codec, pending->id);
  stream->set_executor(incoming.answers->writer()->preferred_executor());
  update_stream_access(*stream, change_stream::party::subscriber, incoming.request_info.caller);
  model::subscription_filter accepted;
  accepted.resources = subscription.filter.resources && snapshot.server_info.announces_resources;
  accepted.tools = subscription.filter.tools && snapshot.server_info.announces_tools;
  accepted.prompts = subscription.filter.prompts && snapshot.server_info.announces_prompts;
  stream->set_lists(accepted.resources, accepted.tools, accepted.prompts);
  for (std::size_t i = 0; snapshot.server_info.has_subscriptions && i < subscription.canonical_uris.size(); ++i) {
    const auto& uri = subscription.canonical_uris[i];
    if (!snapshot.catalog->could_serve(uri) || !stream->watch(uri, subscription.filter.uris[i], snapshot.max_subscriptions))
      continue;
    if (!snapshot.feed->watch(stream, uri)) {
      stream->unwatch(uri);
      break;
    }
    accepted.uris.push_back(subscription.filter.uris[i]);
  }
  for (std::size_t i = 0; snapshot.server_info.has_subscriptions && i < subscription.canonical_entries.size(); ++i) {
    const auto& uri = subscription.canonical_entries[i];
    const auto& requested_uri = subscription.filter.entries[i];
    if (!snapshot.catalog->could_serve(uri)) continue;
    if (!stream->watch_entry(uri, requested_uri, snapshot.max_subscriptions)) continue;
    if (!snapshot.feed->watch(stream, uri)) {
      stream->unwatch_entry(uri);
      break;
    }
    accepted.entries.push_back(requested_uri);
  }
  // Queued before any change can arrive: the acknowledgment is the first message of its stream.
  stream->send_first(pending->codec.encode_acknowledgement(accepted, pending->id));
  if (accepted.resources || accepted.tools || accepted.prompts) snapshot.feed->add_listener(stream, accepted.resources);
  // If the rules changed meanwhile, the feed did not know this stream yet.
  update_stream_access(*stream, change_stream::party::subscriber, incoming.request_info.caller);

  pending->reply.drop_fallback();
  const auto writer = incoming.answers->writer();
  // On a shared channel, the stream ends with a notification and a result; over HTTP with a result only. Spec: 2026-07-28
  // basic/patterns/cancellation and basic/patterns/subscriptions#graceful-closure.
  const auto finish_stream = [pending] {
    pending->succeed(rpc::body(pending->codec.encode_stream_end(pending->id, pending->snapshot->server_info)));
  };
  if (incoming.request_info.http) {
    streams_->open(pending->id, stream, finish_stream);
  } else {
    streams_->open(pending->id, stream, [pending, writer, finish_stream] {
      writer->send(wire::cancelled_notification(pending->id, "the server is stopping"));
      finish_stream();
    });
  }
  writer->stream(stream);
}

/// Subscribes to all URIs or to none: everything is checked before anything is changed.
result<void> session::subscribe(const model::subscribe_entries& subscription, const caller_info& caller,
                                const server_snapshot& snapshot) {
  for (std::size_t i = 0; i < subscription.uris.size(); ++i) {
    if (snapshot.catalog->could_serve(subscription.uris[i])) continue;
    return fail(errc::invalid_argument,
                "params.uris[" + std::to_string(i) +
                    "]: No source of this server can serve this URI, so nothing in the list was subscribed to.");
  }
  const auto stream = session_stream();
  update_stream_access(*stream, change_stream::party::subscriber, caller);
  if (!stream->has_capacity_for(subscription.uris, snapshot.max_subscriptions)) {
    return fail(errc::overloaded, "A client may watch " + std::to_string(snapshot.max_subscriptions) +
                                      " resources, and with these it would watch more. Nothing in the list was subscribed to.");
  }
  if (negotiation_.revision != nullptr) stream->start(*negotiation_.revision);
  std::vector<std::string_view> added;
  for (const auto& uri : subscription.uris) {
    if (stream->is_watching(uri)) continue;
    if (snapshot.feed->watch(stream, uri)) {
      added.emplace_back(uri);
      continue;
    }
    for (const auto added_uri : added) snapshot.feed->unwatch(*stream, std::string(added_uri));
    return fail(errc::overloaded,
                "This client, or all clients of this server together, watch the maximum number of resources. Nothing in the "
                "list was subscribed to: subscribe to fewer, or retry later.");
  }
  for (std::size_t i = 0; i < subscription.uris.size(); ++i) {
    // Watched both ways for a moment, as above.
    if (!stream->watch_entry(subscription.uris[i], subscription.requested_uris[i], snapshot.max_subscriptions + 1)) {
      return fail(errc::internal, "Internal error", "the room for URIs that was checked is gone");
    }
    stream->restore_pending(subscription.uris[i], stream->unwatch(subscription.uris[i]));
  }
  return {};
}

void session::unsubscribe(const std::string& uri, const server_snapshot& snapshot) {
  const auto stream = session_stream();
  snapshot.feed->unwatch(*stream, uri);
  stream->unwatch(uri);
  stream->unwatch_entry(uri);
}

}  // namespace hondana::session
