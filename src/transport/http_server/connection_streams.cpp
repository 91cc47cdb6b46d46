/// Passes messages of a connection to sessions, and sends their streams.

#include <utility>

#include "server/session/refusals.hpp"
#include "transport/http_server/connection.hpp"
#include "transport/http_server/response_writer.hpp"

namespace hondana::transport::http_server {
namespace {

rpc::delivery refuse_session(const failure& why) {
  return session::refuse(why.code == errc::overloaded ? 503 : 500, why.public_text, {});
}

/// Returns a callback that logs dropped messages.
std::function<void()> reporter(const std::shared_ptr<core>& engine) {
  return [engine] {
    const auto with = engine->current();
    if (with->log)
      with->log("a client reads too slowly: dropped messages that precede an answer, or an answer that no request waits for");
  };
}

// The text of a challenge for missing scopes, which the challenge lists.
constexpr std::string_view scopes_lack = "This needs more scopes than the token has";

message_stream::form form_of(const rpc::http_headers& headers) {
  if (!headers.accepts_stream) return message_stream::form::json;
  return headers.accepts_json ? message_stream::form::either : message_stream::form::events;
}

/// The facts of one request, in memory that the loop reuses.
class lent_facts {
 public:
  lent_facts(loop& from, const caller& who, const rpc::http_headers& headers)
      : lender_(from), lent_(from.spare_facts ? std::move(from.spare_facts) : std::make_unique<rpc::facts>()) {
    lent_->who = who;
    lent_->http = headers;
  }
  ~lent_facts() {
    lent_->who = caller();  // releases the caller's data
    lender_.spare_facts = std::move(lent_);
  }
  lent_facts(const lent_facts&) = delete;
  lent_facts& operator=(const lent_facts&) = delete;

  [[nodiscard]] const rpc::facts& get() const noexcept { return *lent_; }

 private:
  loop& lender_;
  std::unique_ptr<rpc::facts> lent_;
};

}  // namespace

void connection::carry(std::shared_ptr<message_stream> on, ticket of, std::optional<event_id> seen) {
  carried_ = std::move(on);
  carried_for_ = of;
  carriage_ = carried_->carry(weak_from_this(), seen);
}

void connection::let_go() {
  ready_.reset();
  if (const auto gone = std::exchange(carried_, nullptr)) gone->let_go(carriage_);
  if (const auto gone = std::exchange(paired_, nullptr)) loop_->kept->end(*gone);
  asked_with_.reset();
}

void connection::forget() {
  let_go();
  if (const auto gone = std::exchange(session_, nullptr)) gone->close();
}

/// Passes the next portion of the stream to the dialogue; false if there is none.
bool connection::carry_on() {
  if (!dialogue_.wants_messages()) return false;
  if (ready_) {
    portion answer;
    answer.what = portion::kind::answer;
    answer.content = *std::exchange(ready_, std::nullopt);
    hand_over(std::move(answer));
    return true;
  }
  if (!carried_) return false;
  auto what = carried_->next(carriage_);
  if (!what) return false;
  hand_over(std::move(*what));
  return true;
}

void connection::hand_over(portion what) {
  using kind = portion::kind;
  const bool is_last = what.what == kind::answer || what.what == kind::retry || what.what == kind::end;
  std::string fields;
  if (what.content.opens_session && session_) {
    kept_session::traits is;
    is.may_poll = what.content.may_poll;
    if (const auto made = keep(std::move(is), session_)) {
      fields = "Mcp-Session-Id: " + (*made)->id() + "\r\n";
      session_.reset();
    } else {
      what = {kind::answer, refuse_session(made.error()), {}, {}, {}};
      fields = "Retry-After: 1\r\n";
    }
  }
  if (what.what == kind::answer && what.content.scopes) {
    fields += challenge_for("insufficient_scope", scopes_lack, *what.content.scopes);
    std::string needed;
    for (const auto& one : *what.content.scopes) needed += ' ' + one;
    note_refusal(403, who_.identity, "the token lacks some of the scopes" + needed);
  }
  if (what.what == kind::opening) note_proof();
  if (what.what == kind::answer && what.content.retry) fields += retry_after(*what.content.retry);
  const bool has_ended = is_last || what.what == kind::answer;
  // The answer may be ready before this loop knows of the shutdown. It must be the last one on its connection.
  if (what.what == kind::answer && loop_->reports->has_begun_to_stop()) dialogue_.drain();
  dialogue_.take(carried_for_, std::move(what), fields);
  if (!has_ended) return;
  let_go();
  session_.reset();
}

/// Stores a session that outlives its request, under a new id.
result<std::shared_ptr<kept_session>> connection::keep(kept_session::traits is, std::shared_ptr<session::session> what) {
  HONDANA_TRY(auto id, make_session_id());
  is.id = std::move(id);
  is.owner = session::as_seen_now(facts_of({}).who, *engine_);
  auto on_owner = [owner = loop_](std::function<void()> work) { owner->io.dispatch(std::move(work)); };
  auto& all = *loop_->kept;
  auto made = std::make_shared<kept_session>(std::move(is), std::move(what), std::move(on_owner), all.within(), all.room());
  HONDANA_TRY(all.keep(made, dialogue::clock::now()));
  return made;
}

std::shared_ptr<kept_session> connection::find_session(const rpc::http_headers& headers, kept_session::manner how) const {
  if (!headers.session_id) return nullptr;
  return loop_->kept->find(*headers.session_id, facts_of(headers).who, how, dialogue::clock::now());
}

void connection::receive(std::string_view message, const rpc::http_headers& headers, ticket of) {
  if (!headers.session_id || session::needs_no_session(headers)) return receive_alone(message, headers, of);
  const auto with = find_session(headers, kept_session::manner::streamable);
  if (!with) {
    const auto alone = std::make_shared<message_stream>(message_stream::traits{}, loop_->kept->room()->waiting);
    refused(404);
    carry(alone, of);
    return alone->answer(session::refuse(404, no_such_session, headers));
  }
  auto facts = facts_of(headers);
  const auto stream = with->stream_for(form_of(headers), reporter(engine_), loop_,
                                       std::make_shared<const caller>(session::as_seen_now(facts.who, *engine_)));
  carry(stream, of);
  with->receive(std::string(message), std::move(facts), stream);
}

/// Handles a stateless request or a handshake: in a session of its own, which ends with the connection.
void connection::receive_alone(std::string_view message, const rpc::http_headers& headers, ticket of) {
  const lent_facts lent(*loop_, who_, headers);
  const auto& facts = lent.get();
  auto begun = headers.accepts_json ? session::session::begin(*engine_, message, facts) : session::session::beginning();
  if (begun.said) {
    ready_ = std::move(begun.said);
    carried_for_ = of;
    return;
  }
  message_stream::traits is;
  is.when_dropped = reporter(engine_);
  is.takes = form_of(headers);
  is.place = loop_;
  const auto stream = std::make_shared<message_stream>(std::move(is), loop_->kept->room()->waiting);
  carry(stream, of);
  session_ = session::session::open(engine_);
  session_->receive(message, facts, stream, std::move(begun));
  // During shutdown, a new stream of changes would stay open until it is cut off.
  if (loop_->reports->has_begun_to_stop() && session_) session_->finish();
}

void connection::refuse_oversized(const rpc::http_headers& headers, ticket of) {
  message_stream::traits is;
  is.takes = message_stream::form::json;
  const auto stream = std::make_shared<message_stream>(std::move(is), loop_->kept->room()->waiting);
  carry(stream, of);
  session::session::open(engine_)->refuse_oversized(dialogue_.message_limit(), facts_of(headers), stream);
}

std::optional<rpc::delivery> connection::open_stream(const rpc::http_headers& headers, ticket of) {
  if (auto refused = session::refuse_version(headers)) return refused;
  if (!headers.session_id) {
    return session::refuse(
        400,
        "Bad request: the header Mcp-Session-Id is missing. A GET opens the stream of a session; open a session "
        "with initialize.",
        headers);
  }
  const auto with = find_session(headers, kept_session::manner::streamable);
  if (!with) return session::refuse(404, no_such_session, headers);
  with->settle_in();
  with->is_read_by(facts_of(headers).who);
  if (!headers.last_event_id) {
    const auto& shown = with->standing()->shown();
    const auto* proved = shown ? shown->proof.get() : nullptr;
    if (!engine_->current()->gate->has_scopes_of(facts_of(headers).who, proved)) {
      refuse_lesser(*proved, headers, of);
    } else {
      carry(with->standing(), of);
    }
    return std::nullopt;
  }
  const auto seen = read_event_id(*headers.last_event_id);
  const auto stream =
      seen ? with->stream_of(*seen, session::as_seen_now(facts_of(headers).who, *engine_), *engine_->current()->gate) : nullptr;
  if (!stream) {
    return session::refuse(
        400, "Bad request: Last-Event-ID is not an event of this session, or is too old. Open the stream without that header.",
        headers);
  }
  carry(stream, of, seen);
  return std::nullopt;
}

/// Answers 403: the stream of a session may contain everything that the scopes of its owner allow.
void connection::refuse_lesser(const proof& shown, const rpc::http_headers& headers, ticket of) {
  const auto alone = std::make_shared<message_stream>(message_stream::traits{}, loop_->kept->room()->waiting);
  carry(alone, of);
  auto what = session::refuse(403,
                              "Forbidden: this session was opened with a token of more scopes, and its stream may carry what "
                              "they allow. Send a token with all of them, or open your own session with initialize.",
                              headers);
  what.scopes = std::make_shared<const std::vector<std::string>>(shown.scopes);
  alone->answer(std::move(what));
}

/// The session ends with this stream. Spec: 2024-11-05 basic/transports#http-with-sse.
std::optional<rpc::delivery> connection::open_pair(ticket of) {
  kept_session::traits is;
  is.how = kept_session::manner::paired;
  auto made = keep(std::move(is), session::session::open(engine_));
  if (!made) return refuse_session(made.error());
  paired_ = std::move(*made);
  paired_->is_read_by(facts_of({}).who);
  paired_->standing()->greet("endpoint", "/message?sessionId=" + paired_->id());
  carry(paired_->standing(), of);
  return std::nullopt;
}

rpc::delivery connection::receive_paired(std::string_view message, const rpc::http_headers& headers) {
  const auto with = find_session(headers, kept_session::manner::paired);
  if (!with) {
    return session::refuse(
        404, "Not found: this server has no such session. Its stream may have ended; open a new one at /sse.", headers);
  }
  auto out = with->paired_outlet();
  if (!out) {
    return session::refuse(503,
                           "Service unavailable: too many requests are in progress in this session, or too many answers wait "
                           "on its stream. Read the stream first.",
                           headers);
  }
  with->receive(std::string(message), {facts_of(headers).who, std::nullopt}, std::move(out));
  return {202, std::nullopt};
}

rpc::delivery connection::leave(const rpc::http_headers& headers) {
  if (auto refused = session::refuse_version(headers)) return std::move(*refused);
  if (!headers.session_id) {
    return session::refuse(400, "Bad request: the header Mcp-Session-Id is missing. A DELETE ends the session it names.",
                           headers);
  }
  const auto with = find_session(headers, kept_session::manner::streamable);
  if (!with) return session::refuse(404, no_such_session, headers);
  loop_->kept->end(*with);
  return {204, std::nullopt};
}

}  // namespace hondana::transport::http_server
