/// The state machine of one HTTP/1 connection: answers.

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/bytes/buffer_pool.hpp"
#include "transport/http_server/http1_protocol.hpp"
#include "transport/http_server/response_writer.hpp"

namespace hondana::transport::http_server {
namespace {

// Content in memory is encoded and sent in pieces of this size. Bytes.
constexpr std::size_t max_piece_bytes = 192 * 1024;

}  // namespace

void http1_protocol::send_plain(plain_response response) {
  // The unread rest of the request would be parsed as the next request.
  if (is_body_pending_ || response.closes_connection) closes_ = true;
  release_body();
  const bool has_content = !response.content_type.empty();
  const auto length = response.content.size();
  const bool is_head = is_in_request_ && parser_.head().method == "HEAD";
  send_head(response.status, has_content ? response.content_type : std::string_view(), false, length, response.fields,
            response.cache_control);
  if (!is_head) set_body(std::move(response.content));
}

void http1_protocol::send_rejection(plain_response response) {
  host_.on_rejected(response.status);
  send_plain(std::move(response));
}

void http1_protocol::send_head(int status, std::string_view type, bool is_streamed, std::uint64_t length,
                               std::string_view fields, std::string_view cache_control) {
  const bool is_http_1_0 = is_in_request_ && is_http_1_0_;
  response_head head;
  head.status = status;
  head.body_framing = status == 204  ? framing::none
                      : !is_streamed ? framing::length
                      : is_http_1_0  ? framing::close
                                     : framing::chunked;
  if (head.body_framing == framing::close) closes_ = true;
  head.content_length = length;
  head.content_type = type;
  head.is_events = is_events_;
  if (route_) head.allowed_origin = route_->allowed_origin;
  head.cache_control = cache_control;
  head.fields = fields;
  head.closes = closes_;
  head.is_http_1_0 = is_http_1_0;
  append_head(output_.head, head);
  is_head_sent_ = true;
  is_last_piece_ = !is_streamed;
  enter(state::sending);
}

void http1_protocol::send_response(request_id id, rpc::outgoing_response response) {
  portion part;
  part.type = portion::kind::answer;
  part.content = std::move(response);
  send_portion(id, std::move(part));
}

void http1_protocol::send_portion(request_id id, portion part, std::string_view fields) {
  if (id != request_id_ || !wants_portion()) return;
  closes_ = closes_ || is_draining_;
  switch (part.type) {
    case portion::kind::opening:
      return open_events(part, fields);
    case portion::kind::message:
      return send_event(std::move(part), false);
    case portion::kind::answer:
      return is_events_ ? send_event(std::move(part), true) : send_answer(std::move(part.content), fields);
    case portion::kind::retry:
      return send_text(format_retry(part.delay), true);
    case portion::kind::end:
      if (is_events_) return send_text({}, true);
      return send_plain(
          error_response(404, "Not found: the session of this request has ended. Open a new one with initialize."));
  }
}

void http1_protocol::send_answer(rpc::outgoing_response response, std::string_view fields) {
  const int status = is_oversized_ ? 413 : response.http_status;
  if (!response.content) return send_head(status, {}, false, 0, fields);
  receipts_ = response.content->attached_receipts();
  if (response.content->is_single_text()) {
    auto content = response.content->extract_text();
    send_head(status, "application/json", false, content.size(), fields);
    set_body(std::move(content));
    return;
  }
  const auto length = response.content->length();
  stream_ = std::make_shared<outgoing_body>(outgoing_body{
      std::move(*response.content), {}, status, length ? std::string() : std::string(fields), length.has_value()});
  is_head_sent_ = false;
  if (length) send_head(status, "application/json", false, *length, fields);
  pull_next();
}

void http1_protocol::open_events(const portion& first, std::string_view fields) {
  is_events_ = true;
  send_head(200, "text/event-stream", true, 0, fields);
  if (!first.id.empty()) send_text(format_event({{}, first.id}, std::string_view()), false);
}

void http1_protocol::send_event(portion part, bool is_last) {
  if (!part.content.content) return send_text({}, is_last);
  receipts_ = part.content.content->attached_receipts();
  auto event = format_event({part.event, part.id}, std::move(*part.content.content));
  if (event.is_single_text()) return send_text(event.extract_text(), is_last);
  stream_ = std::make_shared<outgoing_body>(outgoing_body{std::move(event), {}, 200, {}, false});
  ends_events_ = is_last;
  pull_next();
}

void http1_protocol::on_events_sent(std::string_view unsent) {
  if (unsent.empty()) return enter(state::streaming);
  set_body(std::string(unsent));
  is_last_piece_ = false;
  enter(state::sending);
}

/// Sends text of an event stream.
void http1_protocol::send_text(std::string text, bool is_last) {
  stream_ = std::make_shared<outgoing_body>();
  output_.body = std::move(text);
  ends_events_ = is_last;
  send_piece(true);
}

void http1_protocol::pull_next() {
  if (stream_->content.is_next_cached()) return send_cached();
  if (stream_->piece.capacity() == 0) stream_->piece = host_.acquire_buffer();
  stream_->piece.clear();
  // Content in memory is sent together with the next piece, up to a limit.
  while (!stream_->content.next_executor()) {
    const auto pulled = stream_->content.pull(stream_->piece);
    if (!pulled) return fail_stream(pulled.error());
    if (!*pulled) return send_piece(true);
    if (stream_->piece.size() >= max_piece_bytes || stream_->content.is_next_cached()) return send_piece(false);
  }
  enter(state::pulling);
  if (const auto submitted = host_.pull(stream_, request_id_); !submitted) fail_stream(submitted.error());
}

void http1_protocol::on_pulled(request_id id, const result<bool>& outcome) {
  if (id != request_id_ || state_ != state::pulling) return;
  if (!outcome) return fail_stream(outcome.error());
  // The end of content may coincide with the end of a piece. The empty piece after it must not be sent, because nothing would
  // be drained.
  if (*outcome && stream_->piece.empty()) return pull_next();
  send_piece(!*outcome);
}

void http1_protocol::await_message() {
  if (is_draining_ && is_endless_) return end_stream();
  release_request();
  enter(state::streaming);
}

/// Releases the memory of the request, since a stream may wait for hours, and there may be many.
void http1_protocol::release_request() {
  // Assigning an empty string would not free the memory.
  std::string().swap(output_.head);
  std::string().swap(output_.body);
  std::string().swap(output_.tail);
  if (!route_) return;
  route_.reset();
  parser_.release_memory();
}

/// Ends a stream without end.
void http1_protocol::end_stream() {
  host_.cancel();
  closes_ = true;
  send_text({}, true);
}

/// Content that is shared with its owner is sent from there, without a copy, between the text before and after it.
void http1_protocol::send_cached() {
  output_.body = stream_->content.take_text_piece();
  auto cached = stream_->content.take_cached();
  output_.cached = std::move(cached.json_text);
  cached_progress_.receipt = std::move(cached.counter);
  output_.tail = stream_->content.take_text_piece();
  send_piece(!stream_->content.has_more());
}

void http1_protocol::send_piece(bool is_last) {
  if (!is_head_sent_) send_head(stream_->status, "application/json", true, 0, std::exchange(stream_->fields, {}));
  output_.piece.swap(stream_->piece);
  const bool is_chunked = !is_http_1_0_ && !stream_->has_length;
  if (const auto size = output_.message_size(); is_chunked && size != 0) {
    append_chunk_size(output_.head, size);
    output_.tail += "\r\n";
  }
  const bool is_end = is_last && (!is_events_ || ends_events_);
  if (is_end && is_chunked) output_.tail += "0\r\n\r\n";
  is_last_piece_ = is_end;
  cached_progress_.preceding_bytes = output_.head.size() + output_.body.size() + output_.piece.size();
  cached_progress_.remaining_bytes = output_.cached ? output_.cached->size() : 0;
  if (is_last) stream_.reset();
  enter(state::sending);
  if (output_.empty()) on_drained();  // HTTP/1.0 ends with the connection
}

void http1_protocol::fail_stream(const failure& error) {
  stream_.reset();
  receipts_.finish(rpc::delivery_outcome::truncated);
  host_.log("an answer was cut off: " + error.public_text +
            (error.private_text.empty() ? "" : " (" + error.private_text + ")"));
  if (is_head_sent_) return truncate();
  send_plain(error_response(error.code == errc::overloaded ? 503 : 500, error.public_text));
}

void http1_protocol::truncate() {
  is_truncated_ = true;
  stream_.reset();
  receipts_.finish(rpc::delivery_outcome::truncated);
  output_ = {};
  cached_progress_ = {};
  output_share_.release();
  enter(state::closed);
}

void http1_protocol::cached_progress::consume(std::size_t bytes) noexcept {
  const auto skipped = std::min(bytes, preceding_bytes);
  preceding_bytes -= skipped;
  const auto cached_count = std::min(bytes - skipped, remaining_bytes);
  remaining_bytes -= cached_count;
  if (receipt && cached_count != 0) receipt->count(cached_count);
}

void http1_protocol::on_written(std::size_t bytes) {
  cached_progress_.consume(bytes);
  accepted_bytes_ += bytes;
  if (state_ == state::sending && accepted_bytes_ >= limits_->min_accepted_bytes) set_sending_deadline();
}

void http1_protocol::set_body(std::string text) {
  bytes::release_buffer(std::exchange(output_.body, std::move(text)));
  set_sending_deadline();
}

/// A peer that accepts nothing occupies one piece of memory. If all peers together exceed the limit, those that need more get
/// less time.
void http1_protocol::set_sending_deadline() {
  accepted_bytes_ = 0;
  const auto held_bytes =
      output_.body.size() + output_.piece.size() + output_.tail.size() + (stream_ ? stream_->content.buffered_bytes() : 0);
  set_deadline(output_share_.grow_to(held_bytes) ? limits_->stall_timeout
                                                 : std::min(limits_->stall_timeout, limits_->overload_stall_timeout));
}

void http1_protocol::on_drained() {
  output_.head.clear();
  output_share_.release();
  if (state_ != state::sending) return;  // that was a 100 Continue
  output_.body = {};
  output_.cached.reset();
  cached_progress_.consume(cached_progress_.preceding_bytes + cached_progress_.remaining_bytes);
  cached_progress_.receipt.reset();
  output_.tail.clear();
  if (stream_) {
    // The next piece reuses the memory of this one.
    output_.piece.clear();
    stream_->piece.swap(output_.piece);
  } else {
    if (output_.piece.capacity() != 0) host_.recycle_buffer(std::exchange(output_.piece, {}));
    receipts_.finish(rpc::delivery_outcome::sent);
  }
  if (!is_last_piece_) return stream_ ? pull_next() : await_message();
  if (closes_) {
    const bool is_all_read = !is_body_pending_ && input_.empty();
    input_ = {};
    return enter(is_draining_ && is_all_read ? state::closed : state::lingering);
  }
  next_request();
}

}  // namespace hondana::transport::http_server
