/// The state of one I/O thread: its event loop, its connections, and what they share.
#include "transport/http_server/io_loop.hpp"

#include <algorithm>
#include <utility>

#include "base/executor/batching.hpp"
#include "transport/http_server/connection.hpp"
#include "transport/tls/tls_session.hpp"

namespace hondana::transport::http_server {
namespace {

// Connections for each turn; about 0.3 ms.
constexpr std::size_t slice = 64;

}  // namespace

std::span<char> loop::room() {
  if (scratch_.size() - scratch_used_ < tls::session::most_in_record) answer_arrivals();
  return std::span(scratch_).subspan(scratch_used_);
}

void loop::arrived(std::shared_ptr<connection> at, std::size_t bytes) {
  arrivals_.push_back({std::move(at), {scratch_.data() + scratch_used_, bytes}});
  scratch_used_ += bytes;
}

void loop::answer_arrivals() {
  const executor::round all;
  while (next_arrival_ < arrivals_.size()) {
    const auto one = std::move(arrivals_[next_arrival_++]);
    one.at->take(one.bytes);
  }
  arrivals_.clear();
  next_arrival_ = 0;
  scratch_used_ = 0;
}

void loop::ring(std::weak_ptr<connection> who) {
  {
    const std::lock_guard lock(ringing_);
    rung_.push_back(std::move(who));
    if (std::exchange(is_told_, true)) return;
  }
  io.post([this] { answer_rings(); });
}

void loop::take_turns(std::function<bool()> step) {
  io.post([this, step = std::make_shared<std::function<bool()>>(std::move(step))] { take_turn(step); });
}

void loop::take_turn(const std::shared_ptr<std::function<bool()>>& step) {
  const auto again = [this, &step] { io.post([this, step = step] { take_turn(step); }); };
  bool has_more = false;
  try {
    has_more = (*step)();
  } catch (...) {
    again();  // continue with the next step
    throw;    // the loop logs it
  }
  if (has_more) again();
}

void loop::answer_rings() {
  if (answered_ == answering_.size()) {
    answered_ = 0;
    // Free the memory that very many connections have used.
    std::vector<std::weak_ptr<connection>>().swap(answering_);
    const std::lock_guard lock(ringing_);
    if (rung_.empty()) {
      is_told_ = false;
      return;
    }
    answering_.swap(rung_);
  }
  const auto until = std::min(answering_.size(), answered_ + slice);
  while (answered_ < until) {
    // Locked only on the loop's own thread, because the last owner of a connection destroys it.
    if (const auto there = answering_[answered_++].lock()) there->look();
  }
  io.post([this] { answer_rings(); });
}

}  // namespace hondana::transport::http_server
