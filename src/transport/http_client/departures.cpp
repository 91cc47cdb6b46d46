/// The order in which messages go to the server.
#include "transport/http_client/departures.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace hondana::transport::http_client {
namespace {

constexpr std::size_t max_requests = 32;

}  // namespace

departures::departures(loop& within, conversation& in, std::function<void(name, channel::outgoing)> go)
    : loop_(within), in_(in), go_(std::move(go)) {}

departures::~departures() {
  if (patience_) loop_.cancel(*patience_);
  if (soon_) loop_.cancel(*soon_);
}

void departures::add(channel::outgoing message) {
  const bool must_wait = message.call != 0 && (!waiting_.empty() || notice_ || busy_.size() >= max_requests);
  if (must_wait && !(message.is_subscription && waiting_.empty() && !notice_)) {
    waiting_.push_back(std::move(message));
  } else {
    let_go(std::move(message));
  }
}

void departures::let_go(channel::outgoing message) {
  const name as = message.call != 0 ? message.call : first_other + ++others_;
  if (message.is_opening) state_ = notice_state::opening;
  if (message.call != 0 && !message.is_subscription) busy_.insert(as);
  if (message.call == 0 && state_ == notice_state::opening && !notice_) {
    notice_ = as;
    patience_ = loop_.after(longest_notice, [this] {
      patience_.reset();
      notice_.reset();
      let_waiting_go();
    });
  }
  go_(as, std::move(message));
}

void departures::answered(name of) {
  if (busy_.erase(of) > 0 && !waiting_.empty()) soon();
}

bool departures::over(name of) {
  const bool was_notice = notice_ == of;
  if (was_notice) {
    notice_.reset();
    if (patience_) loop_.cancel(*std::exchange(patience_, std::nullopt));
    state_ = notice_state::taken;
  }
  busy_.erase(of);
  if (!waiting_.empty()) soon();
  return was_notice;
}

void departures::soon() {
  if (soon_) return;
  soon_ = loop_.after(std::chrono::milliseconds(0), [this] {
    soon_.reset();
    let_waiting_go();
  });
}

void departures::let_waiting_go() {
  while (!waiting_.empty() && !notice_ && busy_.size() < max_requests) {
    auto next = std::move(waiting_.front());
    waiting_.pop_front();
    let_go(std::move(next));
  }
}

void departures::drop(channel::call_id call) {
  const auto found = std::find_if(waiting_.begin(), waiting_.end(), [&](const auto& one) { return one.call == call; });
  if (found == waiting_.end()) return;
  in_.queued_bytes -= found->text.size();
  waiting_.erase(found);
}

void departures::clear() {
  for (const auto& one : waiting_) in_.queued_bytes -= one.text.size();
  waiting_.clear();
  busy_.clear();
}

}  // namespace hondana::transport::http_client
