/// One stream as its connection sees it: taking over, taking portions, letting go.
#include <algorithm>
#include <iterator>
#include <utility>

#include "transport/http_server/event_stream.hpp"
#include "transport/http_server/message_stream.hpp"

namespace hondana::transport::http_server {
namespace {

using kind = portion::kind;

// Of events, what is taken at a time.
constexpr std::size_t enough_events = 16 * 1024;

}  // namespace

message_stream::carriage message_stream::carry(std::weak_ptr<rpc::follower> who, std::optional<event_id> seen) {
  carriage mine = 0;
  {
    const std::lock_guard lock(mutex_);
    mine = ++carriage_;
    is_carried_ = true;
    is_open_here_ = false;
    // Who comes back after an event has an id to come back with.
    primes_ = is_.kept && is_.may_poll && !seen;
    again_.reset();
    if (seen && is_.kept) {
      auto missed = is_.kept->after(*seen);
      if (!missed.empty()) {
        again_ = std::make_unique<std::list<replay::event>>(std::make_move_iterator(missed.begin()),
                                                            std::make_move_iterator(missed.end()));
      }
    }
    // Within the lock: a carrier that lets go at the same time must not take this one's bell.
    const std::lock_guard ringing(bell_);
    carrier_.swap(who);
    is_armed_ = false;
  }
  if (const auto before = who.lock()) before->wake();  // which learns that it has lost the stream
  return mine;
}

void message_stream::forget_sent() {
  // Who carries takes what it sends and keeps that within this lock.
  const std::lock_guard no_carrier(carrying_);
  if (is_.kept) is_.kept->forget(is_.number);
  const std::lock_guard lock(mutex_);
  again_.reset();
}

void message_stream::let_go(carriage mine) {
  sources gone;
  bool is_dropped = false;
  {
    const std::lock_guard lock(mutex_);
    if (mine != carriage_ || !is_carried_) return;
    is_carried_ = false;
    again_.reset();
    if (!is_.kept || !is_opened_) {
      gone = finish();
    } else if (!keep_waiting()) {
      is_dropped = true;
      gone = finish();
    }
    const std::lock_guard ringing(bell_);
    carrier_.reset();
  }
  for (const auto& one : gone) one->follow({});
  if (is_dropped) tell_dropped();
}

std::optional<portion> message_stream::next(carriage mine) {
  const std::lock_guard one_carrier(carrying_);
  for (;;) {
    bool opens_first = false;
    std::optional<portion> found;
    {
      const std::lock_guard lock(mutex_);
      if (mine != carriage_) return portion{};
      if (!is_open_here_ && opens_now()) {
        opens_first = !is_opened_;
        is_opened_ = is_open_here_ = true;
        found.emplace();
        found->what = kind::opening;
        if (primes_) found->id = to_text({is_.number, ++last_number_});
        if (!waiting_.empty()) {
          // The head of the answer goes out with this.
          found->content.opens_session = waiting_.front().what.content.opens_session;
          found->content.may_poll = waiting_.front().what.content.may_poll;
        }
      } else {
        found = take(false);
      }
    }
    if (opens_first && is_.when_opened) is_.when_opened(shared_from_this());
    if (found) return found;
    if (auto pulled = pull(mine)) return pulled;
    {
      const std::lock_guard lock(mutex_);
      if (mine != carriage_) return portion{};
      // A message that has come in the meantime must not go out before the opening.
      if (is_open_here_ || !opens_now()) {
        if (auto last = take(true)) return last;
      }
    }
    is_armed_ = true;
    const std::lock_guard lock(mutex_);
    if (mine == carriage_ && !has_something()) return std::nullopt;
  }
}

message_stream::rest message_stream::next_events(carriage mine, std::string& to) {
  const std::lock_guard one_carrier(carrying_);
  const std::lock_guard lock(mutex_);
  if (mine != carriage_ || !is_open_here_ || sources_.size() != 1 || is_over_ || !waiting_.empty() || again_) {
    return rest::some;
  }
  // Asked under the lock, unlike in `next`: making a notification takes less than locking does.
  auto& only = *sources_.front();
  is_armed_ = true;  // before it is asked, so that what comes meanwhile is not missed
  if (!any_ready_.exchange(false)) return rest::none;
  bool has_more = true;
  while (to.size() < enough_events) {
    const auto message = only.next_of(has_more);
    if (!message) break;
    append_event(to, {is_.event, is_.kept ? keep(*message) : std::string()}, *message);
    if (!has_more) break;
  }
  if (has_more) any_ready_ = true;
  return has_more || only.has_ended() ? rest::some : rest::none;
}

/// Under the lock: whether its carrier must now be told that the answer is an event stream.
bool message_stream::opens_now() const {
  if (is_.takes == form::json) return false;
  if (!is_.has_answer || is_opened_ || again_ || !sources_.empty()) return true;
  if (waiting_.empty()) return false;
  const auto& first = waiting_.front().what;
  if (first.what != kind::answer) return true;
  // An error has a status of its own, which a stream cannot carry.
  return is_.takes == form::events && first.content.content && first.content.http_status == 200;
}

/// Under the lock.
std::optional<portion> message_stream::take(bool even_answer) {
  if (again_) {
    portion out;
    out.what = kind::message;
    out.id = to_text(again_->front().id);
    out.event = is_.event;
    out.content.content = rpc::body(*again_->front().message);
    again_->pop_front();
    if (again_->empty()) again_.reset();
    return out;
  }
  if (waiting_.empty()) return is_over_ ? std::optional<portion>(portion{}) : std::nullopt;
  auto& first = waiting_.front();
  if (first.what.what == kind::answer && !even_answer) return std::nullopt;
  held_ -= first.bytes;
  room_->give_back(first.bytes);
  auto out = std::move(first.what);
  waiting_.pop_front();
  if (waiting_.empty()) noted_ = 0;
  if (out.what == kind::answer) {
    is_over_ = true;
    if (!is_open_here_) return out;
  }
  return hand_out(std::move(out));
}

/// Under the lock: gives an event its number, and keeps it where events are kept.
portion message_stream::hand_out(portion what) {
  if (!is_.kept || what.what == kind::retry || !what.content.content) return what;
  if (what.content.content->is_whole()) {
    auto receipts = what.content.content->sent_for();
    auto text = what.content.content->take_text();
    what.id = keep(text);
    what.content.content = rpc::body(std::move(text));
    what.content.content->stand_for(std::move(receipts));
  } else {
    what.id = to_text({is_.number, ++last_number_});
  }
  return what;
}

/// Under the lock: gives the text of an event its number, and keeps it.
std::string message_stream::keep(std::string_view message) {
  const event_id id{is_.number, ++last_number_};
  is_.kept->keep(id, message);
  return to_text(id);
}

/// Asks the sources when one is ready, without the lock: they have locks of their own.
std::optional<portion> message_stream::pull(carriage mine) {
  if (any_ready_.exchange(false)) {
    sources all;
    {
      const std::lock_guard lock(mutex_);
      all = sources_;
    }
    for (const auto& one : all) {
      auto message = one->next();
      if (!message) continue;
      any_ready_ = true;
      portion out;
      out.what = kind::message;
      out.content.content = rpc::body(std::move(*message));
      out.event = is_.event;
      const std::lock_guard lock(mutex_);
      if (mine == carriage_) return hand_out(std::move(out));
      // Somebody else carries now, and is to have it.
      waiting_.push_front({std::move(out), 0});
      return portion{};
    }
  }
  const std::lock_guard lock(mutex_);
  if (!any_ready_) std::erase_if(sources_, [](const auto& one) { return one->has_ended(); });
  return std::nullopt;
}

/// Under the lock.
bool message_stream::has_something() const {
  return is_over_ || !waiting_.empty() || again_ || (!is_open_here_ && opens_now()) || any_ready_;
}

}  // namespace hondana::transport::http_server
