/// The state machine of one HTTP/1 connection: answers.

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/bytes/buffer_pool.hpp"
#include "transport/http_server/http1_dialogue.hpp"
#include "transport/http_server/response_writer.hpp"

namespace hondana::transport::http_server {
namespace {

// Content in memory is encoded and sent in pieces of this size. Bytes.
constexpr std::size_t full_piece = 192 * 1024;

}  // namespace

void dialogue::send_plain(plain_answer what) {
  // The unread rest of the request would be parsed as the next request.
  if (body_pending_ || what.is_last) closes_ = true;
  forget_body();
  const bool has_content = !what.content_type.empty();
  const auto length = what.content.size();
  const bool is_head = in_request_ && parser_.head().method == "HEAD";
  send_head(what.status, has_content ? what.content_type : std::string_view(), false, length, what.fields, what.keeping);
  if (!is_head) set_body(std::move(what.content));
}

void dialogue::send_refusal(plain_answer what) {
  host_.refused(what.status);
  send_plain(std::move(what));
}

void dialogue::send_head(int status, std::string_view type, bool is_streamed, std::uint64_t length, std::string_view fields,
                         std::string_view keeping) {
  const bool is_old = in_request_ && is_http_1_0_;
  answer_head head;
  head.status = status;
  head.how = status == 204 ? framing::none : !is_streamed ? framing::length : is_old ? framing::close : framing::chunked;
  if (head.how == framing::close) closes_ = true;
  head.content_length = length;
  head.content_type = type;
  head.is_events = is_events_;
  if (verdict_) head.allowed_origin = verdict_->allowed_origin;
  head.keeping = keeping;
  head.fields = fields;
  head.closes = closes_;
  head.is_http_1_0 = is_old;
  append(output_.head, head);
  head_sent_ = true;
  last_piece_ = !is_streamed;
  enter(state::sending);
}

void dialogue::answered(ticket of, rpc::delivery what) {
  portion all;
  all.what = portion::kind::answer;
  all.content = std::move(what);
  take(of, std::move(all));
}

void dialogue::take(ticket of, portion what, std::string_view fields) {
  if (of != ticket_ || !wants_messages()) return;
  closes_ = closes_ || draining_;
  switch (what.what) {
    case portion::kind::opening:
      return open_events(what, fields);
    case portion::kind::message:
      return send_event(std::move(what), false);
    case portion::kind::answer:
      return is_events_ ? send_event(std::move(what), true) : send_answer(std::move(what.content), fields);
    case portion::kind::retry:
      return send_text(write_retry(what.after), true);
    case portion::kind::end:
      if (is_events_) return send_text({}, true);
      return send_plain(refuse(404, "Not found: the session of this request has ended. Open a new one with initialize."));
  }
}

void dialogue::send_answer(rpc::delivery what, std::string_view fields) {
  const int status = is_oversized_ ? 413 : what.http_status;
  if (!what.content) return send_head(status, {}, false, 0, fields);
  leaving_ = what.content->sent_for();
  if (what.content->is_whole()) {
    auto content = what.content->take_text();
    send_head(status, "application/json", false, content.size(), fields);
    set_body(std::move(content));
    return;
  }
  const auto length = what.content->length();
  stream_ = std::make_shared<outgoing>(
      outgoing{std::move(*what.content), {}, status, length ? std::string() : std::string(fields), length.has_value()});
  head_sent_ = false;
  if (length) send_head(status, "application/json", false, *length, fields);
  pull_next();
}

void dialogue::open_events(const portion& first, std::string_view fields) {
  is_events_ = true;
  send_head(200, "text/event-stream", true, 0, fields);
  if (!first.id.empty()) send_text(write_event({{}, first.id}, std::string_view()), false);
}

void dialogue::send_event(portion what, bool is_last) {
  if (!what.content.content) return send_text({}, is_last);
  leaving_ = what.content.content->sent_for();
  auto event = write_event({what.event, what.id}, std::move(*what.content.content));
  if (event.is_whole()) return send_text(event.take_text(), is_last);
  stream_ = std::make_shared<outgoing>(outgoing{std::move(event), {}, 200, {}, false});
  ends_events_ = is_last;
  pull_next();
}

void dialogue::sent_events(std::string_view rest) {
  if (rest.empty()) return enter(state::streaming);
  set_body(std::string(rest));
  last_piece_ = false;
  enter(state::sending);
}

/// Sends text of an event stream.
void dialogue::send_text(std::string what, bool is_last) {
  stream_ = std::make_shared<outgoing>();
  output_.body = std::move(what);
  ends_events_ = is_last;
  send_piece(true);
}

void dialogue::pull_next() {
  if (stream_->rest.lends_next()) return send_lent();
  if (stream_->piece.capacity() == 0) stream_->piece = host_.spare();
  stream_->piece.clear();
  // Content in memory is sent together with the next piece, up to a limit.
  while (!stream_->rest.next_lane()) {
    const auto more = stream_->rest.pull(stream_->piece);
    if (!more) return fail_stream(more.error());
    if (!*more) return send_piece(true);
    if (stream_->piece.size() >= full_piece || stream_->rest.lends_next()) return send_piece(false);
  }
  enter(state::pulling);
  if (const auto begun = host_.pull(stream_, ticket_); !begun) fail_stream(begun.error());
}

void dialogue::pulled(ticket of, const result<bool>& more) {
  if (of != ticket_ || now_ != state::pulling) return;
  if (!more) return fail_stream(more.error());
  // The end of content may coincide with the end of a piece. The empty piece after it must not be sent, because nothing would
  // be drained.
  if (*more && stream_->piece.empty()) return pull_next();
  send_piece(!*more);
}

void dialogue::await_message() {
  if (draining_ && is_endless_) return end_stream();
  rest();
  enter(state::streaming);
}

/// Releases the memory of the request, since a stream may wait for hours, and there may be many.
void dialogue::rest() {
  // Assigning an empty string would not free the memory.
  std::string().swap(output_.head);
  std::string().swap(output_.body);
  std::string().swap(output_.tail);
  if (!verdict_) return;
  verdict_.reset();
  parser_.rest();
}

/// Ends a stream without end.
void dialogue::end_stream() {
  host_.forget();
  closes_ = true;
  send_text({}, true);
}

/// Content that is shared with its owner is sent from there, without a copy, between the text before and after it.
void dialogue::send_lent() {
  output_.body = stream_->rest.take_ready();
  auto lent = stream_->rest.take_lent();
  output_.kept = std::move(lent.inside);
  lent_to_.counted_by = std::move(lent.counted_by);
  output_.tail = stream_->rest.take_ready();
  send_piece(!stream_->rest.has_more());
}

void dialogue::send_piece(bool is_last) {
  if (!head_sent_) send_head(stream_->status, "application/json", true, 0, std::exchange(stream_->fields, {}));
  output_.piece.swap(stream_->piece);
  const bool is_chunked = !is_http_1_0_ && !stream_->is_measured;
  if (const auto size = output_.size_of_message(); is_chunked && size != 0) {
    append_chunk_size(output_.head, size);
    output_.tail += "\r\n";
  }
  const bool is_end = is_last && (!is_events_ || ends_events_);
  if (is_end && is_chunked) output_.tail += "0\r\n\r\n";
  last_piece_ = is_end;
  lent_to_.before = output_.head.size() + output_.body.size() + output_.piece.size();
  lent_to_.left = output_.kept ? output_.kept->size() : 0;
  if (is_last) stream_.reset();
  enter(state::sending);
  if (output_.empty()) drained();  // HTTP/1.0 ends with the connection
}

void dialogue::fail_stream(const failure& why) {
  stream_.reset();
  leaving_.settle(rpc::departure::cut);
  host_.log("an answer was cut off: " + why.public_text + (why.private_text.empty() ? "" : " (" + why.private_text + ")"));
  if (head_sent_) return cut_off();
  send_plain(refuse(why.code == errc::overloaded ? 503 : 500, why.public_text));
}

void dialogue::cut_off() {
  cut_off_ = true;
  stream_.reset();
  leaving_.settle(rpc::departure::cut);
  output_ = {};
  lent_to_ = {};
  waiting_.release();
  enter(state::ended);
}

void dialogue::lending::moved(std::size_t bytes) noexcept {
  const auto skipped = std::min(bytes, before);
  before -= skipped;
  const auto of_it = std::min(bytes - skipped, left);
  left -= of_it;
  if (counted_by && of_it != 0) counted_by->count(of_it);
}

void dialogue::progressed(std::size_t bytes) {
  lent_to_.moved(bytes);
  taken_ += bytes;
  if (now_ == state::sending && taken_ >= with_->taken_at_least) set_sending_deadline();
}

void dialogue::set_body(std::string what) {
  bytes::keep_spare_text(std::exchange(output_.body, std::move(what)));
  set_sending_deadline();
}

/// A peer that accepts nothing occupies one piece of memory. If all peers together exceed the limit, those that need more get
/// less time.
void dialogue::set_sending_deadline() {
  taken_ = 0;
  const auto held =
      output_.body.size() + output_.piece.size() + output_.tail.size() + (stream_ ? stream_->rest.bytes_held() : 0);
  set_deadline(waiting_.grow_to(held) ? with_->stall : std::min(with_->stall, with_->stall_when_crowded));
}

void dialogue::drained() {
  output_.head.clear();
  waiting_.release();
  if (now_ != state::sending) return;  // that was a 100 Continue
  output_.body = {};
  output_.kept.reset();
  lent_to_.moved(lent_to_.before + lent_to_.left);
  lent_to_.counted_by.reset();
  output_.tail.clear();
  if (stream_) {
    // The next piece reuses the memory of this one.
    output_.piece.clear();
    stream_->piece.swap(output_.piece);
  } else {
    if (output_.piece.capacity() != 0) host_.take_back(std::exchange(output_.piece, {}));
    leaving_.settle(rpc::departure::sent);
  }
  if (!last_piece_) return stream_ ? pull_next() : await_message();
  if (closes_) {
    const bool all_read = !body_pending_ && input_.empty();
    input_ = {};
    return enter(draining_ && all_read ? state::ended : state::lingering);
  }
  next_request();
}

}  // namespace hondana::transport::http_server
