/// Passes messages of a connection to sessions, and sends their streams.

#include <utility>

#include "server/session/rejections.hpp"
#include "transport/http_server/connection.hpp"
#include "transport/http_server/response_writer.hpp"

namespace hondana::transport::http_server {
namespace {

rpc::outgoing_response session_failure(const failure& error) {
  return session::reject(error.code == errc::overloaded ? 503 : 500, error.public_text, {});
}

/// Returns a callback that logs dropped messages.
std::function<void()> drop_reporter(const std::shared_ptr<server_core>& core) {
  return [core] {
    const auto config = core->current();
    if (config->log)
      config->log("a client reads too slowly: dropped messages that precede an answer, or an answer that no request waits for");
  };
}

// The text of a challenge for missing scopes, which the challenge lists.
constexpr std::string_view missing_scopes_text = "This needs more scopes than the token has";

message_stream::response_format accepted_format(const rpc::http_headers& headers) {
  if (!headers.accepts_stream) return message_stream::response_format::json;
  return headers.accepts_json ? message_stream::response_format::either : message_stream::response_format::events;
}

/// The `request_info` of one request, in memory that the loop reuses.
class pooled_request_info {
 public:
  pooled_request_info(io_loop& loop, const caller_info& caller, const rpc::http_headers& headers)
      : loop_(loop), info_(loop.spare_info ? std::move(loop.spare_info) : std::make_unique<rpc::request_info>()) {
    info_->caller = caller;
    info_->http = headers;
  }
  ~pooled_request_info() {
    info_->caller = caller_info();  // releases the caller's data
    loop_.spare_info = std::move(info_);
  }
  pooled_request_info(const pooled_request_info&) = delete;
  pooled_request_info& operator=(const pooled_request_info&) = delete;

  [[nodiscard]] const rpc::request_info& get() const noexcept { return *info_; }

 private:
  io_loop& loop_;
  std::unique_ptr<rpc::request_info> info_;
};

}  // namespace

void connection::attach_stream(std::shared_ptr<message_stream> stream, request_id id, std::optional<event_id> last_seen) {
  attached_stream_ = std::move(stream);
  attached_request_ = id;
  attachment_ = attached_stream_->attach(weak_from_this(), last_seen);
}

void connection::detach_stream() {
  ready_response_.reset();
  if (const auto stream = std::exchange(attached_stream_, nullptr)) stream->detach(attachment_);
  if (const auto session = std::exchange(sse_session_, nullptr)) loop_->sessions->end(*session);
  recheck_info_.reset();
}

void connection::cancel() {
  detach_stream();
  if (const auto session = std::exchange(session_, nullptr)) session->close();
}

/// Passes the next portion of the stream to `protocol_`; false if there is none.
bool connection::send_next_portion() {
  if (!protocol_.wants_portion()) return false;
  if (ready_response_) {
    portion part;
    part.type = portion::kind::answer;
    part.content = *std::exchange(ready_response_, std::nullopt);
    send_portion(std::move(part));
    return true;
  }
  if (!attached_stream_) return false;
  auto part = attached_stream_->next(attachment_);
  if (!part) return false;
  send_portion(std::move(*part));
  return true;
}

void connection::send_portion(portion part) {
  using kind = portion::kind;
  const bool is_last = part.type == kind::answer || part.type == kind::retry || part.type == kind::end;
  std::string fields;
  if (part.content.opens_session && session_) {
    stored_session::traits traits;
    traits.supports_polling = part.content.supports_polling;
    if (const auto stored = store_session(std::move(traits), session_)) {
      fields = "Mcp-Session-Id: " + (*stored)->id() + "\r\n";
      session_.reset();
    } else {
      part = {kind::answer, session_failure(stored.error()), {}, {}, {}};
      fields = "Retry-After: 1\r\n";
    }
  }
  if (part.type == kind::answer && part.content.required_scopes) {
    fields += make_challenge("insufficient_scope", missing_scopes_text, *part.content.required_scopes);
    std::string needed;
    for (const auto& scope : *part.content.required_scopes) needed += ' ' + scope;
    log_rejection(403, caller_.identity, "the token lacks some of the scopes" + needed);
  }
  if (part.type == kind::opening) watch_credentials();
  if (part.type == kind::answer && part.content.retry_after) fields += retry_after_line(*part.content.retry_after);
  const bool is_finished = is_last || part.type == kind::answer;
  // The answer may be ready before this loop knows of the shutdown. It must be the last one on its connection.
  if (part.type == kind::answer && loop_->reports->is_stopping()) protocol_.drain();
  protocol_.send_portion(attached_request_, std::move(part), fields);
  if (!is_finished) return;
  detach_stream();
  session_.reset();
}

/// Stores a session that outlives its request, under a new id.
result<std::shared_ptr<stored_session>> connection::store_session(stored_session::traits traits,
                                                                  std::shared_ptr<session::session> opened) {
  HONDANA_TRY(auto id, make_session_id());
  traits.id = std::move(id);
  traits.owner = session::with_current_filter(make_request_info({}).caller, *core_);
  auto run_on_owner = [loop = loop_](std::function<void()> work) { loop->io.dispatch(std::move(work)); };
  auto& sessions = *loop_->sessions;
  auto created = std::make_shared<stored_session>(std::move(traits), std::move(opened), std::move(run_on_owner),
                                                  sessions.configured_limits(), sessions.budgets());
  HONDANA_TRY(sessions.store(created, http1_protocol::clock::now()));
  return created;
}

std::shared_ptr<stored_session> connection::find_session(const rpc::http_headers& headers,
                                                         stored_session::transport_kind kind) const {
  if (!headers.session_id) return nullptr;
  return loop_->sessions->find(*headers.session_id, make_request_info(headers).caller, kind, http1_protocol::clock::now());
}

void connection::receive(std::string_view message, const rpc::http_headers& headers, request_id id) {
  if (!headers.session_id || session::needs_no_session(headers)) return receive_stateless(message, headers, id);
  const auto stored = find_session(headers, stored_session::transport_kind::streamable);
  if (!stored) {
    const auto stream = std::make_shared<message_stream>(message_stream::traits{}, loop_->sessions->budgets()->waiting);
    on_rejected(404);
    attach_stream(stream, id);
    return stream->answer(session::reject(404, no_such_session, headers));
  }
  auto info = make_request_info(headers);
  const auto stream =
      stored->make_post_stream(accepted_format(headers), drop_reporter(core_), loop_,
                               std::make_shared<const caller_info>(session::with_current_filter(info.caller, *core_)));
  attach_stream(stream, id);
  stored->receive(std::string(message), std::move(info), stream);
}

/// Handles a stateless request or a handshake: in a session of its own, which ends with the connection.
void connection::receive_stateless(std::string_view message, const rpc::http_headers& headers, request_id id) {
  const pooled_request_info pooled(*loop_, caller_, headers);
  const auto& info = pooled.get();
  auto lookup = headers.accepts_json ? session::session::look_up(*core_, message, info) : session::session::lookup_result();
  if (lookup.response) {
    ready_response_ = std::move(lookup.response);
    attached_request_ = id;
    return;
  }
  message_stream::traits traits;
  traits.on_dropped = drop_reporter(core_);
  traits.format = accepted_format(headers);
  traits.home_executor = loop_;
  const auto stream = std::make_shared<message_stream>(std::move(traits), loop_->sessions->budgets()->waiting);
  attach_stream(stream, id);
  session_ = session::session::open(core_);
  session_->receive(message, info, stream, std::move(lookup));
  // During shutdown, a new stream of changes would stay open until it is cut off.
  if (loop_->reports->is_stopping() && session_) session_->finish();
}

void connection::reject_oversized(const rpc::http_headers& headers, request_id id) {
  message_stream::traits traits;
  traits.format = message_stream::response_format::json;
  const auto stream = std::make_shared<message_stream>(std::move(traits), loop_->sessions->budgets()->waiting);
  attach_stream(stream, id);
  session::session::open(core_)->reject_oversized(protocol_.message_limit(), make_request_info(headers), stream);
}

std::optional<rpc::outgoing_response> connection::open_stream(const rpc::http_headers& headers, request_id id) {
  if (auto error = session::reject_version(headers)) return error;
  if (!headers.session_id) {
    return session::reject(
        400,
        "Bad request: the header Mcp-Session-Id is missing. A GET opens the stream of a session; open a session "
        "with initialize.",
        headers);
  }
  const auto stored = find_session(headers, stored_session::transport_kind::streamable);
  if (!stored) return session::reject(404, no_such_session, headers);
  stored->release_finished();
  stored->set_stream_reader(make_request_info(headers).caller);
  if (!headers.last_event_id) {
    const auto& viewer = stored->notification_stream()->filtered_for();
    const auto* required = viewer ? viewer->auth_info.get() : nullptr;
    if (!core_->current()->gate->has_scopes_of(make_request_info(headers).caller, required)) {
      reject_missing_scopes(*required, headers, id);
    } else {
      attach_stream(stored->notification_stream(), id);
    }
    return std::nullopt;
  }
  const auto last_seen = parse_event_id(*headers.last_event_id);
  const auto stream =
      last_seen ? stored->find_stream(*last_seen, session::with_current_filter(make_request_info(headers).caller, *core_),
                                      *core_->current()->gate)
                : nullptr;
  if (!stream) {
    return session::reject(
        400, "Bad request: Last-Event-ID is not an event of this session, or is too old. Open the stream without that header.",
        headers);
  }
  attach_stream(stream, id, last_seen);
  return std::nullopt;
}

/// Answers 403: the stream of a session may contain everything that the scopes of its owner allow.
void connection::reject_missing_scopes(const auth_info& required, const rpc::http_headers& headers, request_id id) {
  const auto stream = std::make_shared<message_stream>(message_stream::traits{}, loop_->sessions->budgets()->waiting);
  attach_stream(stream, id);
  auto response =
      session::reject(403,
                      "Forbidden: this session was opened with a token of more scopes, and its stream may carry what "
                      "they allow. Send a token with all of them, or open your own session with initialize.",
                      headers);
  response.required_scopes = std::make_shared<const std::vector<std::string>>(required.scopes);
  stream->answer(std::move(response));
}

/// The session ends with this stream. Spec: 2024-11-05 basic/transports#http-with-sse.
std::optional<rpc::outgoing_response> connection::open_sse(request_id id) {
  stored_session::traits traits;
  traits.kind = stored_session::transport_kind::sse;
  auto stored = store_session(std::move(traits), session::session::open(core_));
  if (!stored) return session_failure(stored.error());
  sse_session_ = std::move(*stored);
  sse_session_->set_stream_reader(make_request_info({}).caller);
  sse_session_->notification_stream()->prepend_event("endpoint", "/message?sessionId=" + sse_session_->id());
  attach_stream(sse_session_->notification_stream(), id);
  return std::nullopt;
}

rpc::outgoing_response connection::receive_sse_message(std::string_view message, const rpc::http_headers& headers) {
  const auto stored = find_session(headers, stored_session::transport_kind::sse);
  if (!stored) {
    return session::reject(
        404, "Not found: this server has no such session. Its stream may have ended; open a new one at /sse.", headers);
  }
  auto writer = stored->sse_writer();
  if (!writer) {
    return session::reject(503,
                           "Service unavailable: too many requests are in progress in this session, or too many answers wait "
                           "on its stream. Read the stream first.",
                           headers);
  }
  stored->receive(std::string(message), {make_request_info(headers).caller, std::nullopt}, std::move(writer));
  return {202, std::nullopt};
}

rpc::outgoing_response connection::end_session(const rpc::http_headers& headers) {
  if (auto error = session::reject_version(headers)) return std::move(*error);
  if (!headers.session_id) {
    return session::reject(400, "Bad request: the header Mcp-Session-Id is missing. A DELETE ends the session it names.",
                           headers);
  }
  const auto stored = find_session(headers, stored_session::transport_kind::streamable);
  if (!stored) return session::reject(404, no_such_session, headers);
  loop_->sessions->end(*stored);
  return {204, std::nullopt};
}

}  // namespace hondana::transport::http_server
