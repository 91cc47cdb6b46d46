/// How a POST of HTTP+SSE goes.
#include "transport/http_client/delivery.hpp"

#include <optional>

namespace hondana::transport::http_client {

delivery::delivery(loop& within, conversation& in, std::string url, channel::outgoing message, hook over)
    : in_(in),
      url_(std::move(url)),
      message_(std::move(message)),
      over_(std::move(over)),
      queued_(message_.text.size()),
      transfer_(within, in.target, in.tokens, *this) {}

delivery::~delivery() { release_queue(); }

void delivery::begin() {
  http_request what;
  what.what = verb::post;
  what.url = url_;
  what.header_lines = in_.session_lines();
  what.header_lines.emplace_back("Content-Type: application/json");
  what.body = std::move(message_.text);
  transfer_.begin(std::move(what));
}

bool delivery::answered(const response_head& head) {
  head_ = head;
  release_queue();
  // A stream here would stay open for nobody.
  return head.media_type() != "text/event-stream";
}

bool delivery::body(std::string_view bytes) {
  body_ += bytes.substr(0, max_error_body_bytes - body_.size());
  return body_.size() < max_error_body_bytes;
}

void delivery::finished(result<void> how) {
  std::optional<channel::ending> failed;
  if (head_.status != 0 && !head_.is_success()) {
    failed = ending_for(head_, std::move(body_), url_, false);
  } else if (!how && head_.status == 0) {
    failed.emplace();
    failed->why = std::move(how.error());
  }
  const auto over = std::move(over_);
  over(std::move(failed));
}

}  // namespace hondana::transport::http_client
