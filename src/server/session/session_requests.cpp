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
#include "protocol/wire/choose_codec.hpp"
#include "protocol/wire/codec.hpp"
#include "server/gate/operation_names.hpp"
#include "server/session/answer_cache.hpp"
#include "server/session/change_stream.hpp"
#include "server/session/request_accounting.hpp"
#include "server/session/request_execution.hpp"
#include "server/session/response_collector.hpp"
#include "server/session/session.hpp"

namespace hondana::session {

/// Sends progress notifications of one request. Spec: basic/utilities/progress (all revisions). Threads: any.
class progress_sender {
 public:
  progress_sender(model::token token, std::shared_ptr<rpc::response_writer> writer)
      : token_(std::move(token)), writer_(std::move(writer)) {}

  /// Sends at most ten notifications per second, and only if `update.done` has increased.
  void report(const progress& update) {
    const std::lock_guard lock(mutex_);
    const auto now = monotonic_clock::now();
    if (is_closed_ || (has_sent_ && (update.done <= last_done_ || now - last_sent_ < std::chrono::milliseconds(100)))) return;
    has_sent_ = true;
    last_done_ = update.done;
    last_sent_ = now;
    writer_->send(wire::progress_notification(token_, update));
  }

  /// Nothing is sent after this call.
  void close() {
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
  }

 private:
  std::mutex mutex_;
  model::token token_;
  std::shared_ptr<rpc::response_writer> writer_;
  bool is_closed_ = false;
  bool has_sent_ = false;
  double last_done_ = 0;
  std::chrono::steady_clock::time_point last_sent_;
};

/// Counts a request that was answered from a cache, and ends its span.
inline void count_cached_answer(const model::request& request, const wire::codec& codec,
                                const std::shared_ptr<tracing::active_span>& span, std::chrono::steady_clock::time_point start,
                                const rpc::outgoing_response& response) {
  request_metrics::global().count_answer(request_metrics::method_of(request.operation), codec, response.error_code,
                                         monotonic_clock::now() - start);
  if (span) end_span(*span, response.error_code);
}

/// Counts a request in progress, and its outcome.
class counted_request {
 public:
  counted_request(const model::operation& operation, const wire::codec& codec, std::shared_ptr<tracing::active_span> span,
                  std::chrono::steady_clock::time_point start)
      : method_(request_metrics::method_of(operation)),
        // A stream is answered when it ends.
        is_stream_(std::holds_alternative<model::listen>(operation)),
        codec_(codec),
        span_(std::move(span)),
        start_(start) {
    request_metrics::global().count_start();
    if (is_stream_) request_metrics::global().count_opened_stream();
  }
  ~counted_request() {
    request_metrics::global().count_end();
    if (is_stream_) request_metrics::global().count_closed_stream();
  }
  counted_request(const counted_request&) = delete;
  counted_request& operator=(const counted_request&) = delete;

  void count_answer(int code) {
    auto& metrics = request_metrics::global();
    if (is_stream_) {
      metrics.count_answer(method_, codec_, code);
    } else {
      metrics.count_answer(method_, codec_, code, monotonic_clock::now() - start_);
    }
    if (span_) end_span(*span_, code);
  }
  void count_abandoned(audit_outcome outcome) {
    request_metrics::global().count_abandoned(method_, codec_, outcome);
    if (!span_) return;
    span_->set_attribute("error.type", std::string(outcome == audit_outcome::cancelled ? "cancelled" : "gone"));
    span_->set_failed();
    span_->end();
  }

 private:
  const std::size_t method_;
  const bool is_stream_;
  const wire::codec& codec_;
  const std::shared_ptr<tracing::active_span> span_;
  const std::chrono::steady_clock::time_point start_;
};

namespace {

std::string uri_of(const model::operation& operation) {
  if (const auto* read = std::get_if<model::read_resource>(&operation)) return read->requested_uri;
  if (const auto* get = std::get_if<model::get_resource>(&operation)) return get->requested_uri;
  if (const auto* subscription = std::get_if<model::subscribe>(&operation)) return subscription->requested_uri;
  if (const auto* folder = std::get_if<model::read_directory>(&operation)) return folder->requested_uri;
  if (const auto* skill = std::get_if<model::get_skill>(&operation)) return skill->requested_uri;
  return {};
}

/// The time until the request is answered with an error.
std::chrono::milliseconds timeout_for(const model::operation& operation, const server_snapshot& snapshot) {
  auto timeout = snapshot.call_timeout;
  if (!snapshot.call_timeouts.empty()) {
    const auto methods = gate::subject_of(operation).methods;
    const auto entry = methods.empty() ? snapshot.call_timeouts.end() : snapshot.call_timeouts.find(methods.front());
    if (entry != snapshot.call_timeouts.end()) timeout = entry->second;
  }
  return std::min(timeout, snapshot.total_timeout);
}

/// The codec for the answer, with the extension if the request uses it. A session that has used the extension once stays with
/// it; in the stateless era each request decides for itself.
const wire::codec& effective_codec(const model::request& request, const wire::codec& codec, wire::negotiation& negotiation) {
  const auto& effective = request.is_versioned ? codec.versioned() : codec;
  if (request.is_versioned && negotiation.revision == &codec) wire::record_negotiation(negotiation, effective);
  return effective;
}

}  // namespace

session::admission_result session::admit(std::shared_ptr<const server_snapshot> snapshot, const model::request& request,
                                         std::string_view method, const wire::codec& codec,
                                         const rpc::request_info& request_info, bool is_first) {
  const auto start = monotonic_clock::now();
  auto span = snapshot->traces ? begin_span(*snapshot->traces, request, codec, request_info) : nullptr;
  const auto tracker = snapshot->on_request_end || snapshot->audit ? std::make_shared<request_tracker>() : nullptr;
  if (snapshot->on_request_end)
    tracker->add_listener([snapshot, original_caller = request_info.caller](const request_completion& completion) {
      snapshot->on_request_end(original_caller, completion);
    });
  auto caller = request_info.caller;
  caller.access_filter = snapshot->gate->filter_of(request_info.caller);
  result<void> admitted;
  // If addresses have limits, the first message was counted for its address before authentication.
  if (snapshot->meter)
    admitted =
        snapshot->meter->admit(request_info.caller, std::holds_alternative<model::complete>(request.operation), is_first);
  if (!admitted)
    snapshot->log_rejection(429, request_info.caller.address, request_info.caller.identity, admitted.error().public_text);
  if (admitted) admitted = snapshot->gate->admit(request_info.caller, request.operation);
  if (snapshot->audit) {
    // Recorded before anything is done for the request, and before it can be cancelled.
    auto decided = snapshot->audit->record_decision(make_decision(*snapshot, caller, method, request, admitted));
    if (decided) {
      tracker->add_listener(
          [auditor = snapshot->audit, number = *decided,
           trace = std::string(tracing::trace_id_in(request.trace.traceparent))](const request_completion& completion) {
            auditor->record_completion(number, make_completion(completion, trace));
          });
    } else if (admitted) {
      admitted = tl::unexpected(std::move(decided.error()));
    }
  }
  return {std::move(snapshot), std::move(caller), tracker, std::move(admitted), std::move(span), start};
}

session::lookup_result session::look_up(const snapshot_source& snapshots, std::string_view message,
                                        const rpc::request_info& request_info) {
  wire::negotiation negotiation;
  return look_up(snapshots, message, request_info, negotiation, nullptr);
}

/// `pending_requests`: the client's requests in progress. Null: none.
session::lookup_result session::look_up(const snapshot_source& snapshots, std::string_view message,
                                        const rpc::request_info& request_info, wire::negotiation& negotiation,
                                        const rpc::pending_requests* pending_requests) {
  auto snapshot = snapshots.current();
  const auto parts = snapshot->cached_requests ? split_id(message) : std::nullopt;
  const auto cached = parts ? snapshot->cached_requests->find(*parts, request_info, negotiation.revision) : nullptr;
  if (!cached) return {};
  const auto& request = cached->decoded->request;
  const auto& codec = effective_codec(request, *cached->decoded->codec, negotiation);
  // The current configuration may offer less.
  if (codec.reject_undeclared(request.operation, snapshot->server_info)) return {};
  const rpc::request_id id = parts->id;
  lookup_result lookup;
  try {
    auto admission = admit(std::move(snapshot), request, cached->decoded->method, codec, request_info, true);
    const auto& current = *admission.snapshot;
    const auto request_limit = current.max_requests_in_progress;
    std::optional<page_key> page;
    if (admission.outcome && !current.pages->is_disabled()) page = requested_page(request.operation, codec, admission.caller);
    if (admission.outcome &&
        (pending_requests != nullptr ? pending_requests->has_capacity_for(id, request_limit) : request_limit > 0)) {
      lookup.response = page ? page_from_cache(*page, current, id)
                             : answer_from_cache(current, admission.caller, request.operation, id, codec, cached);
    }
    if (!lookup.response) {
      lookup.cached = std::make_shared<cached_request>(
          cached_request{cached->decoded, parts->id, codec, std::move(admission), std::move(page)});
    } else {
      count_cached_answer(request, codec, admission.span, admission.start, *lookup.response);
      if (admission.tracker) admission.tracker->follow(*lookup.response);
    }
  } catch (const std::exception& error) {
    log(snapshots, std::string("a message could not be handled: ") + error.what());
    lookup.response = error_response(id, wire::internal_error(), codec);
  }
  return lookup;
}

bool session::resume(lookup_result lookup, const rpc::request_info& request_info,
                     const std::shared_ptr<rpc::response_writer>& writer) {
  if (lookup.response) {
    if (negotiation_.revision != nullptr) set_subscriber(request_info.caller);
    writer->answer(std::move(*lookup.response));
    return true;
  }
  if (!lookup.cached) return false;
  auto& cached = *lookup.cached;
  const auto answers = std::make_shared<response_collector>(writer, 1, false);
  try {
    dispatch(cached.decoded->request, cached.id, cached.codec, {request_info, answers, 0, false}, std::move(cached.admission),
             std::move(cached.page));
  } catch (const std::exception& error) {
    log(std::string("a message could not be handled: ") + error.what());
    answers->fill(0, error_response(cached.id, wire::internal_error(), cached.codec));
  }
  return true;
}

void session::accept(model::request decoded, const rpc::request& request, const wire::codec& codec,
                     const incoming_message& incoming) {
  const auto* revision = negotiation_.revision;
  const auto& effective = effective_codec(decoded, codec, negotiation_);
  auto snapshot = snapshots_->current();
  if (const auto undeclared = effective.reject_undeclared(decoded.operation, snapshot->server_info)) {
    return reject_message(incoming, request.id, *undeclared, effective, request.method);
  }
  if (std::holds_alternative<model::initialize>(decoded.operation) && incoming.in_batch) {
    return reject_message(incoming, request.id, wire::invalid_request("initialize must not be part of a batch"), effective,
                          request.method);
  }
  auto admission = admit(std::move(snapshot), decoded, request.method, effective, incoming.request_info, incoming.slot == 0);
  const auto& current = *admission.snapshot;
  std::optional<page_key> page;
  if (admission.outcome && !current.pages->is_disabled()) page = requested_page(decoded.operation, effective, admission.caller);
  // Ids in use, and too many requests, are rejected in `dispatch`.
  if (admission.outcome && requests_->has_capacity_for(request.id, current.max_requests_in_progress)) {
    auto response = page ? page_from_cache(*page, current, request.id)
                         : answer_from_cache(current, admission.caller, decoded.operation, request.id, effective, nullptr);
    if (response) {
      const auto parts = current.cached_requests ? split_id(incoming.text) : std::nullopt;
      if (parts && request.id == rpc::request_id(parts->id))
        current.cached_requests->store(*parts, incoming.request_info, revision, codec, request.method, decoded);
      if (negotiation_.revision != nullptr) set_subscriber(incoming.request_info.caller);
      if (!incoming.answers->admit(*response))
        *response = error_response(request.id, wire::batch_too_large(response_collector::max_bytes), effective);
      count_cached_answer(decoded, effective, admission.span, admission.start, *response);
      if (admission.tracker) admission.tracker->follow(*response);
      return incoming.answer(std::move(*response));
    }
  }
  dispatch(std::move(decoded), request.id, effective, incoming, std::move(admission), std::move(page));
}

void session::dispatch(model::request request, const rpc::request_id& id, const wire::codec& codec,
                       const incoming_message& incoming, admission_result admission, std::optional<page_key> page) {
  const auto& snapshot = admission.snapshot;
  const auto& tracker = admission.tracker;
  const auto answers = incoming.answers;
  const auto slot = incoming.slot;
  std::shared_ptr<progress_sender> progress;
  if (request.progress_token) progress = std::make_shared<progress_sender>(*request.progress_token, answers->writer());
  // A legacy client sends its level and capabilities once, a modern one with each request.
  const bool is_legacy = codec.sends_input_requests();
  const auto level = is_legacy ? std::optional(level_) : request.log_level;
  const auto log = level ? std::make_shared<request_log>(*level, answers->writer()) : nullptr;
  // A single pointer saves memory, because an open change stream holds it.
  const auto lines =
      progress || log ? std::make_shared<const std::pair<decltype(progress), decltype(log)>>(progress, log) : nullptr;
  const auto counted = std::make_shared<counted_request>(request.operation, codec, admission.span, admission.start);
  auto reply = requests_->open(
      id, snapshot->max_requests_in_progress,
      // The table owns this callback and calls it, so the table is alive during the call.
      [answers, slot, lines, id, &codec, tracker, counted, weak_streams = std::weak_ptr(streams_),
       table = requests_.get()](std::optional<rpc::outgoing_response> answer) {
        if (lines && lines->first) lines->first->close();
        if (lines && lines->second) lines->second->close();
        if (const auto streams = weak_streams.lock()) streams->close(id);
        const bool is_answered = answer.has_value();
        auto response = answer ? std::move(*answer) : empty_response();
        if (!answers->admit(response))
          response = error_response(id, wire::batch_too_large(response_collector::max_bytes), codec);
        const auto abandon_outcome = [table] {
          return table->is_disconnected() ? audit_outcome::disconnected : audit_outcome::cancelled;
        };
        is_answered ? counted->count_answer(response.error_code) : counted->count_abandoned(abandon_outcome());
        if (tracker && is_answered) tracker->follow(response);
        if (tracker && !is_answered) tracker->abandon(abandon_outcome());
        answers->fill(slot, std::move(response));
      },
      error_response(id, wire::internal_error(), codec));
  if (!reply) {
    const bool is_full = reply.error() == rpc::pending_requests::rejection::full;
    auto rejection = error_response(id,
                                    is_full ? wire::too_many_pending(snapshot->max_requests_in_progress)
                                            : wire::invalid_request("id: in use by a request that is still in progress"),
                                    codec);
    counted->count_answer(rejection.error_code);
    if (is_full) request_metrics::global().count_rejection(limit::concurrency);
    if (tracker) tracker->follow(rejection);
    return incoming.answer(std::move(rejection));
  }

  const auto start = monotonic_clock::now();
  const auto timeout = timeout_for(request.operation, *snapshot);
  request_context context{std::move(admission.caller), start + timeout, reply->stop(), {}};
  if (negotiation_.revision != nullptr) set_subscriber(incoming.request_info.caller);
  if (progress) context.report_progress = [progress](const hondana::progress& update) { progress->report(update); };
  context.mounts = std::move(request.mounts);
  context.trace = admission.span ? admission.span->child_context(request.trace) : std::move(request.trace);
  auto pending = std::make_shared<pending_request>(
      pending_request{std::move(*reply), id, codec, snapshot, uri_of(request.operation), std::move(page)});
  if (!admission.outcome) return pending->fail(admission.outcome.error());
  if (const auto* initialize = std::get_if<model::initialize>(&request.operation)) {
    wire::record_negotiation(negotiation_, codec);
    client_ = initialize->client;
  }
  if (const auto* level_change = std::get_if<model::set_log_level>(&request.operation)) {
    level_ = level_change->min_level;
    session_stream()->set_log_level(level_);
  }
  if (const auto* subscription = std::get_if<model::subscribe>(&request.operation)) {
    const auto subscribed = subscribe(*subscription, incoming.request_info.caller, *snapshot);
    update_stream_access(*session_stream(), change_stream::party::subscriber,
                         incoming.request_info.caller);  // as after every start of a watch
    return subscribed ? pending->succeed(rpc::body(codec.encode_empty(snapshot->server_info)))
                      : pending->fail(subscribed.error());
  }
  if (const auto* entry_subscription = std::get_if<model::subscribe_entries>(&request.operation)) {
    const auto subscribed = subscribe(*entry_subscription, incoming.request_info.caller, *snapshot);
    update_stream_access(*session_stream(), change_stream::party::subscriber, incoming.request_info.caller);
    return subscribed ? pending->succeed(rpc::body(codec.encode_empty(snapshot->server_info)))
                      : pending->fail(subscribed.error());
  }
  if (const auto* unsubscription = std::get_if<model::unsubscribe>(&request.operation)) {
    unsubscribe(unsubscription->uri, *snapshot);
    return pending->succeed(rpc::body(codec.encode_empty(snapshot->server_info)));
  }
  if (const auto* entry_unsubscription = std::get_if<model::unsubscribe_entries>(&request.operation)) {
    for (const auto& uri : entry_unsubscription->uris) unsubscribe(uri, *snapshot);
    return pending->succeed(rpc::body(codec.encode_empty(snapshot->server_info)));
  }
  if (const auto* listen_request = std::get_if<model::listen>(&request.operation))
    return listen(*listen_request, pending, incoming);
  if (is_legacy && !outgoing_) outgoing_ = std::make_shared<outgoing_requests>();
  const handler_environment environment{is_legacy ? client_ : request.client, log, answers->writer(), outgoing_, timeout,
                                        start + snapshot->total_timeout};
  perform(std::move(pending), context, incoming.request_info, std::move(request.operation), environment);
}

}  // namespace hondana::session
