/// Sends one message to a Streamable HTTP server, and receives the answer.
#include "transport/http_client/post_exchange.hpp"

#include <algorithm>
#include <utility>

namespace hondana::transport::http_client {
namespace {

/// How long a stream may stay open after the answer. If the server ends it, the connection can be reused.
constexpr std::chrono::milliseconds linger_time{1'000};

}  // namespace

exchange::exchange(transfer_loop& loop, channel_state& state, channel::outgoing_message message, hooks callbacks)
    : loop_(loop),
      state_(state),
      message_(std::move(message)),
      hooks_(std::move(callbacks)),
      queued_bytes_(message_.text.size()) {
  if (message_.content) {
    message_.content = [this, sink = std::move(message_.content)](std::size_t item, std::string_view bytes) {
      has_passed_content_ = true;
      return sink(item, bytes);
    };
  }
}

exchange::~exchange() {
  if (timer_) loop_.cancel(*timer_);
  release_queued_bytes();
}

void exchange::release_queued_bytes() { state_.queued_bytes -= std::exchange(queued_bytes_, 0); }

void exchange::begin() {
  http_request request;
  request.method = http_method::post;
  request.url = state_.target.url;
  request.header_lines = {"Accept: application/json, text/event-stream", "Content-Type: application/json"};
  if (!message_.is_opening) {
    for (auto& line : state_.session_lines(message_.headers)) request.header_lines.push_back(std::move(line));
    session_id_ = state_.session.id;
  }
  for (const auto& [name, value] : message_.headers) {
    auto line = header_line(name, value);
    if (!line) {
      // Later, because `send` must not call back, and the exchange is not in its table yet.
      timer_ = loop_.schedule_after(std::chrono::milliseconds(0), [this, error = std::move(line.error())] { finish(error); });
      return;
    }
    request.header_lines.push_back(std::move(*line));
  }
  request.body = std::move(message_.text);
  transfer_ = std::make_unique<transfer>(loop_, state_.target, state_.tokens, *this);
  transfer_->begin(std::move(request));
}

bool exchange::on_head(const response_head& head) {
  head_ = head;
  release_queued_bytes();
  if (is_resuming_) {
    mode_ = head.status == 200 && head.media_type() == "text/event-stream" ? mode::events : mode::error;
    return true;
  }
  if (message_.is_opening && head.is_success()) store_session(head);
  mode_ = mode_for(head);
  // A stream without an answer to expect would stay open for nothing.
  return !error_ && !(mode_ == mode::ignoring && head.media_type() == "text/event-stream");
}

void exchange::store_session(const response_head& head) {
  if (!head.session_id) return;
  if (is_session_id(*head.session_id)) {
    state_.session.id = session_id_ = head.session_id;
  } else {
    error_ =
        failure{errc::protocol_error,
                display_url(state_.target.url) + " sent a session id that is empty, longer than 1 KiB or not visible ASCII",
                {},
                nullptr};
  }
}

/// Passes content to the sink only if the message has the id of this call.
channel::routing_reader exchange::intake() const {
  if (!message_.content) return {state_.limits, channel::content_sink()};
  return {state_.limits,
          [call = message_.call, content = message_.content](const std::string& id) {
            return channel::parse_call_id(id) == call ? content : channel::content_sink();
          },
          [content = message_.content] { return std::optional(content); }};
}

exchange::mode exchange::mode_for(const response_head& head) {
  if (!head.is_success()) return mode::error;
  if (message_.call == 0) return mode::ignoring;
  if (!head.content_encoding.empty() && head.content_encoding != "identity") {
    error_ = failure{errc::protocol_error,
                     display_url(state_.target.url) + " compresses its answer (" + display_url(head.content_encoding) +
                         "), which was not requested",
                     {},
                     nullptr};
    return mode::error;
  }
  const auto type = head.media_type();
  if (head.status == 200 && type == "application/json") {
    intake_ = std::make_unique<channel::routing_reader>(intake());
    return mode::json;
  }
  if (head.status == 200 && type == "text/event-stream") {
    events_ = std::make_unique<message_decoder>(*this, intake(), message_decoder::error_timing::immediate);
    return mode::events;
  }
  return mode::error;
}

bool exchange::on_body(std::string_view bytes) {
  has_received_ = true;
  switch (mode_) {
    case mode::json:
      state_.on_progress(message_.call);
      if (auto parsed = intake_->feed(bytes); !parsed) {
        error_ = std::move(parsed.error());
        return false;
      }
      return true;
    case mode::events:
      if (!is_answered_) feed_events(bytes);
      state_.unsolicited.count_bytes(events_->pop_noise_bytes());
      transfer_->pause_reading(state_.unsolicited.delay());
      return !error_ && !(is_resuming_ && is_answered_);
    case mode::none:
    case mode::ignoring:
    case mode::error:
      break;
  }
  error_body_ += bytes.substr(0, max_error_body_bytes - error_body_.size());
  return error_body_.size() < max_error_body_bytes;
}

void exchange::feed_events(std::string_view bytes) {
  // Only data extends the timeout; keep-alive comments do not.
  const auto previous = events_->data_bytes();
  events_->feed(bytes);
  if (events_->data_bytes() != previous && !is_answered_) state_.on_progress(message_.call);
}

void exchange::on_message(std::string text, const std::optional<std::string>& id) {
  has_passed_content_ = false;
  failures_ = 0;
  const bool is_last = !is_answered_ && is_answer(text, id, message_.call);
  const auto size = text.size();
  state_.on_message(message_.call, std::move(text));
  if (is_last) {
    mark_answered();
  } else {
    state_.unsolicited.count_message(size);
  }
}

void exchange::mark_answered() {
  is_answered_ = true;
  timer_ = loop_.schedule_after(linger_time, [this] {
    timer_.reset();
    finish(channel::termination{});
  });
  hooks_.on_answered();
}

void exchange::on_invalid(failure error, const std::optional<std::string>& id) {
  if (is_answered_ || error_) return;
  if (id && *id != std::to_string(message_.call)) {
    state_.log("a message from " + display_url(state_.target.url) + " was skipped: " + error.public_text);
    return;
  }
  error_ = std::move(error);
}

void exchange::on_finished(result<void> outcome) {
  if (is_answered_) return finish(channel::termination{});
  if (error_) return finish(std::move(*error_));
  if (is_resuming_) return finish_resumption(std::move(outcome));
  switch (mode_) {
    case mode::events:
      return finish_stream(std::move(outcome));
    case mode::none:
      return finish(outcome ? failure{errc::protocol_error, "no answer", {}, nullptr} : std::move(outcome.error()));
    case mode::ignoring:
      return finish(channel::termination{});
    case mode::json:
      return outcome ? finish_json() : finish(std::move(outcome.error()));
    case mode::error:
      break;
  }
  if (message_.call == 0) {
    state_.log("a message was rejected: " +
               make_termination(head_, {}, state_.target.url, session_id_.has_value()).reason.public_text);
  }
  finish(make_termination(head_, std::move(error_body_), state_.target.url, session_id_.has_value()));
}

void exchange::finish_json() {
  std::optional<failure> error;
  intake_->finish_each([&](result<std::string> message) {
    if (message) return state_.on_message(message_.call, std::move(*message));
    error = std::move(message.error());
  });
  if (error) return finish(std::move(*error));
  is_answered_ = true;
  hooks_.on_answered();
  finish(channel::termination{});
}

void exchange::finish_stream(result<void> outcome) {
  // Stateless servers cannot resume a stream. Content that was passed to the sink cannot be taken back.
  const bool is_legacy = message_.is_opening || state_.session.is_open;
  const auto& last_id = events_->decoder().last_id();
  if (!is_legacy || last_id.empty() || !is_field_value(last_id) || has_passed_content_) {
    return finish(outcome ? failure{errc::source_unavailable,
                                    display_url(state_.target.url) + " ended the stream before the answer",
                                    {},
                                    nullptr}
                          : std::move(outcome.error()));
  }
  if (!has_received_ && ++failures_ > max_failed_attempts) {
    return finish(failure{errc::source_unavailable,
                          display_url(state_.target.url) + " closes each stream at once, without the answer",
                          {},
                          nullptr});
  }
  resume_later(retry_delay(failures_, std::max(min_retry_delay, events_->decoder().retry().value_or(default_retry_delay))));
}

void exchange::resume_later(std::chrono::milliseconds delay) {
  transfer_.reset();
  timer_ = loop_.schedule_after(delay, [this] {
    timer_.reset();
    resume();
  });
}

void exchange::resume() {
  if (!message_.is_opening && state_.session.id != session_id_) {
    return finish(failure{errc::source_unavailable, "the session of this request has been replaced", {}, nullptr});
  }
  is_resuming_ = true;
  mode_ = mode::none;
  has_received_ = false;
  error_body_.clear();
  events_->restart();
  http_request request;
  request.url = state_.target.url;
  request.header_lines = state_.session_lines();
  request.header_lines.emplace_back("Accept: text/event-stream");
  request.header_lines.push_back("Last-Event-ID: " + events_->decoder().last_id());
  transfer_ = std::make_unique<transfer>(loop_, state_.target, state_.tokens, *this);
  transfer_->begin(std::move(request));
}

void exchange::finish_resumption(result<void> outcome) {
  if (mode_ == mode::events) return finish_stream(std::move(outcome));
  const bool is_unreached = mode_ == mode::none && (outcome || outcome.error().code != errc::unauthorized);
  const bool is_temporary = is_unreached || head_.status == 408 || head_.status == 429 || head_.status >= 500;
  if (is_temporary && ++failures_ <= max_failed_attempts)
    return resume_later(retry_delay(failures_, events_->decoder().retry().value_or(default_retry_delay)));
  if (mode_ == mode::none)
    return finish(outcome ? failure{errc::protocol_error, "no answer", {}, nullptr} : std::move(outcome.error()));
  auto termination = make_termination(head_, std::move(error_body_), state_.target.url, session_id_.has_value());
  termination.reason.public_text =
      "the stream of the answer ended early and cannot be resumed: " + termination.reason.public_text;
  finish(std::move(termination));
}

void exchange::finish(failure error) {
  channel::termination termination;
  termination.reason = std::move(error);
  termination.http_status = head_.status;
  termination.content_type = head_.content_type;
  if (message_.call == 0) state_.log("a message was lost: " + termination.reason.public_text);
  finish(std::move(termination));
}

void exchange::finish(channel::termination termination) {
  if (timer_) loop_.cancel(*std::exchange(timer_, std::nullopt));
  transfer_.reset();
  if (message_.call != 0) state_.on_call_finished(message_.call, std::move(termination));
  // The callback may destroy this exchange, and with it the callback itself.
  const auto on_finished = std::move(hooks_.on_finished);
  on_finished();
}

}  // namespace hondana::transport::http_client
