/// Requests of a session: admission, audit record, and answers from a cache or by execution.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include <hondana/audit.hpp>
#include <hondana/clock.hpp>

#include "base/tracing/tracing.hpp"
#include "protocol/model/operations.hpp"
#include "protocol/rpc/message_sink.hpp"
#include "protocol/wire/choose.hpp"
#include "protocol/wire/codec.hpp"
#include "server/gate/operation_names.hpp"
#include "server/session/answer_cache.hpp"
#include "server/session/change_stream.hpp"
#include "server/session/exchange.hpp"
#include "server/session/request_accounting.hpp"
#include "server/session/request_execution.hpp"
#include "server/session/session.hpp"

namespace hondana::session {

/// Sends progress notifications of one request. Spec: basic/utilities/progress (all revisions). Threads: any.
class progress_line {
 public:
  progress_line(model::token token, std::shared_ptr<rpc::outlet> out) : token_(std::move(token)), out_(std::move(out)) {}

  /// Sends at most ten notifications per second, and only if `now.done` has increased.
  void report(const progress& now) {
    const std::lock_guard lock(mutex_);
    const auto at = monotonic_clock::now();
    if (closed_ || (sent_any_ && (now.done <= last_done_ || at - last_at_ < std::chrono::milliseconds(100)))) return;
    sent_any_ = true;
    last_done_ = now.done;
    last_at_ = at;
    out_->send(wire::progress_notification(token_, now));
  }

  /// Nothing is sent after this call.
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }

 private:
  std::mutex mutex_;
  model::token token_;
  std::shared_ptr<rpc::outlet> out_;
  bool closed_ = false;
  bool sent_any_ = false;
  double last_done_ = 0;
  std::chrono::steady_clock::time_point last_at_;
};

/// Counts a request that was answered from a cache, and ends its span.
inline void answered_at_hand(const model::request& what, const wire::codec& in, const std::shared_ptr<tracing::live_span>& span,
                             std::chrono::steady_clock::time_point since, const rpc::delivery& said) {
  request_figures::here().answered(request_figures::method_of(what.operation), in, said.error, monotonic_clock::now() - since);
  if (span) end(*span, said.error);
}

/// Counts a request in progress, and its outcome.
class counted_request {
 public:
  counted_request(const model::operation& what, const wire::codec& in, std::shared_ptr<tracing::live_span> span,
                  std::chrono::steady_clock::time_point since)
      : method_(request_figures::method_of(what)),
        // A stream is answered when it ends.
        is_stream_(std::holds_alternative<model::listen>(what)),
        in_(in),
        span_(std::move(span)),
        since_(since) {
    request_figures::here().began();
    if (is_stream_) request_figures::here().opened_stream();
  }
  ~counted_request() {
    request_figures::here().ended();
    if (is_stream_) request_figures::here().closed_stream();
  }
  counted_request(const counted_request&) = delete;
  counted_request& operator=(const counted_request&) = delete;

  void answered(int code) {
    auto& all = request_figures::here();
    if (is_stream_) {
      all.answered(method_, in_, code);
    } else {
      all.answered(method_, in_, code, monotonic_clock::now() - since_);
    }
    if (span_) end(*span_, code);
  }
  void given_up(audit_outcome how) {
    request_figures::here().given_up(method_, in_, how);
    if (!span_) return;
    span_->set("error.type", std::string(how == audit_outcome::cancelled ? "cancelled" : "gone"));
    span_->fail();
    span_->end();
  }

 private:
  const std::size_t method_;
  const bool is_stream_;
  const wire::codec& in_;
  const std::shared_ptr<tracing::live_span> span_;
  const std::chrono::steady_clock::time_point since_;
};

namespace {

std::string uri_of(const model::operation& what) {
  if (const auto* read = std::get_if<model::read_resource>(&what)) return read->asked_uri;
  if (const auto* get = std::get_if<model::get_resource>(&what)) return get->asked_uri;
  if (const auto* subscription = std::get_if<model::subscribe>(&what)) return subscription->asked_uri;
  if (const auto* folder = std::get_if<model::read_directory>(&what)) return folder->asked_uri;
  if (const auto* skill = std::get_if<model::get_skill>(&what)) return skill->asked_uri;
  return {};
}

/// The time until the request is answered with an error.
std::chrono::milliseconds time_for(const model::operation& what, const context& with) {
  auto out = with.call_deadline;
  if (!with.deadlines.empty()) {
    const auto methods = gate::subject_of(what).methods;
    const auto own = methods.empty() ? with.deadlines.end() : with.deadlines.find(methods.front());
    if (own != with.deadlines.end()) out = own->second;
  }
  return std::min(out, with.longest_call);
}

/// The codec for the answer, with the extension if the request uses it. A session that has used the extension once stays with
/// it; in the stateless era each request decides for itself.
const wire::codec& manners_of(const model::request& what, const wire::codec& codec, wire::conversation& with) {
  const auto& manners = what.is_versioned ? codec.versioned() : codec;
  if (what.is_versioned && with.settled == &codec) wire::settle(with, manners);
  return manners;
}

}  // namespace

session::admission session::admit(std::shared_ptr<const context> with, const model::request& what, std::string_view method,
                                  const wire::codec& codec, const rpc::facts& facts, bool is_first) {
  const auto since = monotonic_clock::now();
  auto span = with->traces ? span_of(*with->traces, what, codec, facts) : nullptr;
  const auto end = with->ended || with->audit ? std::make_shared<ending>() : nullptr;
  if (with->ended) end->listen([with, who = facts.who](const completion& how) { with->ended(who, how); });
  auto who = facts.who;
  who.view = with->gate->view_of(facts.who);
  result<void> admitted;
  // If addresses have limits, the first message was counted for its address before authentication.
  if (with->meter) admitted = with->meter->admit(facts.who, std::holds_alternative<model::complete>(what.operation), is_first);
  if (!admitted) with->note_refusal(429, facts.who.address, facts.who.identity, admitted.error().public_text);
  if (admitted) admitted = with->gate->admit(facts.who, what.operation);
  if (with->audit) {
    // Recorded before anything is done for the request, and before it can be cancelled.
    auto decided = with->audit->decide(decision_about(*with, who, method, what, admitted));
    if (decided) {
      end->listen([by = with->audit, number = *decided, trace = std::string(tracing::trace_in(what.trace.traceparent))](
                      const completion& how) { by->complete(number, completion_of(how, trace)); });
    } else if (admitted) {
      admitted = tl::unexpected(std::move(decided.error()));
    }
  }
  return {std::move(with), std::move(who), end, std::move(admitted), std::move(span), since};
}

session::beginning session::begin(const context_source& contexts, std::string_view message, const rpc::facts& facts) {
  wire::conversation none;
  return begin(contexts, message, facts, none, nullptr);
}

/// `under_way`: the client's requests in progress. Null: none.
session::beginning session::begin(const context_source& contexts, std::string_view message, const rpc::facts& facts,
                                  wire::conversation& in, const rpc::in_flight* under_way) {
  auto with = contexts.current();
  const auto cut = with->known ? cut_id(message) : std::nullopt;
  const auto known = cut ? with->known->find(*cut, facts, in.settled) : nullptr;
  if (!known) return {};
  const auto& asked = known->meaning->what;
  const auto& manners = manners_of(asked, *known->meaning->codec, in);
  // The current configuration may offer less.
  if (manners.refuse_undeclared(asked.operation, with->self)) return {};
  const rpc::request_id id = cut->id;
  beginning out;
  try {
    auto granted = admit(std::move(with), asked, known->meaning->method, manners, facts, true);
    const auto& now = *granted.with;
    const auto most = now.requests_under_way;
    std::optional<page_key> page;
    if (granted.outcome && !now.pages->is_off()) page = page_asked_for(asked.operation, manners, granted.who);
    if (granted.outcome && (under_way != nullptr ? under_way->has_room_for(id, most) : most > 0)) {
      out.said = page ? page_at_hand(*page, now, id) : answer_at_hand(now, granted.who, asked.operation, id, manners, known);
    }
    if (!out.said) {
      out.rest =
          std::make_shared<known_request>(known_request{known->meaning, cut->id, manners, std::move(granted), std::move(page)});
    } else {
      answered_at_hand(asked, manners, granted.span, granted.since, *out.said);
      if (granted.end) granted.end->follow(*out.said);
    }
  } catch (const std::exception& error) {
    note(contexts, std::string("a message could not be handled: ") + error.what());
    out.said = refusal(id, wire::internal_error(), manners);
  }
  return out;
}

bool session::go_on(beginning begun, const rpc::facts& facts, const std::shared_ptr<rpc::outlet>& out) {
  if (begun.said) {
    if (conversation_.settled != nullptr) is_asked_by(facts.who);
    out->answer(std::move(*begun.said));
    return true;
  }
  if (!begun.rest) return false;
  auto& rest = *begun.rest;
  const auto answers = std::make_shared<exchange>(out, 1, false);
  try {
    dispatch(rest.meaning->what, rest.id, rest.manners, {facts, answers, 0, false}, std::move(rest.granted),
             std::move(rest.page));
  } catch (const std::exception& error) {
    note(std::string("a message could not be handled: ") + error.what());
    answers->fill(0, refusal(rest.id, wire::internal_error(), rest.manners));
  }
  return true;
}

void session::accept(model::request what, const rpc::request& request, const wire::codec& codec, const incoming& from) {
  const auto* settled = conversation_.settled;
  const auto& manners = manners_of(what, codec, conversation_);
  auto with = contexts_->current();
  if (const auto undeclared = manners.refuse_undeclared(what.operation, with->self)) {
    return turn_down(from, request.id, *undeclared, manners, request.method);
  }
  if (std::holds_alternative<model::initialize>(what.operation) && from.in_batch) {
    return turn_down(from, request.id, wire::invalid_request("initialize must not be part of a batch"), manners,
                     request.method);
  }
  auto granted = admit(std::move(with), what, request.method, manners, from.facts, from.slot == 0);
  const auto& now = *granted.with;
  std::optional<page_key> page;
  if (granted.outcome && !now.pages->is_off()) page = page_asked_for(what.operation, manners, granted.who);
  // Ids in use, and too many requests, are rejected in `dispatch`.
  if (granted.outcome && requests_->has_room_for(request.id, now.requests_under_way)) {
    auto said = page ? page_at_hand(*page, now, request.id)
                     : answer_at_hand(now, granted.who, what.operation, request.id, manners, nullptr);
    if (said) {
      const auto cut = now.known ? cut_id(from.text) : std::nullopt;
      if (cut && request.id == rpc::request_id(cut->id))
        now.known->keep(*cut, from.facts, settled, codec, request.method, what);
      if (conversation_.settled != nullptr) is_asked_by(from.facts.who);
      if (!from.answers->admit(*said)) *said = refusal(request.id, wire::too_much_for_a_batch(exchange::most_bytes), manners);
      answered_at_hand(what, manners, granted.span, granted.since, *said);
      if (granted.end) granted.end->follow(*said);
      return from.answer(std::move(*said));
    }
  }
  dispatch(std::move(what), request.id, manners, from, std::move(granted), std::move(page));
}

void session::dispatch(model::request what, const rpc::request_id& id, const wire::codec& codec, const incoming& from,
                       admission granted, std::optional<page_key> page) {
  const auto& with = granted.with;
  const auto& end = granted.end;
  const auto answers = from.answers;
  const auto slot = from.slot;
  std::shared_ptr<progress_line> progress;
  if (what.progress_token) progress = std::make_shared<progress_line>(*what.progress_token, answers->out());
  // A legacy client sends its level and capabilities once, a modern one with each request.
  const bool is_legacy = codec.asks_by_requests();
  const auto level = is_legacy ? std::optional(level_) : what.log_level;
  const auto log = level ? std::make_shared<log_line>(*level, answers->out()) : nullptr;
  // A single pointer saves memory, because an open change stream holds it.
  const auto lines =
      progress || log ? std::make_shared<const std::pair<decltype(progress), decltype(log)>>(progress, log) : nullptr;
  const auto counted = std::make_shared<counted_request>(what.operation, codec, granted.span, granted.since);
  auto reply = requests_->open(
      id, with->requests_under_way,
      // The table owns this callback and calls it, so the table is alive during the call.
      [answers, slot, lines, id, &codec, end, counted, open = std::weak_ptr(streams_),
       table = requests_.get()](std::optional<rpc::delivery> answer) {
        if (lines && lines->first) lines->first->close();
        if (lines && lines->second) lines->second->close();
        if (const auto there = open.lock()) there->close(id);
        const bool is_answered = answer.has_value();
        auto said = answer ? std::move(*answer) : nothing_to_say();
        if (!answers->admit(said)) said = refusal(id, wire::too_much_for_a_batch(exchange::most_bytes), codec);
        const auto why_not = [table] { return table->has_left() ? audit_outcome::gone : audit_outcome::cancelled; };
        is_answered ? counted->answered(said.error) : counted->given_up(why_not());
        if (end && is_answered) end->follow(said);
        if (end && !is_answered) end->give_up(why_not());
        answers->fill(slot, std::move(said));
      },
      refusal(id, wire::internal_error(), codec));
  if (!reply) {
    const bool is_full = reply.error() == rpc::in_flight::refusal::full;
    auto refused = refusal(id,
                           is_full ? wire::too_many_under_way(with->requests_under_way)
                                   : wire::invalid_request("id: in use by a request that is still in progress"),
                           codec);
    counted->answered(refused.error);
    if (is_full) request_figures::here().refused(limit::concurrency);
    if (end) end->follow(refused);
    return from.answer(std::move(refused));
  }

  const auto began = monotonic_clock::now();
  const auto time = time_for(what.operation, *with);
  call by{std::move(granted.who), began + time, reply->stop(), {}};
  if (conversation_.settled != nullptr) is_asked_by(from.facts.who);
  if (progress) by.report = [progress](const hondana::progress& now) { progress->report(now); };
  by.mounts = std::move(what.mounts);
  by.trace = granted.span ? granted.span->inner(what.trace) : std::move(what.trace);
  auto of = std::make_shared<pending>(pending{std::move(*reply), id, codec, with, uri_of(what.operation), std::move(page)});
  if (!granted.outcome) return of->fail(granted.outcome.error());
  if (const auto* opening = std::get_if<model::initialize>(&what.operation)) {
    wire::settle(conversation_, codec);
    client_ = opening->client;
  }
  if (const auto* least = std::get_if<model::set_log_level>(&what.operation)) {
    level_ = least->least;
    own_notes()->want_messages(level_);
  }
  if (const auto* wish = std::get_if<model::subscribe>(&what.operation)) {
    const auto subscribed = subscribe(*wish, from.facts.who, *with);
    let_see(*own_notes(), announcements::side::asks, from.facts.who);  // as after every start of a watch
    return subscribed ? of->succeed(rpc::body(codec.encode_empty(with->self))) : of->fail(subscribed.error());
  }
  if (const auto* wish = std::get_if<model::subscribe_entries>(&what.operation)) {
    const auto subscribed = subscribe(*wish, from.facts.who, *with);
    let_see(*own_notes(), announcements::side::asks, from.facts.who);
    return subscribed ? of->succeed(rpc::body(codec.encode_empty(with->self))) : of->fail(subscribed.error());
  }
  if (const auto* wish = std::get_if<model::unsubscribe>(&what.operation)) {
    unsubscribe(wish->uri, *with);
    return of->succeed(rpc::body(codec.encode_empty(with->self)));
  }
  if (const auto* wish = std::get_if<model::unsubscribe_entries>(&what.operation)) {
    for (const auto& uri : wish->uris) unsubscribe(uri, *with);
    return of->succeed(rpc::body(codec.encode_empty(with->self)));
  }
  if (const auto* wish = std::get_if<model::listen>(&what.operation)) return listen(*wish, of, from);
  if (is_legacy && !asked_) asked_ = std::make_shared<asked>();
  const surroundings around{is_legacy ? client_ : what.client, log, answers->out(), asked_, time, began + with->longest_call};
  perform(std::move(of), by, from.facts, std::move(what.operation), around);
}

}  // namespace hondana::session
