/// The state machine of one HTTP/1 connection: requests.
#include "transport/http_server/http1_dialogue.hpp"

#include <algorithm>
#include <utility>

#include "transport/http_server/response_writer.hpp"

namespace hondana::transport::http_server {

dialogue::dialogue(dialogue_host& host, std::shared_ptr<const limits> with, std::shared_ptr<const site> at,
                   std::shared_ptr<byte_budget> bodies, std::shared_ptr<byte_budget> unsent)
    : host_(host),
      with_(std::move(with)),
      site_(std::move(at)),
      parser_({with_->header_bytes, with_->body_bytes}),
      held_(std::move(bodies)),
      waiting_(std::move(unsent)),
      deadline_(clock::now() + with_->header_time) {}

void dialogue::enter(state next) {
  now_ = next;
  switch (next) {
    case state::idle:
      return set_deadline(with_->keep_alive);
    case state::heading:
      return set_deadline(with_->header_time);
    case state::body:
      return set_deadline(with_->body_idle);
    case state::sending:
      return set_sending_deadline();
    case state::streaming:
      return set_deadline(with_->comment_time);
    case state::identifying:
    case state::pulling:
      return set_deadline(with_->pull_time);
    case state::lingering:
      return set_deadline(with_->linger);
    case state::working:
    case state::ended:
      deadline_ = clock::time_point::max();
  }
}

bool dialogue::wants_input() const noexcept {
  switch (now_) {
    case state::idle:
    case state::heading:
    case state::body:
    case state::lingering:
      return true;
    case state::identifying:
    case state::working:
    case state::streaming:
      return input_.size() < with_->pipelined_bytes;
    default:
      return false;
  }
}

void dialogue::receive(std::string_view bytes) {
  if (now_ == state::lingering) {
    discarded_ += bytes.size();
    if (discarded_ > with_->linger_bytes) enter(state::ended);
    return;
  }
  if (now_ == state::ended) return;
  if (!input_.empty()) {
    input_ += bytes;
    advance_input();
  } else {
    input_ = bytes.substr(advance(bytes));
  }
}

void dialogue::advance_input() { input_.erase(0, advance(input_)); }

std::size_t dialogue::advance(std::string_view bytes) {
  std::size_t used = 0;
  while (now_ == state::idle || now_ == state::heading || now_ == state::body) {
    const auto rest = bytes.substr(used);
    if (now_ == state::idle) {
      // Old clients send an empty line before a request. Spec: RFC 9112 2.2.
      if (rest.starts_with("\r\n")) {
        used += 2;
        continue;
      }
      if (rest.empty() || rest == "\r") break;
      enter(state::heading);
    }
    const auto step = parser_.put(rest);
    used += step.taken;
    switch (step.now) {
      case request_parser::progress::needs_more:
        if (now_ == state::body) await_body();
        return used;
      case request_parser::progress::head:
        accept_head(rest.size() - step.taken);
        break;
      case request_parser::progress::complete:
        body_pending_ = false;
        hand_in();
        break;
      case request_parser::progress::failed:
        refuse_defect();
        break;
    }
  }
  return used;
}

void dialogue::accept_head(std::size_t bytes_behind) {
  const auto& head = parser_.head();
  in_request_ = true;
  body_pending_ = head.has_body;
  closes_ = !head.keep_alive || draining_;
  is_oversized_ = false;
  is_http_1_0_ = head.is_http_1_0;
  // Equal headers have equal verdicts.
  verdict_ =
      parser_.is_repeated() && verdict_before_ ? std::move(verdict_before_) : std::make_unique<verdict>(decide(head, *site_));
  verdict_before_.reset();
  is_endless_ = verdict_->what == verdict::kind::stream || verdict_->what == verdict::kind::pair;
  if (!verdict_->is_guarded) return proceed(bytes_behind);
  auto known = host_.identify(head, *verdict_, ++ticket_);
  if (!known) return enter(state::identifying);
  if (!*known) return send_refusal(std::move(known->error()));
  proceed(bytes_behind);
}

plain_answer dialogue_host::notify(const request_head&, std::string_view) {
  return refuse(404, "Not found. The MCP endpoint of this server is /mcp.");
}

void dialogue::identified(ticket of, dialogue_host::identified how) {
  if (!is_identifying(of)) return;
  closes_ = closes_ || draining_;
  if (!how) return send_refusal(std::move(how.error()));
  proceed(input_.size());
  advance_input();
}

/// Executes the verdict of a request. `bytes_behind`: bytes that have arrived after the header.
void dialogue::proceed(std::size_t bytes_behind) {
  const auto& head = parser_.head();
  if (verdict_->what == verdict::kind::answer) {
    if (!verdict_->stranger.empty()) host_.note_stranger(head, verdict_->stranger);
    // It may also be the success of a CORS preflight.
    verdict_->answer.status >= 400 ? send_refusal(std::move(verdict_->answer)) : send_plain(std::move(verdict_->answer));
  } else if (verdict_->what == verdict::kind::health || verdict_->what == verdict::kind::ready ||
             verdict_->what == verdict::kind::metrics) {
    send_plain(host_.report(verdict_->what));
  } else if (verdict_->what == verdict::kind::metadata) {
    send_plain(host_.describe(head, verdict_->asked_about));
  } else if (verdict_->what == verdict::kind::notice) {
    auto answer = host_.notify(head, verdict_->asked_about);
    answer.status >= 400 ? send_refusal(std::move(answer)) : send_plain(std::move(answer));
  } else if (is_endless_) {
    open_stream();
  } else if (verdict_->what == verdict::kind::leave) {
    leave();
  } else if (head.content_length.value_or(0) > with_->body_bytes) {
    hand_in_oversized();
  } else {
    enter(state::body);
    body_until_ = executor::round::time() + with_->body_time;
    if (head.has_body && bytes_behind == 0 && !head.is_http_1_0 && head.find("Expect").count == 1) {
      output_.head += "HTTP/1.1 100 Continue\r\n\r\n";
    }
  }
}

void dialogue::await_body() {
  const auto size = parser_.body().size();
  if (size > with_->uncounted_bytes && !held_.grow_to(size - with_->uncounted_bytes)) {
    closes_ = true;
    plain_answer busy = refuse(503, "Service unavailable: too many large messages are arriving at once. Retry later.");
    busy.fields = "Retry-After: 1\r\n";
    return send_refusal(std::move(busy));
  }
  set_deadline(with_->body_idle);
  deadline_ = std::min(deadline_, body_until_);
}

void dialogue::forget_body() {
  parser_.forget_body();
  held_.release();
}

void dialogue::refuse_defect() {
  switch (parser_.what_failed()) {
    case request_parser::defect::body_too_large:
      return hand_in_oversized();
    case request_parser::defect::header_too_large:
      closes_ = true;
      return send_refusal(refuse(431, "Request header fields too large: the request line and the header may have at most " +
                                          std::to_string(with_->header_bytes) + " bytes together."));
    default:
      closes_ = true;
      return send_refusal(refuse(400, "Bad request: " + std::string(parser_.why_failed()) + "."));
  }
}

void dialogue::hand_in() {
  enter(state::working);
  ++ticket_;
  if (verdict_->what == verdict::kind::paired_message) {
    auto how = host_.receive_paired(parser_.body(), verdict_->headers);
    if (how.http_status >= 400) host_.refused(how.http_status);
    answered(ticket_, std::move(how));
  } else {
    host_.receive(parser_.body(), verdict_->headers, ticket_);
  }
  forget_body();
}

void dialogue::hand_in_oversized() {
  closes_ = true;
  is_oversized_ = true;
  forget_body();
  enter(state::working);
  host_.refuse_oversized(verdict_->headers, ++ticket_);
}

/// Handles a request without body. If it has a body nevertheless, the connection closes after the answer.
void dialogue::open_stream() {
  if (body_pending_) closes_ = true;
  enter(state::working);
  ++ticket_;
  auto refused =
      verdict_->what == verdict::kind::pair ? host_.open_pair(ticket_) : host_.open_stream(verdict_->headers, ticket_);
  if (!refused) return;
  host_.refused(refused->http_status);
  answered(ticket_, std::move(*refused));
}

void dialogue::leave() {
  if (body_pending_) closes_ = true;
  enter(state::working);
  ++ticket_;
  auto how = host_.leave(verdict_->headers);
  if (how.http_status >= 400) host_.refused(how.http_status);
  answered(ticket_, std::move(how));
}

void dialogue::end_of_input() {
  switch (now_) {
    case state::working:
    case state::streaming:
      host_.forget();
      enter(state::ended);
      break;
    case state::sending:
    case state::pulling:
      closes_ = true;
      break;
    default:
      enter(state::ended);
  }
}

void dialogue::expire() {
  switch (now_) {
    case state::heading:
      closes_ = true;
      return send_refusal(refuse(408, "Request timeout: the header did not arrive in time."));
    case state::body:
      closes_ = true;
      return send_refusal(refuse(408, "Request timeout: the body did not arrive in time."));
    case state::identifying: {
      plain_answer busy = refuse(503, "Service unavailable: the caller could not be authenticated in time. Retry later.");
      busy.fields = "Retry-After: 1\r\n";
      return send_refusal(std::move(busy));
    }
    case state::sending:
      return cut_off();
    case state::streaming:
      return send_text(std::string(keep_alive_comment), false);
    case state::pulling:
      return fail_stream({errc::timed_out, "The source took too long to send the next part. Retry later.",
                          "a streamed answer was cut off: its source sent no further part in time"});
    case state::working:
      return;
    default:
      enter(state::ended);
  }
}

void dialogue::drain() {
  draining_ = true;
  if (now_ == state::idle || now_ == state::lingering) {
    enter(state::ended);
  } else if (now_ == state::streaming && is_endless_) {
    end_stream();
  } else {
    closes_ = true;
  }
}

void dialogue::turn_away() {
  closes_ = true;
  plain_answer busy = refuse(503, "Service unavailable: this server has too many connections. Retry later.");
  busy.fields = "Retry-After: 1\r\n";
  send_refusal(std::move(busy));
}

void dialogue::refuse_plain_http() {
  closes_ = true;
  send_refusal(refuse(400, "Bad request: plain HTTP on a port that uses TLS. Use https:// instead of http://."));
}

void dialogue::next_request() {
  parser_.reset();
  // Verdicts of other kinds have been moved from.
  if (verdict_ && verdict_->what == verdict::kind::message) verdict_before_ = std::move(verdict_);
  verdict_.reset();
  is_endless_ = false;
  is_events_ = false;
  ends_events_ = false;
  in_request_ = false;
  enter(state::idle);
  advance_input();
}

}  // namespace hondana::transport::http_server
