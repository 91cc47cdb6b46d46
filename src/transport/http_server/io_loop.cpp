/// The state of one I/O thread: its event loop, its connections, and what these share.
#include "transport/http_server/io_loop.hpp"

#include <algorithm>
#include <utility>

#include "base/executor/batching.hpp"
#include "transport/http_server/connection.hpp"
#include "transport/tls/tls_session.hpp"

namespace hondana::transport::http_server {
namespace {

// Connections per round; about 0.3 ms.
constexpr std::size_t connections_per_round = 64;

}  // namespace

std::span<char> io_loop::read_buffer() {
  if (scratch_.size() - scratch_used_ < tls::session::max_record_bytes) process_arrivals();
  return std::span(scratch_).subspan(scratch_used_);
}

void io_loop::add_arrival(std::shared_ptr<connection> receiver, std::size_t bytes) {
  arrivals_.push_back({std::move(receiver), {scratch_.data() + scratch_used_, bytes}});
  scratch_used_ += bytes;
}

void io_loop::process_arrivals() {
  const executor::message_batch batch;
  while (next_arrival_ < arrivals_.size()) {
    const auto arrived = std::move(arrivals_[next_arrival_++]);
    arrived.receiver->process(arrived.bytes);
  }
  arrivals_.clear();
  next_arrival_ = 0;
  scratch_used_ = 0;
}

void io_loop::schedule(std::weak_ptr<connection> connection) {
  {
    const std::lock_guard lock(schedule_mutex_);
    scheduled_.push_back(std::move(connection));
    if (std::exchange(is_posted_, true)) return;
  }
  io.post([this] { process_scheduled(); });
}

void io_loop::run_in_steps(std::function<bool()> step) {
  io.post([this, step = std::make_shared<std::function<bool()>>(std::move(step))] { run_step(step); });
}

void io_loop::run_step(const std::shared_ptr<std::function<bool()>>& step) {
  const auto repost = [this, &step] { io.post([this, step = step] { run_step(step); }); };
  bool has_more = false;
  try {
    has_more = (*step)();
  } catch (...) {
    repost();  // continue with the next step
    throw;     // the loop logs it
  }
  if (has_more) repost();
}

void io_loop::process_scheduled() {
  if (processed_ == processing_.size()) {
    processed_ = 0;
    // Free the memory that very many connections have used.
    std::vector<std::weak_ptr<connection>>().swap(processing_);
    const std::lock_guard lock(schedule_mutex_);
    if (scheduled_.empty()) {
      is_posted_ = false;
      return;
    }
    processing_.swap(scheduled_);
  }
  const auto end = std::min(processing_.size(), processed_ + connections_per_round);
  while (processed_ < end) {
    // Locked only on the loop's own thread, because the last owner of a connection destroys it.
    if (const auto target = processing_[processed_++].lock()) target->flush();
  }
  io.post([this] { process_scheduled(); });
}

}  // namespace hondana::transport::http_server
