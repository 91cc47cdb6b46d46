/// A received message on its way through a session, and the collection of its answers into one response.
#include "server/session/response_collector.hpp"

#include <utility>

namespace hondana::session {

rpc::outgoing_response empty_response() { return {202, {}}; }

response_collector::response_collector(std::shared_ptr<rpc::response_writer> writer, std::size_t slots, bool is_batch,
                                       int http_status, std::shared_ptr<std::atomic<std::size_t>> total_bytes)
    : writer_(std::move(writer)),
      is_batch_(is_batch),
      http_status_(http_status),
      slots_(slots),
      waiting_(slots),
      total_bytes_(std::move(total_bytes)) {}

response_collector::~response_collector() {
  if (total_bytes_) *total_bytes_ -= bytes_;
}

bool response_collector::admit(rpc::outgoing_response& response) {
  if (!is_batch_ || !response.content) return true;
  {
    const std::lock_guard lock(mutex_);
    if (bytes_ + response.content->min_encoded_bytes() > max_bytes) return false;
  }
  (void)response.content->encode_content();  // a file that is streamed stays open, and counts as one piece
  const auto bytes = response.content->buffered_bytes();
  const std::lock_guard lock(mutex_);
  if (bytes_ + bytes > max_bytes) return false;
  const auto total = total_bytes_ ? total_bytes_->fetch_add(bytes) + bytes : bytes;
  if (total > max_total_bytes) {
    if (total_bytes_) *total_bytes_ -= bytes;
    return false;
  }
  bytes_ += bytes;
  return true;
}

void response_collector::fill(std::size_t slot, rpc::outgoing_response response) {
  {
    const std::lock_guard lock(mutex_);
    if (slots_[slot]) return;
    slots_[slot] = std::move(response);
    if (--waiting_ != 0) return;
  }
  writer_->answer(join());
}

rpc::outgoing_response response_collector::join() {
  if (!is_batch_) return std::move(*slots_.front());
  rpc::body batch;
  bool is_empty = true;
  for (auto& slot : slots_) {
    if (!slot->content) continue;
    batch.text() += is_empty ? '[' : ',';
    is_empty = false;
    batch.append(std::move(*slot->content));
  }
  if (is_empty) return empty_response();
  batch.text() += ']';
  return {http_status_, std::move(batch)};
}

}  // namespace hondana::session
