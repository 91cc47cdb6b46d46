/// When the GET stream of a session is asked for again, and when it is given up.
#include "transport/http_client/server_stream.hpp"

#include <algorithm>
#include <utility>

namespace hondana::transport::http_client {

server_stream::server_stream(loop& within, conversation& in, std::function<void(failure)> lost)
    : loop_(within),
      in_(in),
      lost_(std::move(lost)),
      events_(*this, channel::routed_intake(in.most, channel::content_sink()), event_messages::when_spoiled::at_once) {}

server_stream::~server_stream() {
  if (timer_) loop_.cancel(*timer_);
}

void server_stream::open() {
  is_stream_ = false;
  has_heard_ = false;
  ignored_ = 0;
  head_ = {};
  events_.restart();
  had_session_ = in_.session.id.has_value();
  http_request what;
  what.url = in_.target.url;
  what.header_lines = in_.session_lines();
  what.header_lines.emplace_back("Accept: text/event-stream");
  const auto& last_id = events_.decoder().last_id();
  is_resumed_ = !last_id.empty() && is_field_value(last_id);
  if (is_resumed_) what.header_lines.push_back("Last-Event-ID: " + last_id);
  transfer_ = std::make_unique<transfer>(loop_, in_.target, in_.tokens, *this);
  transfer_->begin(std::move(what));
}

bool server_stream::answered(const response_head& head) {
  head_ = head;
  is_stream_ = head.status == 200 && head.media_type() == "text/event-stream";
  if (is_stream_ && was_open_ && !is_resumed_) in_.interrupted();
  was_open_ = was_open_ || is_stream_;
  return true;
}

bool server_stream::body(std::string_view bytes) {
  if (!is_stream_) {
    ignored_ += bytes.size();
    return ignored_ < max_error_body_bytes;
  }
  has_heard_ = true;
  events_.feed(bytes);
  in_.unsolicited.bytes(events_.take_noise());
  transfer_->pause_reading(in_.unsolicited.pause());
  return true;
}

void server_stream::message(std::string text, const std::optional<std::string>&) {
  in_.unsolicited.message(text.size());
  in_.received(0, std::move(text));
}

void server_stream::spoiled(failure why, const std::optional<std::string>&) {
  in_.log("a message from " + shown(in_.target.url) + " was skipped: " + why.public_text);
}

void server_stream::finished(result<void> how) {
  const auto least = std::max(least_pause, events_.decoder().retry().value_or(usual_pause));
  if (is_stream_) {
    // One that is closed as soon as it is opened, again and again, is asked for less and less often, but never given up.
    failures_ = has_heard_ ? 0 : failures_ + 1;
    return again(in_.pause_after(failures_, least));
  }
  auto why = how || head_.status != 0 ? ending_for(head_, {}, in_.target.url, had_session_) : channel::ending{};
  if (head_.status == 0 && !how) why.why = std::move(how.error());
  // A server without such a stream may say 404 as well as 405.
  if (why.session_has_ended && was_open_) return give_up(std::move(why.why));
  const bool is_passing = head_.status == 0 || head_.status == 408 || head_.status == 429 || head_.status >= 500;
  const bool is_worth_it =
      is_passing && head_.status != 501 && why.why.code != errc::broken_protocol && why.why.code != errc::unauthorized;
  if (is_worth_it && ++failures_ <= max_failed_attempts)
    return again(std::max(in_.pause_after(failures_, least), why.retry_after.value_or(least)));
  if (was_open_) return give_up(std::move(why.why));
  if (head_.status != 405) in_.log("the server offers no stream for its own messages: " + why.why.public_text);
  transfer_.reset();
}

void server_stream::again(std::chrono::milliseconds pause) {
  transfer_.reset();
  timer_ = loop_.after(pause, [this] {
    timer_.reset();
    open();
  });
}

void server_stream::give_up(failure why) {
  transfer_.reset();
  const auto lost = std::move(lost_);
  lost(std::move(why));
}

}  // namespace hondana::transport::http_client
