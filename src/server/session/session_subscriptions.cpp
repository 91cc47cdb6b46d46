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
#include "server/session/exchange.hpp"
#include "server/session/request_execution.hpp"
#include "server/session/session.hpp"

namespace hondana::session {

std::shared_ptr<rpc::message_source> session::standing() { return own_notes(); }

std::shared_ptr<announcements> session::own_notes() {
  const std::lock_guard lock(making_);
  if (!standing_) standing_ = std::make_shared<announcements>(contexts_->current()->feed, nullptr, std::nullopt);
  return standing_;
}

caller as_seen_now(caller who, const context_source& contexts) {
  who.view = contexts.current()->gate->view_of(who);
  return who;
}

void session::let_see(announcements& stream, announcements_side as, const caller& who) const {
  // Changed rules are passed to the streams that the feed knows, possibly before this stream joins it. So this repeats until
  // they are stable.
  for (auto now = contexts_->current();;) {
    stream.see_as(as, who, now->gate, now->lookups);
    auto then = std::exchange(now, contexts_->current());
    if (then->gate == now->gate) return;
  }
}

void session::is_asked_by(const caller& who) {
  if (sees_alike(asker_, who)) return;
  asker_ = who;
  let_see(*own_notes(), announcements::side::asks, who);
}

std::uint64_t session::is_read_by(const caller& who) {
  const auto notes = own_notes();
  let_see(*notes, announcements::side::reads, who);
  return notes->sight_changes();
}

result<void> session::subscribe(const model::subscribe& what, const caller& who, const context& with) {
  if (!with.catalog->could_serve(what.uri)) {
    return fail(errc::invalid_argument, "No source of this server can serve this URI, so there is nothing to subscribe to.");
  }
  const auto notes = own_notes();
  let_see(*notes, announcements::side::asks, who);
  // A URI that was watched with entries is watched both ways for a moment, so that no change is missed.
  if (!notes->watch(what.uri, what.asked_uri, with.subscriptions + (notes->watches(what.uri) ? 1 : 0))) {
    return fail(errc::overloaded, "This client already watches " + std::to_string(with.subscriptions) +
                                      " resources. Unsubscribe from some before subscribing to more.");
  }
  if (conversation_.settled != nullptr) notes->begin(*conversation_.settled);
  if (!with.feed->watch(notes, what.uri)) {
    notes->unwatch(what.uri);
    return fail(errc::overloaded,
                "This client, or all clients of this server together, watch the maximum number of resources. Subscribe to "
                "fewer, or retry later.");
  }
  notes->owe(what.uri, notes->unwatch_entry(what.uri));
  return {};
}

/// Spec: 2026-07-28 basic/patterns/subscriptions. URIs that no source can serve, and notifications that are off, are not
/// accepted.
void session::listen(const model::listen& what, const std::shared_ptr<pending>& of, const incoming& from) {
  const auto& with = *of->with;
  if (from.facts.http && !from.facts.http->accepts_stream) {
    return of->refuse(wire::refused_by_http(
        406, "Not acceptable: this request is answered by a stream. Send Accept: application/json, text/event-stream."));
  }
  const auto stream = std::make_shared<announcements>(with.feed, &of->codec, of->id);
  stream->stay_at(from.answers->out()->place());
  let_see(*stream, announcements::side::asks, from.facts.who);
  model::interests honoured;
  honoured.resources = what.wanted.resources && with.self.announces_resources;
  honoured.tools = what.wanted.tools && with.self.announces_tools;
  honoured.prompts = what.wanted.prompts && with.self.announces_prompts;
  stream->want_lists(honoured.resources, honoured.tools, honoured.prompts);
  for (std::size_t i = 0; with.self.has_subscriptions && i < what.canonical_uris.size(); ++i) {
    const auto& uri = what.canonical_uris[i];
    if (!with.catalog->could_serve(uri) || !stream->watch(uri, what.wanted.uris[i], with.subscriptions)) continue;
    if (!with.feed->watch(stream, uri)) {
      stream->unwatch(uri);
      break;
    }
    honoured.uris.push_back(what.wanted.uris[i]);
  }
  for (std::size_t i = 0; with.self.has_subscriptions && i < what.canonical_entries.size(); ++i) {
    const auto& uri = what.canonical_entries[i];
    const auto& asked = what.wanted.entries[i];
    if (!with.catalog->could_serve(uri)) continue;
    if (!stream->watch_entry(uri, asked, with.subscriptions)) continue;
    if (!with.feed->watch(stream, uri)) {
      stream->unwatch_entry(uri);
      break;
    }
    honoured.entries.push_back(asked);
  }
  // Queued before any change can arrive: the acknowledgment is the first message of its stream.
  stream->say_first(of->codec.encode_acknowledged(honoured, of->id));
  if (honoured.resources || honoured.tools || honoured.prompts) with.feed->join(stream, honoured.resources);
  // If the rules changed meanwhile, the feed did not know this stream yet.
  let_see(*stream, announcements::side::asks, from.facts.who);

  of->reply.settle_in();
  const auto out = from.answers->out();
  // On a shared channel, the stream ends with a notification and a result; over HTTP with a result only. Spec: 2026-07-28
  // basic/patterns/cancellation and basic/patterns/subscriptions#graceful-closure.
  const auto end = [of] { of->succeed(rpc::body(of->codec.encode_listened(of->id, of->with->self))); };
  if (from.facts.http) {
    streams_->open(of->id, stream, end);
  } else {
    streams_->open(of->id, stream, [of, out, end] {
      out->send(wire::cancelled_notification(of->id, "the server is stopping"));
      end();
    });
  }
  out->follow(stream);
}

/// Subscribes to all URIs or to none: everything is checked before anything is changed.
result<void> session::subscribe(const model::subscribe_entries& what, const caller& who, const context& with) {
  for (std::size_t i = 0; i < what.uris.size(); ++i) {
    if (with.catalog->could_serve(what.uris[i])) continue;
    return fail(errc::invalid_argument,
                "params.uris[" + std::to_string(i) +
                    "]: No source of this server can serve this URI, so nothing in the list was subscribed to.");
  }
  const auto notes = own_notes();
  let_see(*notes, announcements::side::asks, who);
  if (!notes->has_room_for(what.uris, with.subscriptions)) {
    return fail(errc::overloaded, "A client may watch " + std::to_string(with.subscriptions) +
                                      " resources, and with these it would watch more. Nothing in the list was subscribed to.");
  }
  if (conversation_.settled != nullptr) notes->begin(*conversation_.settled);
  std::vector<std::string_view> fresh;
  for (const auto& uri : what.uris) {
    if (notes->watches(uri)) continue;
    if (with.feed->watch(notes, uri)) {
      fresh.emplace_back(uri);
      continue;
    }
    for (const auto one : fresh) with.feed->unwatch(*notes, std::string(one));
    return fail(errc::overloaded,
                "This client, or all clients of this server together, watch the maximum number of resources. Nothing in the "
                "list was subscribed to: subscribe to fewer, or retry later.");
  }
  for (std::size_t i = 0; i < what.uris.size(); ++i) {
    // Watched both ways for a moment, as above.
    if (!notes->watch_entry(what.uris[i], what.asked_uris[i], with.subscriptions + 1)) {
      return fail(errc::internal, "Internal error", "the room for URIs that was checked is gone");
    }
    notes->owe(what.uris[i], notes->unwatch(what.uris[i]));
  }
  return {};
}

void session::unsubscribe(const std::string& uri, const context& with) {
  const auto notes = own_notes();
  with.feed->unwatch(*notes, uri);
  notes->unwatch(uri);
  notes->unwatch_entry(uri);
}

}  // namespace hondana::session
