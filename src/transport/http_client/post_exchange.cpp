/// The exchange for one message to a Streamable HTTP server: the POST, its answer, and resumed streams.
#include "transport/http_client/post_exchange.hpp"

#include <algorithm>
#include <utility>

namespace hondana::transport::http_client {
namespace {

/// How long a stream may stay open after the answer. If the server ends it, the connection can be reused.
constexpr std::chrono::milliseconds time_to_leave{1'000};

}  // namespace

exchange::exchange(loop& within, conversation& in, channel::outgoing message, hooks hears)
    : loop_(within), in_(in), message_(std::move(message)), hears_(std::move(hears)), queued_(message_.text.size()) {
  if (message_.content) {
    message_.content = [this, sink = std::move(message_.content)](std::size_t item, std::string_view bytes) {
      has_given_content_ = true;
      return sink(item, bytes);
    };
  }
}

exchange::~exchange() {
  if (timer_) loop_.cancel(*timer_);
  release_queue();
}

void exchange::release_queue() { in_.queued_bytes -= std::exchange(queued_, 0); }

void exchange::begin() {
  http_request what;
  what.what = verb::post;
  what.url = in_.target.url;
  what.header_lines = {"Accept: application/json, text/event-stream", "Content-Type: application/json"};
  if (!message_.is_opening) {
    for (auto& line : in_.session_lines(message_.headers)) what.header_lines.push_back(std::move(line));
    session_id_ = in_.session.id;
  }
  for (const auto& [name, value] : message_.headers) {
    auto line = header_line(name, value);
    if (!line) {
      // Later, because `send` must not call back, and the exchange is not in its table yet.
      timer_ = loop_.after(std::chrono::milliseconds(0), [this, why = std::move(line.error())] { end(why); });
      return;
    }
    what.header_lines.push_back(std::move(*line));
  }
  what.body = std::move(message_.text);
  transfer_ = std::make_unique<transfer>(loop_, in_.target, in_.tokens, *this);
  transfer_->begin(std::move(what));
}

bool exchange::answered(const response_head& head) {
  head_ = head;
  release_queue();
  if (is_resuming_) {
    mode_ = head.status == 200 && head.media_type() == "text/event-stream" ? mode::events : mode::error;
    return true;
  }
  if (message_.is_opening && head.is_success()) take_session(head);
  mode_ = mode_for(head);
  // A stream without an answer to expect would stay open for nothing.
  return !spoiled_ && !(mode_ == mode::ignoring && head.media_type() == "text/event-stream");
}

void exchange::take_session(const response_head& head) {
  if (!head.session_id) return;
  if (is_session_id(*head.session_id)) {
    in_.session.id = session_id_ = head.session_id;
  } else {
    spoiled_ = failure{errc::broken_protocol,
                       shown(in_.target.url) + " sent a session id that is empty, longer than 1 KiB or not visible ASCII",
                       {},
                       nullptr};
  }
}

/// Passes content to the sink only if the message has the id of this call.
channel::routed_intake exchange::intake() const {
  if (!message_.content) return {in_.most, channel::content_sink()};
  return {in_.most,
          [call = message_.call, content = message_.content](const std::string& id) {
            return channel::call_named(id) == call ? content : channel::content_sink();
          },
          [content = message_.content] { return std::optional(content); }};
}

exchange::mode exchange::mode_for(const response_head& head) {
  if (!head.is_success()) return mode::error;
  if (message_.call == 0) return mode::ignoring;
  if (!head.content_encoding.empty() && head.content_encoding != "identity") {
    spoiled_ = failure{
        errc::broken_protocol,
        shown(in_.target.url) + " compresses its answer (" + shown(head.content_encoding) + "), which was not requested",
        {},
        nullptr};
    return mode::error;
  }
  const auto type = head.media_type();
  if (head.status == 200 && type == "application/json") {
    intake_ = std::make_unique<channel::routed_intake>(intake());
    return mode::json;
  }
  if (head.status == 200 && type == "text/event-stream") {
    events_ = std::make_unique<event_messages>(*this, intake(), event_messages::when_spoiled::at_once);
    return mode::events;
  }
  return mode::error;
}

bool exchange::body(std::string_view bytes) {
  has_heard_ = true;
  switch (mode_) {
    case mode::json:
      in_.progressed(message_.call);
      if (auto taken = intake_->feed(bytes); !taken) {
        spoiled_ = std::move(taken.error());
        return false;
      }
      return true;
    case mode::events:
      if (!is_answered_) take_events(bytes);
      in_.unsolicited.bytes(events_->take_noise());
      transfer_->pause_reading(in_.unsolicited.pause());
      return !spoiled_ && !(is_resuming_ && is_answered_);
    case mode::nothing:
    case mode::ignoring:
    case mode::error:
      break;
  }
  error_body_ += bytes.substr(0, max_error_body_bytes - error_body_.size());
  return error_body_.size() < max_error_body_bytes;
}

void exchange::take_events(std::string_view bytes) {
  // Only data extends the timeout; keep-alive comments do not.
  const auto before = events_->data_bytes();
  events_->feed(bytes);
  if (events_->data_bytes() != before && !is_answered_) in_.progressed(message_.call);
}

void exchange::message(std::string text, const std::optional<std::string>& id) {
  has_given_content_ = false;
  failures_ = 0;
  const bool is_last = !is_answered_ && is_answer(text, id, message_.call);
  const auto size = text.size();
  in_.received(message_.call, std::move(text));
  if (is_last) {
    note_answer();
  } else {
    in_.unsolicited.message(size);
  }
}

void exchange::note_answer() {
  is_answered_ = true;
  timer_ = loop_.after(time_to_leave, [this] {
    timer_.reset();
    end(channel::ending{});
  });
  hears_.answered();
}

void exchange::spoiled(failure why, const std::optional<std::string>& id) {
  if (is_answered_ || spoiled_) return;
  if (id && *id != std::to_string(message_.call)) {
    in_.log("a message from " + shown(in_.target.url) + " was skipped: " + why.public_text);
    return;
  }
  spoiled_ = std::move(why);
}

void exchange::finished(result<void> how) {
  if (is_answered_) return end(channel::ending{});
  if (spoiled_) return end(std::move(*spoiled_));
  if (is_resuming_) return finish_resumption(std::move(how));
  switch (mode_) {
    case mode::events:
      return finish_stream(std::move(how));
    case mode::nothing:
      return end(how ? failure{errc::broken_protocol, "no answer", {}, nullptr} : std::move(how.error()));
    case mode::ignoring:
      return end(channel::ending{});
    case mode::json:
      return how ? finish_json() : end(std::move(how.error()));
    case mode::error:
      break;
  }
  if (message_.call == 0) {
    in_.log("a message was rejected: " + ending_for(head_, {}, in_.target.url, session_id_.has_value()).why.public_text);
  }
  end(ending_for(head_, std::move(error_body_), in_.target.url, session_id_.has_value()));
}

void exchange::finish_json() {
  std::optional<failure> why;
  intake_->finish_each([&](result<std::string> whole) {
    if (whole) return in_.received(message_.call, std::move(*whole));
    why = std::move(whole.error());
  });
  if (why) return end(std::move(*why));
  is_answered_ = true;
  hears_.answered();
  end(channel::ending{});
}

void exchange::finish_stream(result<void> how) {
  // Stateless servers cannot resume a stream. Content that was passed to the sink cannot be taken back.
  const bool is_legacy = message_.is_opening || in_.session.is_open;
  const auto& last_id = events_->decoder().last_id();
  if (!is_legacy || last_id.empty() || !is_field_value(last_id) || has_given_content_) {
    return end(
        how ? failure{errc::source_unavailable, shown(in_.target.url) + " ended the stream before the answer", {}, nullptr}
            : std::move(how.error()));
  }
  if (!has_heard_ && ++failures_ > max_failed_attempts) {
    return end(failure{
        errc::source_unavailable, shown(in_.target.url) + " closes each stream at once, without the answer", {}, nullptr});
  }
  take_up(in_.pause_after(failures_, std::max(least_pause, events_->decoder().retry().value_or(usual_pause))));
}

void exchange::take_up(std::chrono::milliseconds pause) {
  transfer_.reset();
  timer_ = loop_.after(pause, [this] {
    timer_.reset();
    resume();
  });
}

void exchange::resume() {
  if (!message_.is_opening && in_.session.id != session_id_) {
    return end(failure{errc::source_unavailable, "the session of this request has been replaced", {}, nullptr});
  }
  is_resuming_ = true;
  mode_ = mode::nothing;
  has_heard_ = false;
  error_body_.clear();
  events_->restart();
  http_request what;
  what.url = in_.target.url;
  what.header_lines = in_.session_lines();
  what.header_lines.emplace_back("Accept: text/event-stream");
  what.header_lines.push_back("Last-Event-ID: " + events_->decoder().last_id());
  transfer_ = std::make_unique<transfer>(loop_, in_.target, in_.tokens, *this);
  transfer_->begin(std::move(what));
}

void exchange::finish_resumption(result<void> how) {
  if (mode_ == mode::events) return finish_stream(std::move(how));
  const bool is_unreached = mode_ == mode::nothing && (how || how.error().code != errc::unauthorized);
  const bool is_passing = is_unreached || head_.status == 408 || head_.status == 429 || head_.status >= 500;
  if (is_passing && ++failures_ <= max_failed_attempts)
    return take_up(in_.pause_after(failures_, events_->decoder().retry().value_or(usual_pause)));
  if (mode_ == mode::nothing)
    return end(how ? failure{errc::broken_protocol, "no answer", {}, nullptr} : std::move(how.error()));
  auto why = ending_for(head_, std::move(error_body_), in_.target.url, session_id_.has_value());
  why.why.public_text = "the stream of the answer ended early and cannot be resumed: " + why.why.public_text;
  end(std::move(why));
}

void exchange::end(failure why) {
  channel::ending how;
  how.why = std::move(why);
  how.http_status = head_.status;
  how.content_type = head_.content_type;
  if (message_.call == 0) in_.log("a message was lost: " + how.why.public_text);
  end(std::move(how));
}

void exchange::end(channel::ending how) {
  if (timer_) loop_.cancel(*std::exchange(timer_, std::nullopt));
  transfer_.reset();
  if (message_.call != 0) in_.ended(message_.call, std::move(how));
  // The callback may destroy this exchange, and with it the callback itself.
  const auto over = std::move(hears_.over);
  over();
}

}  // namespace hondana::transport::http_client
