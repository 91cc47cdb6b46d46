/// A received message on its way through a session, and the collection of its answers into one delivery.
#include "server/session/exchange.hpp"

#include <utility>

namespace hondana::session {

rpc::delivery nothing_to_say() { return {202, {}}; }

exchange::exchange(std::shared_ptr<rpc::outlet> out, std::size_t slots, bool is_batch, int http_status,
                   std::shared_ptr<std::atomic<std::size_t>> of_all)
    : out_(std::move(out)),
      is_batch_(is_batch),
      http_status_(http_status),
      slots_(slots),
      waiting_(slots),
      of_all_(std::move(of_all)) {}

exchange::~exchange() {
  if (of_all_) *of_all_ -= bytes_;
}

bool exchange::admit(rpc::delivery& what) {
  if (!is_batch_ || !what.content) return true;
  {
    const std::lock_guard lock(mutex_);
    if (bytes_ + what.content->bytes_once_settled() > most_bytes) return false;
  }
  (void)what.content->settle();  // a file that is streamed stays open, and counts as one piece
  const auto bytes = what.content->bytes_held();
  const std::lock_guard lock(mutex_);
  if (bytes_ + bytes > most_bytes) return false;
  const auto of_all = of_all_ ? of_all_->fetch_add(bytes) + bytes : bytes;
  if (of_all > most_bytes_of_all) {
    if (of_all_) *of_all_ -= bytes;
    return false;
  }
  bytes_ += bytes;
  return true;
}

void exchange::fill(std::size_t slot, rpc::delivery what) {
  {
    const std::lock_guard lock(mutex_);
    if (slots_[slot]) return;
    slots_[slot] = std::move(what);
    if (--waiting_ != 0) return;
  }
  out_->answer(join());
}

rpc::delivery exchange::join() {
  if (!is_batch_) return std::move(*slots_.front());
  rpc::body all;
  bool is_empty = true;
  for (auto& slot : slots_) {
    if (!slot->content) continue;
    all.text() += is_empty ? '[' : ',';
    is_empty = false;
    all.append(std::move(*slot->content));
  }
  if (is_empty) return nothing_to_say();
  all.text() += ']';
  return {http_status_, std::move(all)};
}

}  // namespace hondana::session
