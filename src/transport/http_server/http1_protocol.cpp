/// The state machine of one HTTP/1 connection: requests.
#include "transport/http_server/http1_protocol.hpp"

#include <algorithm>
#include <utility>

#include "transport/http_server/response_writer.hpp"

namespace hondana::transport::http_server {

http1_protocol::http1_protocol(http1_handler& host, std::shared_ptr<const limits> limits, std::shared_ptr<const site> site,
                               std::shared_ptr<byte_budget> body_budget, std::shared_ptr<byte_budget> unsent_budget)
    : host_(host),
      limits_(std::move(limits)),
      site_(std::move(site)),
      parser_({limits_->max_header_bytes, limits_->max_body_bytes}),
      body_share_(std::move(body_budget)),
      output_share_(std::move(unsent_budget)),
      deadline_(clock::now() + limits_->header_timeout) {}

void http1_protocol::enter(state next) {
  state_ = next;
  switch (next) {
    case state::idle:
      return set_deadline(limits_->keep_alive_timeout);
    case state::reading_head:
      return set_deadline(limits_->header_timeout);
    case state::reading_body:
      return set_deadline(limits_->body_idle_timeout);
    case state::sending:
      return set_sending_deadline();
    case state::streaming:
      return set_deadline(limits_->comment_interval);
    case state::authenticating:
    case state::pulling:
      return set_deadline(limits_->pull_timeout);
    case state::lingering:
      return set_deadline(limits_->linger_timeout);
    case state::handling:
    case state::closed:
      deadline_ = clock::time_point::max();
  }
}

bool http1_protocol::wants_input() const noexcept {
  switch (state_) {
    case state::idle:
    case state::reading_head:
    case state::reading_body:
    case state::lingering:
      return true;
    case state::authenticating:
    case state::handling:
    case state::streaming:
      return input_.size() < limits_->max_pipelined_bytes;
    default:
      return false;
  }
}

void http1_protocol::receive(std::string_view bytes) {
  if (state_ == state::lingering) {
    discarded_bytes_ += bytes.size();
    if (discarded_bytes_ > limits_->max_linger_bytes) enter(state::closed);
    return;
  }
  if (state_ == state::closed) return;
  if (!input_.empty()) {
    input_ += bytes;
    advance_input();
  } else {
    input_ = bytes.substr(advance(bytes));
  }
}

void http1_protocol::advance_input() { input_.erase(0, advance(input_)); }

std::size_t http1_protocol::advance(std::string_view bytes) {
  std::size_t consumed = 0;
  while (state_ == state::idle || state_ == state::reading_head || state_ == state::reading_body) {
    const auto remaining = bytes.substr(consumed);
    if (state_ == state::idle) {
      // Old clients send an empty line before a request. Spec: RFC 9112 2.2.
      if (remaining.starts_with("\r\n")) {
        consumed += 2;
        continue;
      }
      if (remaining.empty() || remaining == "\r") break;
      enter(state::reading_head);
    }
    const auto step = parser_.feed(remaining);
    consumed += step.consumed;
    switch (step.status) {
      case request_parser::progress::needs_more:
        if (state_ == state::reading_body) await_body();
        return consumed;
      case request_parser::progress::head:
        accept_head(remaining.size() - step.consumed);
        break;
      case request_parser::progress::complete:
        is_body_pending_ = false;
        dispatch_message();
        break;
      case request_parser::progress::failed:
        reject_malformed();
        break;
    }
  }
  return consumed;
}

void http1_protocol::accept_head(std::size_t following_bytes) {
  const auto& head = parser_.head();
  is_in_request_ = true;
  is_body_pending_ = head.has_body;
  closes_ = !head.keep_alive || is_draining_;
  is_oversized_ = false;
  is_http_1_0_ = head.is_http_1_0;
  // Equal headers have equal routes.
  route_ =
      parser_.is_repeated() && previous_route_ ? std::move(previous_route_) : std::make_unique<route>(find_route(head, *site_));
  previous_route_.reset();
  is_endless_ = route_->type == route::kind::stream || route_->type == route::kind::sse_stream;
  if (!route_->needs_authentication) return proceed(following_bytes);
  auto outcome = host_.authenticate(head, *route_, ++request_id_);
  if (!outcome) return enter(state::authenticating);
  if (!*outcome) return send_rejection(std::move(outcome->error()));
  proceed(following_bytes);
}

plain_response http1_handler::receive_webhook(const request_head&, std::string_view) {
  return error_response(404, "Not found. The MCP endpoint of this server is /mcp.");
}

void http1_protocol::on_authenticated(request_id id, http1_handler::auth_outcome outcome) {
  if (!is_authenticating(id)) return;
  closes_ = closes_ || is_draining_;
  if (!outcome) return send_rejection(std::move(outcome.error()));
  proceed(input_.size());
  advance_input();
}

/// Handles a request as its route says. `following_bytes`: bytes that have arrived after the header.
void http1_protocol::proceed(std::size_t following_bytes) {
  const auto& head = parser_.head();
  if (route_->type == route::kind::response) {
    if (!route_->rejection_reason.empty()) host_.log_foreign_request(head, route_->rejection_reason);
    // It may also be the success of a CORS preflight.
    route_->response.status >= 400 ? send_rejection(std::move(route_->response)) : send_plain(std::move(route_->response));
  } else if (route_->type == route::kind::health || route_->type == route::kind::ready ||
             route_->type == route::kind::metrics) {
    send_plain(host_.report(route_->type));
  } else if (route_->type == route::kind::metadata) {
    send_plain(host_.describe_resource(head, route_->subject));
  } else if (route_->type == route::kind::webhook) {
    auto answer = host_.receive_webhook(head, route_->subject);
    answer.status >= 400 ? send_rejection(std::move(answer)) : send_plain(std::move(answer));
  } else if (is_endless_) {
    open_stream();
  } else if (route_->type == route::kind::end_session) {
    end_session();
  } else if (head.content_length.value_or(0) > limits_->max_body_bytes) {
    dispatch_oversized();
  } else {
    enter(state::reading_body);
    body_deadline_ = executor::message_batch::now() + limits_->body_timeout;
    if (head.has_body && following_bytes == 0 && !head.is_http_1_0 && head.find("Expect").count == 1) {
      output_.head += "HTTP/1.1 100 Continue\r\n\r\n";
    }
  }
}

void http1_protocol::await_body() {
  const auto size = parser_.body().size();
  if (size > limits_->uncounted_bytes && !body_share_.grow_to(size - limits_->uncounted_bytes)) {
    closes_ = true;
    plain_response response =
        error_response(503, "Service unavailable: too many large messages are arriving at once. Retry later.");
    response.fields = "Retry-After: 1\r\n";
    return send_rejection(std::move(response));
  }
  set_deadline(limits_->body_idle_timeout);
  deadline_ = std::min(deadline_, body_deadline_);
}

void http1_protocol::release_body() {
  parser_.release_body();
  body_share_.release();
}

void http1_protocol::reject_malformed() {
  switch (parser_.current_defect()) {
    case request_parser::defect::body_too_large:
      return dispatch_oversized();
    case request_parser::defect::header_too_large:
      closes_ = true;
      return send_rejection(
          error_response(431, "Request header fields too large: the request line and the header may have at most " +
                                  std::to_string(limits_->max_header_bytes) + " bytes together."));
    default:
      closes_ = true;
      return send_rejection(error_response(400, "Bad request: " + std::string(parser_.defect_reason()) + "."));
  }
}

void http1_protocol::dispatch_message() {
  enter(state::handling);
  ++request_id_;
  if (route_->type == route::kind::sse_message) {
    auto response = host_.receive_sse_message(parser_.body(), route_->headers);
    if (response.http_status >= 400) host_.on_rejected(response.http_status);
    send_response(request_id_, std::move(response));
  } else {
    host_.receive(parser_.body(), route_->headers, request_id_);
  }
  release_body();
}

void http1_protocol::dispatch_oversized() {
  closes_ = true;
  is_oversized_ = true;
  release_body();
  enter(state::handling);
  host_.reject_oversized(route_->headers, ++request_id_);
}

/// Handles a request without body. If it has a body nevertheless, the connection closes after the answer.
void http1_protocol::open_stream() {
  if (is_body_pending_) closes_ = true;
  enter(state::handling);
  ++request_id_;
  auto error =
      route_->type == route::kind::sse_stream ? host_.open_sse(request_id_) : host_.open_stream(route_->headers, request_id_);
  if (!error) return;
  host_.on_rejected(error->http_status);
  send_response(request_id_, std::move(*error));
}

void http1_protocol::end_session() {
  if (is_body_pending_) closes_ = true;
  enter(state::handling);
  ++request_id_;
  auto response = host_.end_session(route_->headers);
  if (response.http_status >= 400) host_.on_rejected(response.http_status);
  send_response(request_id_, std::move(response));
}

void http1_protocol::end_of_input() {
  switch (state_) {
    case state::handling:
    case state::streaming:
      host_.cancel();
      enter(state::closed);
      break;
    case state::sending:
    case state::pulling:
      closes_ = true;
      break;
    default:
      enter(state::closed);
  }
}

void http1_protocol::expire() {
  switch (state_) {
    case state::reading_head:
      closes_ = true;
      return send_rejection(error_response(408, "Request timeout: the header did not arrive in time."));
    case state::reading_body:
      closes_ = true;
      return send_rejection(error_response(408, "Request timeout: the body did not arrive in time."));
    case state::authenticating: {
      plain_response response =
          error_response(503, "Service unavailable: the caller could not be authenticated in time. Retry later.");
      response.fields = "Retry-After: 1\r\n";
      return send_rejection(std::move(response));
    }
    case state::sending:
      return truncate();
    case state::streaming:
      return send_text(std::string(keep_alive_comment), false);
    case state::pulling:
      return fail_stream({errc::timed_out, "The source took too long to send the next part. Retry later.",
                          "a streamed answer was cut off: its source sent no further part in time"});
    case state::handling:
      return;
    default:
      enter(state::closed);
  }
}

void http1_protocol::drain() {
  is_draining_ = true;
  if (state_ == state::idle || state_ == state::lingering) {
    enter(state::closed);
  } else if (state_ == state::streaming && is_endless_) {
    end_stream();
  } else {
    closes_ = true;
  }
}

void http1_protocol::reject_overloaded() {
  closes_ = true;
  plain_response response = error_response(503, "Service unavailable: this server has too many connections. Retry later.");
  response.fields = "Retry-After: 1\r\n";
  send_rejection(std::move(response));
}

void http1_protocol::reject_plain_http() {
  closes_ = true;
  send_rejection(error_response(400, "Bad request: plain HTTP on a port that uses TLS. Use https:// instead of http://."));
}

void http1_protocol::next_request() {
  parser_.reset();
  // Routes of other kinds have been moved from.
  if (route_ && route_->type == route::kind::message) previous_route_ = std::move(route_);
  route_.reset();
  is_endless_ = false;
  is_events_ = false;
  ends_events_ = false;
  is_in_request_ = false;
  enter(state::idle);
  advance_input();
}

}  // namespace hondana::transport::http_server
