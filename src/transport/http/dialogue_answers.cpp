/// One HTTP/1 connection as a state machine: how answers go out.
#include <cstddef>
#include <utility>

#include "transport/http/answer_head.hpp"
#include "transport/http/dialogue.hpp"

namespace hondana::transport::http {
namespace {

// Of content in memory, what is encoded and sent at a time.
constexpr std::size_t full_piece = 192 * 1024;

}  // namespace

void dialogue::send_plain(plain_answer what) {
  // What is left of the request would be taken for the next one.
  if (body_pending_) closes_ = true;
  forget_body();
  const bool has_content = !what.content_type.empty();
  const auto length = what.content.size();
  const bool is_head = in_request_ && parser_.head().method == "HEAD";
  send_head(what.status, has_content ? what.content_type : std::string_view(), false, length, what.fields);
  if (!is_head) output_.body = std::move(what.content);
}

void dialogue::send_head(int status, std::string_view type, bool is_streamed, std::uint64_t length, std::string_view fields) {
  const bool is_old = in_request_ && parser_.head().is_http_1_0;
  answer_head head;
  head.status = status;
  head.how = status == 204 ? framing::none : !is_streamed ? framing::length : is_old ? framing::close : framing::chunked;
  if (head.how == framing::close) closes_ = true;
  head.content_length = length;
  head.content_type = type;
  head.allowed_origin = verdict_.allowed_origin;
  head.fields = fields;
  head.closes = closes_;
  head.is_http_1_0 = is_old;
  append(output_.head, head);
  head_sent_ = true;
  last_piece_ = !is_streamed;
  enter(state::sending);
}

void dialogue::answered(ticket of, rpc::delivery what) {
  if (of != ticket_ || now_ != state::working) return;
  closes_ = closes_ || draining_;
  const int status = is_oversized_ ? 413 : what.http_status;
  if (!what.content) return send_head(status, {}, false, 0, {});
  if (what.content->is_whole()) {
    auto content = what.content->take_text();
    send_head(status, "application/json", false, content.size(), {});
    output_.body = std::move(content);
    return;
  }
  stream_ = std::make_shared<outgoing>(outgoing{std::move(*what.content), {}});
  stream_status_ = status;
  head_sent_ = false;
  pull_next();
}

void dialogue::pull_next() {
  stream_->piece.clear();
  // What is in memory travels with the piece behind it, as long as it is not much.
  while (!stream_->rest.next_lane()) {
    const auto more = stream_->rest.pull(stream_->piece);
    if (!more) return fail_stream(more.error());
    if (!*more) return send_piece(true);
    if (stream_->piece.size() >= full_piece) return send_piece(false);
  }
  enter(state::pulling);
  if (const auto begun = host_.pull(stream_, ticket_); !begun) fail_stream(begun.error());
}

void dialogue::pulled(ticket of, const result<bool>& more) {
  if (of != ticket_ || now_ != state::pulling) return;
  if (!more) return fail_stream(more.error());
  // Content that ends at the edge of a piece has an empty one behind it, with which nothing would be sent or drained.
  if (*more && stream_->piece.empty()) return pull_next();
  send_piece(!*more);
}

void dialogue::send_piece(bool is_last) {
  if (!head_sent_) send_head(stream_status_, "application/json", true, 0, {});
  const bool is_chunked = !parser_.head().is_http_1_0;
  auto piece = std::move(stream_->piece);
  if (is_chunked && !piece.empty()) {
    append_chunk_size(output_.head, piece.size());
    piece += "\r\n";
  }
  if (is_last && is_chunked) piece += "0\r\n\r\n";
  output_.body = std::move(piece);
  last_piece_ = is_last;
  if (is_last) stream_.reset();
  enter(state::sending);
}

void dialogue::fail_stream(const failure& why) {
  stream_.reset();
  host_.log("an answer was cut off: " + why.public_text + (why.private_text.empty() ? "" : " (" + why.private_text + ")"));
  if (head_sent_) return cut_off();
  send_plain(refuse(why.code == errc::overloaded ? 503 : 500, why.public_text));
}

void dialogue::cut_off() {
  cut_off_ = true;
  stream_.reset();
  output_ = {};
  enter(state::ended);
}

void dialogue::progressed() {
  if (now_ == state::sending) set_deadline(with_.stall);
}

void dialogue::drained() {
  output_.head.clear();
  if (now_ != state::sending) return;  // that was a 100 Continue
  if (stream_) {
    // The next piece goes where this one was.
    output_.body.clear();
    stream_->piece.swap(output_.body);
  } else {
    output_.body = {};
  }
  if (!last_piece_) return pull_next();
  if (closes_) {
    const bool all_read = !body_pending_ && input_.empty();
    input_ = {};
    return enter(draining_ && all_read ? state::ended : state::lingering);
  }
  next_request();
}

}  // namespace hondana::transport::http
