/// One stream as those see it who fill it.
#include "transport/http_server/message_stream.hpp"

#include <utility>

#include "base/executor/fetch.hpp"

namespace hondana::transport::http_server {
namespace {

// What notifications of one stream may take while they wait for their reader.
constexpr std::size_t stream_cap = 1u << 20;
// What a message costs besides its text.
constexpr std::size_t overhead = 128;

using kind = portion::kind;

}  // namespace

message_stream::message_stream(traits is, std::shared_ptr<byte_budget> room) : is_(std::move(is)), room_(std::move(room)) {}

message_stream::~message_stream() { forget_waiting(); }

void message_stream::answer(rpc::delivery what) {
  portion last;
  last.what = kind::answer;
  last.content = std::move(what);
  bool is_dropped = false;
  {
    const std::lock_guard lock(mutex_);
    if (is_over_) return;
    const bool is_lost = !is_carried_ && !is_opened_;
    waiting_.push_back({std::move(last), 0});
    if (is_lost || (!is_carried_ && !keep_waiting())) {
      is_dropped = !is_lost;
      is_over_ = true;
      forget_waiting();
    }
  }
  if (is_dropped) tell_dropped();
  ring();
}

rpc::sending message_stream::send(std::string message) {
  if (is_.takes == form::json) return rpc::sending::no_way;
  portion one;
  one.what = kind::message;
  const auto bytes = message.size() + overhead;
  one.content.content = rpc::body(std::move(message));
  one.event = is_.event;
  bool is_dropped = false;
  {
    const std::lock_guard lock(mutex_);
    if (is_over_ || (!is_carried_ && !is_opened_)) return rpc::sending::gone;
    is_dropped = noted_ + bytes > stream_cap || !admit(std::move(one), bytes, false);
    if (!is_dropped) noted_ += bytes;
  }
  if (is_dropped) {
    tell_dropped();
    return rpc::sending::no_room;
  }
  ring();
  return rpc::sending::taken;
}

void message_stream::put(rpc::body message) {
  portion one;
  one.what = kind::message;
  one.event = is_.event;
  // Behind others it keeps nothing that was lent, but for files that are read while they are sent.
  if (bytes_waiting() != 0) (void)message.settle();
  const auto bytes = message.bytes_held() + overhead;
  one.content.content = std::move(message);
  bool is_dropped = false;
  sources gone;
  {
    const std::lock_guard lock(mutex_);
    if (is_over_) return;
    if (room_->take(bytes)) {
      held_ += bytes;
      waiting_.push_back({std::move(one), bytes});
    } else if (waiting_.empty()) {
      // However long it is, one answer goes out.
      room_->take_anyway(bytes);
      held_ += bytes;
      waiting_.push_back({std::move(one), bytes});
    } else {
      // A stream that lacks an answer is of no use any more.
      is_dropped = true;
      gone = finish();
    }
  }
  for (const auto& from : gone) from->follow({});
  if (is_dropped) tell_dropped();
  ring();
}

void message_stream::greet(std::string event, std::string data) {
  portion one;
  one.what = kind::message;
  one.content.content = rpc::body(std::move(data));
  one.event = std::move(event);
  const std::lock_guard lock(mutex_);
  waiting_.push_front({std::move(one), 0});
}

void message_stream::release(std::chrono::milliseconds retry) {
  if (!is_.may_poll || !is_.kept || is_.takes == form::json) return;
  portion one;
  one.what = kind::retry;
  one.after = retry;
  {
    const std::lock_guard lock(mutex_);
    if (is_over_ || !is_carried_) return;
    (void)admit(std::move(one), 0, true);  // it takes no room
  }
  ring();
}

/// Under the lock: nobody takes what waits for now, so it is to be kept, counted, and hold nothing that others lent. False when
/// that cannot be.
bool message_stream::keep_waiting() {
  for (auto& one : waiting_) {
    auto& content = one.what.content.content;
    if (one.bytes != 0 || !content) continue;
    if (held_ + content->bytes_once_settled() > stream_cap || !content->settle()) return false;
    const auto bytes = content->bytes_held() + overhead;
    if (held_ + bytes > stream_cap || !room_->take(bytes)) return false;
    held_ += bytes;
    one.bytes = bytes;
  }
  return true;
}

/// Under the lock. False when there is no room for what is not a must.
bool message_stream::admit(portion what, std::size_t bytes, bool must) {
  if (!must && !room_->take(bytes)) return false;
  if (must) bytes = 0;
  held_ += bytes;
  waiting_.push_back({std::move(what), bytes});
  return true;
}

void message_stream::follow(std::shared_ptr<rpc::message_source> from) {
  if (is_.takes == form::json) return;
  {
    const std::lock_guard lock(mutex_);
    if (is_over_) return;
    sources_.push_back(from);
  }
  from->follow(weak_from_this());
  ring();
}

void message_stream::wake() {
  executor::fetch(this);  // for its carrier, which will ask soon
  any_ready_ = true;
  ring();
}

/// Under the lock. Everything ends here; the caller tells the sources.
message_stream::sources message_stream::finish() {
  is_over_ = true;
  forget_waiting();
  again_.reset();
  return std::exchange(sources_, {});
}

void message_stream::end() {
  sources gone;
  {
    const std::lock_guard lock(mutex_);
    gone = finish();
  }
  for (const auto& one : gone) one->follow({});
  ring();
}

void message_stream::forget_waiting() {
  waiting_.clear();
  noted_ = 0;
  room_->give_back(std::exchange(held_, 0));
}

void message_stream::tell_dropped() {
  if (!has_dropped_.exchange(true) && is_.when_dropped) is_.when_dropped();
}

void message_stream::ring() {
  std::shared_ptr<rpc::follower> carrier;
  {
    if (!is_armed_.exchange(false)) return;
    const std::lock_guard lock(bell_);
    carrier = carrier_.lock();
  }
  if (carrier) carrier->wake();
}

bool message_stream::is_carried() const {
  const std::lock_guard lock(mutex_);
  return is_carried_;
}

bool message_stream::is_lasting() const {
  const std::lock_guard lock(mutex_);
  return !is_.has_answer || !sources_.empty();
}

bool message_stream::is_finished() const {
  const std::lock_guard lock(mutex_);
  return !is_carried_ && (is_over_ || (!waiting_.empty() && waiting_.back().what.what == kind::answer));
}

std::size_t message_stream::bytes_waiting() const {
  const std::lock_guard lock(mutex_);
  std::size_t total = 0;
  for (const auto& one : waiting_) {
    if (one.what.content.content) total += one.what.content.content->bytes_held();
  }
  return total;
}

}  // namespace hondana::transport::http_server
