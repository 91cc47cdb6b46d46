/// A stream of messages, for one POST or for the GET of a session, on its way to a connection.
#include "transport/http_server/message_stream.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/executor/batching.hpp"
#include "transport/http_server/response_writer.hpp"

namespace hondana::transport::http_server {
namespace {

// Limit of the notifications of one stream that wait for their reader. Bytes.
constexpr std::size_t stream_cap = 1u << 20;
// Memory of a message in addition to its text. Bytes.
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
  // A message that must wait does not keep shared memory, except files that are read while they are sent.
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
      // One answer of any size is always accepted.
      room_->take_anyway(bytes);
      held_ += bytes;
      waiting_.push_back({std::move(one), bytes});
    } else {
      // A stream that lost an answer cannot continue.
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
    (void)admit(std::move(one), 0, true);  // needs no memory
  }
  ring();
}

/// Requires the mutex. Prepares the waiting messages for a time without carrier: counts their bytes, and replaces shared memory
/// by copies. False if there is no space.
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

/// Requires the mutex. Adds a message; false if there is no space. `must`: adds it in any case, uncounted.
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
  executor::fetch(this);  // prefetch for the carrier, which calls soon
  any_ready_ = true;
  ring();
}

/// Requires the mutex. Ends the stream. The caller must unfollow the returned sources.
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

namespace {

using kind = portion::kind;

// Text of events that is taken at once. Bytes.
constexpr std::size_t enough_events = 16 * 1024;

}  // namespace

message_stream::carriage message_stream::carry(std::weak_ptr<rpc::follower> who, std::optional<event_id> seen) {
  carriage mine = 0;
  {
    const std::lock_guard lock(mutex_);
    mine = ++carriage_;
    is_carried_ = true;
    is_open_here_ = false;
    // A client that resumes after an event has an id already.
    primes_ = is_.kept && is_.may_poll && !seen;
    again_.reset();
    if (seen && is_.kept) {
      auto missed = is_.kept->after(*seen);
      if (!missed.empty()) {
        again_ = std::make_unique<std::list<replay::event>>(std::make_move_iterator(missed.begin()),
                                                            std::make_move_iterator(missed.end()));
      }
    }
    // Inside the lock: a carrier that releases the stream at the same time must not reset this one.
    const std::lock_guard ringing(bell_);
    carrier_.swap(who);
    is_armed_ = false;
  }
  if (const auto before = who.lock()) before->wake();  // it learns that it has lost the stream
  return mine;
}

void message_stream::forget_sent() {
  // The carrier takes and stores events while it holds this lock.
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
          // The header of the answer is sent with this portion.
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
      // A message that has arrived meanwhile must not be sent before the opening.
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
  // Called with the mutex, unlike in `next`, because making a notification takes less time than locking.
  auto& only = *sources_.front();
  is_armed_ = true;  // set before the call, so that no message is missed
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

/// Requires the mutex. Whether the carrier must be told now that the answer is an event stream.
bool message_stream::opens_now() const {
  if (is_.takes == form::json) return false;
  if (!is_.has_answer || is_opened_ || again_ || !sources_.empty()) return true;
  if (waiting_.empty()) return false;
  const auto& first = waiting_.front().what;
  if (first.what != kind::answer) return true;
  // An error has an HTTP status, which an event stream cannot carry.
  return is_.takes == form::events && first.content.content && first.content.http_status == 200;
}

/// Requires the mutex. The next waiting message; `even_answer`: also the answer.
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

/// Requires the mutex. Gives an event its number, and stores it if events are stored.
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

/// Requires the mutex. Gives the text of an event its number, and stores it.
std::string message_stream::keep(std::string_view message) {
  const event_id id{is_.number, ++last_number_};
  is_.kept->keep(id, message);
  return to_text(id);
}

/// Asks the sources if one is ready. Without the mutex, because they have their own.
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
      // Another connection carries the stream now and must get this message.
      waiting_.push_front({std::move(out), 0});
      return portion{};
    }
  }
  const std::lock_guard lock(mutex_);
  if (!any_ready_) std::erase_if(sources_, [](const auto& one) { return one->has_ended(); });
  return std::nullopt;
}

/// Requires the mutex.
bool message_stream::has_something() const {
  return is_over_ || !waiting_.empty() || again_ || (!is_open_here_ && opens_now()) || any_ready_;
}

}  // namespace hondana::transport::http_server
