/// A stream of messages that answers one POST, or the GET of a session. A connection takes and sends the messages.
#include "transport/http_server/message_stream.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/executor/batching.hpp"
#include "transport/http_server/response_writer.hpp"

namespace hondana::transport::http_server {
namespace {

// Limit of the notifications of one stream that wait for their reader. Bytes.
constexpr std::size_t max_notification_bytes = 1u << 20;
// Memory of a message in addition to its text. Bytes.
constexpr std::size_t message_overhead_bytes = 128;

using kind = portion::kind;

}  // namespace

message_stream::message_stream(traits stream_traits, std::shared_ptr<byte_budget> budget)
    : traits_(std::move(stream_traits)), budget_(std::move(budget)) {}

message_stream::~message_stream() { clear_waiting(); }

void message_stream::answer(rpc::outgoing_response response) {
  portion part;
  part.type = kind::answer;
  part.content = std::move(response);
  bool is_dropped = false;
  {
    const std::lock_guard lock(mutex_);
    if (is_closed_) return;
    const bool is_lost = !is_attached_ && !is_opened_;
    waiting_.push_back({std::move(part), 0});
    if (is_lost || (!is_attached_ && !retain_waiting())) {
      is_dropped = !is_lost;
      is_closed_ = true;
      clear_waiting();
    }
  }
  if (is_dropped) report_dropped();
  notify_carrier();
}

rpc::send_outcome message_stream::send(std::string message) {
  if (traits_.format == response_format::json) return rpc::send_outcome::unsupported;
  portion part;
  part.type = kind::message;
  const auto bytes = message.size() + message_overhead_bytes;
  part.content.content = rpc::body(std::move(message));
  part.event = traits_.event_name;
  bool is_dropped = false;
  {
    const std::lock_guard lock(mutex_);
    if (is_closed_ || (!is_attached_ && !is_opened_)) return rpc::send_outcome::disconnected;
    is_dropped = notification_bytes_ + bytes > max_notification_bytes || !enqueue(std::move(part), bytes, false);
    if (!is_dropped) notification_bytes_ += bytes;
  }
  if (is_dropped) {
    report_dropped();
    return rpc::send_outcome::no_capacity;
  }
  notify_carrier();
  return rpc::send_outcome::accepted;
}

void message_stream::add_answer(rpc::body message) {
  portion part;
  part.type = kind::message;
  part.event = traits_.event_name;
  // A message that must wait does not keep shared memory, except files that are read while they are sent.
  if (waiting_bytes() != 0) (void)message.encode_content();
  const auto bytes = message.buffered_bytes() + message_overhead_bytes;
  part.content.content = std::move(message);
  bool is_dropped = false;
  sources removed;
  {
    const std::lock_guard lock(mutex_);
    if (is_closed_) return;
    if (budget_->reserve(bytes)) {
      reserved_bytes_ += bytes;
      waiting_.push_back({std::move(part), bytes});
    } else if (waiting_.empty()) {
      // One answer of any size is always accepted.
      budget_->force_reserve(bytes);
      reserved_bytes_ += bytes;
      waiting_.push_back({std::move(part), bytes});
    } else {
      // A stream that lost an answer cannot continue.
      is_dropped = true;
      removed = finish();
    }
  }
  for (const auto& source : removed) source->set_listener({});
  if (is_dropped) report_dropped();
  notify_carrier();
}

void message_stream::prepend_event(std::string event, std::string data) {
  portion part;
  part.type = kind::message;
  part.content.content = rpc::body(std::move(data));
  part.event = std::move(event);
  const std::lock_guard lock(mutex_);
  waiting_.push_front({std::move(part), 0});
}

void message_stream::release(std::chrono::milliseconds retry) {
  if (!traits_.supports_polling || !traits_.replay || traits_.format == response_format::json) return;
  portion part;
  part.type = kind::retry;
  part.delay = retry;
  {
    const std::lock_guard lock(mutex_);
    if (is_closed_ || !is_attached_) return;
    (void)enqueue(std::move(part), 0, true);  // needs no memory
  }
  notify_carrier();
}

/// Requires the mutex. Prepares the waiting messages for a time without carrier: counts their bytes, and replaces shared memory
/// by copies. False if there is no space.
bool message_stream::retain_waiting() {
  for (auto& entry : waiting_) {
    auto& content = entry.part.content.content;
    if (entry.bytes != 0 || !content) continue;
    if (reserved_bytes_ + content->min_encoded_bytes() > max_notification_bytes || !content->encode_content()) return false;
    const auto bytes = content->buffered_bytes() + message_overhead_bytes;
    if (reserved_bytes_ + bytes > max_notification_bytes || !budget_->reserve(bytes)) return false;
    reserved_bytes_ += bytes;
    entry.bytes = bytes;
  }
  return true;
}

/// Requires the mutex. Adds a message; false if there is no space. `is_forced`: adds it in any case, uncounted.
bool message_stream::enqueue(portion part, std::size_t bytes, bool is_forced) {
  if (!is_forced && !budget_->reserve(bytes)) return false;
  if (is_forced) bytes = 0;
  reserved_bytes_ += bytes;
  waiting_.push_back({std::move(part), bytes});
  return true;
}

void message_stream::stream(std::shared_ptr<rpc::message_source> source) {
  if (traits_.format == response_format::json) return;
  {
    const std::lock_guard lock(mutex_);
    if (is_closed_) return;
    sources_.push_back(source);
  }
  source->set_listener(weak_from_this());
  notify_carrier();
}

void message_stream::notify() {
  executor::prefetch(this);  // prefetch for the carrier, which calls soon
  has_ready_source_ = true;
  notify_carrier();
}

/// Requires the mutex. Ends the stream. The caller must remove this listener from the returned sources.
message_stream::sources message_stream::finish() {
  is_closed_ = true;
  clear_waiting();
  replayed_.reset();
  return std::exchange(sources_, {});
}

void message_stream::end() {
  sources removed;
  {
    const std::lock_guard lock(mutex_);
    removed = finish();
  }
  for (const auto& source : removed) source->set_listener({});
  notify_carrier();
}

void message_stream::clear_waiting() {
  waiting_.clear();
  notification_bytes_ = 0;
  budget_->release(std::exchange(reserved_bytes_, 0));
}

void message_stream::report_dropped() {
  if (!has_dropped_.exchange(true) && traits_.on_dropped) traits_.on_dropped();
}

void message_stream::notify_carrier() {
  std::shared_ptr<rpc::source_listener> carrier;
  {
    if (!is_armed_.exchange(false)) return;
    const std::lock_guard lock(notify_mutex_);
    carrier = carrier_.lock();
  }
  if (carrier) carrier->notify();
}

bool message_stream::is_attached() const {
  const std::lock_guard lock(mutex_);
  return is_attached_;
}

bool message_stream::is_long_lived() const {
  const std::lock_guard lock(mutex_);
  return !traits_.has_answer || !sources_.empty();
}

bool message_stream::is_finished() const {
  const std::lock_guard lock(mutex_);
  return !is_attached_ && (is_closed_ || (!waiting_.empty() && waiting_.back().part.type == kind::answer));
}

std::size_t message_stream::waiting_bytes() const {
  const std::lock_guard lock(mutex_);
  std::size_t total = 0;
  for (const auto& entry : waiting_) {
    if (entry.part.content.content) total += entry.part.content.content->buffered_bytes();
  }
  return total;
}

namespace {

using kind = portion::kind;

// Text of events that is taken at once. Bytes.
constexpr std::size_t max_event_batch_bytes = 16 * 1024;

}  // namespace

message_stream::attachment_id message_stream::attach(std::weak_ptr<rpc::source_listener> follower,
                                                     std::optional<event_id> last_seen) {
  attachment_id attachment = 0;
  {
    const std::lock_guard lock(mutex_);
    attachment = ++attachment_;
    is_attached_ = true;
    is_open_for_carrier_ = false;
    // A client that resumes after an event has an id already.
    needs_priming_ = traits_.replay && traits_.supports_polling && !last_seen;
    replayed_.reset();
    if (last_seen && traits_.replay) {
      auto missed = traits_.replay->events_after(*last_seen);
      if (!missed.empty()) {
        replayed_ = std::make_unique<std::list<replay_buffer::event>>(std::make_move_iterator(missed.begin()),
                                                                      std::make_move_iterator(missed.end()));
      }
    }
    // Inside the lock: a carrier that releases the stream at the same time must not reset this one.
    const std::lock_guard notify_lock(notify_mutex_);
    carrier_.swap(follower);
    is_armed_ = false;
  }
  if (const auto previous = follower.lock()) previous->notify();  // it learns that it has lost the stream
  return attachment;
}

void message_stream::discard_sent() {
  // The carrier takes and stores events while it holds this lock.
  const std::lock_guard carrier_lock(carrier_mutex_);
  if (traits_.replay) traits_.replay->discard(traits_.number);
  const std::lock_guard lock(mutex_);
  replayed_.reset();
}

void message_stream::detach(attachment_id attachment) {
  sources removed;
  bool is_dropped = false;
  {
    const std::lock_guard lock(mutex_);
    if (attachment != attachment_ || !is_attached_) return;
    is_attached_ = false;
    replayed_.reset();
    if (!traits_.replay || !is_opened_) {
      removed = finish();
    } else if (!retain_waiting()) {
      is_dropped = true;
      removed = finish();
    }
    const std::lock_guard notify_lock(notify_mutex_);
    carrier_.reset();
  }
  for (const auto& source : removed) source->set_listener({});
  if (is_dropped) report_dropped();
}

std::optional<portion> message_stream::next(attachment_id attachment) {
  const std::lock_guard carrier_lock(carrier_mutex_);
  for (;;) {
    bool opens_first = false;
    std::optional<portion> part;
    {
      const std::lock_guard lock(mutex_);
      if (attachment != attachment_) return portion{};
      if (!is_open_for_carrier_ && must_open()) {
        opens_first = !is_opened_;
        is_opened_ = is_open_for_carrier_ = true;
        part.emplace();
        part->type = kind::opening;
        if (needs_priming_) part->id = to_string({traits_.number, ++last_number_});
        if (!waiting_.empty()) {
          // The header of the answer is sent with this portion.
          part->content.opens_session = waiting_.front().part.content.opens_session;
          part->content.supports_polling = waiting_.front().part.content.supports_polling;
        }
      } else {
        part = pop(false);
      }
    }
    if (opens_first && traits_.on_opened) traits_.on_opened(shared_from_this());
    if (part) return part;
    if (auto pulled = pull(attachment)) return pulled;
    {
      const std::lock_guard lock(mutex_);
      if (attachment != attachment_) return portion{};
      // A message that has arrived meanwhile must not be sent before the opening.
      if (is_open_for_carrier_ || !must_open()) {
        if (auto last = pop(true)) return last;
      }
    }
    is_armed_ = true;
    const std::lock_guard lock(mutex_);
    if (attachment == attachment_ && !has_pending()) return std::nullopt;
  }
}

message_stream::remainder message_stream::next_events(attachment_id attachment, std::string& output) {
  const std::lock_guard carrier_lock(carrier_mutex_);
  const std::lock_guard lock(mutex_);
  if (attachment != attachment_ || !is_open_for_carrier_ || sources_.size() != 1 || is_closed_ || !waiting_.empty() ||
      replayed_) {
    return remainder::some;
  }
  // Called with the mutex, unlike in `next`, because making a notification takes less time than locking.
  auto& source = *sources_.front();
  is_armed_ = true;  // set before the call, so that no message is missed
  if (!has_ready_source_.exchange(false)) return remainder::none;
  bool has_more = true;
  while (output.size() < max_event_batch_bytes) {
    const auto message = source.take_next(has_more);
    if (!message) break;
    append_event(output, {traits_.event_name, traits_.replay ? store_event(*message) : std::string()}, *message);
    if (!has_more) break;
  }
  if (has_more) has_ready_source_ = true;
  return has_more || source.is_finished() ? remainder::some : remainder::none;
}

/// Requires the mutex. Whether the carrier must now begin the answer as an event stream.
bool message_stream::must_open() const {
  if (traits_.format == response_format::json) return false;
  if (!traits_.has_answer || is_opened_ || replayed_ || !sources_.empty()) return true;
  if (waiting_.empty()) return false;
  const auto& first = waiting_.front().part;
  if (first.type != kind::answer) return true;
  // An error has an HTTP status, which an event stream cannot carry.
  return traits_.format == response_format::events && first.content.content && first.content.http_status == 200;
}

/// Requires the mutex. The next waiting message; `includes_answer`: also the answer.
std::optional<portion> message_stream::pop(bool includes_answer) {
  if (replayed_) {
    portion out;
    out.type = kind::message;
    out.id = to_string(replayed_->front().id);
    out.event = traits_.event_name;
    out.content.content = rpc::body(*replayed_->front().message);
    replayed_->pop_front();
    if (replayed_->empty()) replayed_.reset();
    return out;
  }
  if (waiting_.empty()) return is_closed_ ? std::optional<portion>(portion{}) : std::nullopt;
  auto& first = waiting_.front();
  if (first.part.type == kind::answer && !includes_answer) return std::nullopt;
  reserved_bytes_ -= first.bytes;
  budget_->release(first.bytes);
  auto out = std::move(first.part);
  waiting_.pop_front();
  if (waiting_.empty()) notification_bytes_ = 0;
  if (out.type == kind::answer) {
    is_closed_ = true;
    if (!is_open_for_carrier_) return out;
  }
  return number_event(std::move(out));
}

/// Requires the mutex. Gives an event its number, and stores it if events are stored.
portion message_stream::number_event(portion part) {
  if (!traits_.replay || part.type == kind::retry || !part.content.content) return part;
  if (part.content.content->is_single_text()) {
    auto receipts = part.content.content->attached_receipts();
    auto text = part.content.content->extract_text();
    part.id = store_event(text);
    part.content.content = rpc::body(std::move(text));
    part.content.content->add_receipts(std::move(receipts));
  } else {
    part.id = to_string({traits_.number, ++last_number_});
  }
  return part;
}

/// Requires the mutex. Gives the text of an event its number, and stores it.
std::string message_stream::store_event(std::string_view message) {
  const event_id id{traits_.number, ++last_number_};
  traits_.replay->store(id, message);
  return to_string(id);
}

/// Asks the sources if one is ready. Without the mutex, because they have their own.
std::optional<portion> message_stream::pull(attachment_id attachment) {
  if (has_ready_source_.exchange(false)) {
    sources followed;
    {
      const std::lock_guard lock(mutex_);
      followed = sources_;
    }
    for (const auto& source : followed) {
      auto message = source->next();
      if (!message) continue;
      has_ready_source_ = true;
      portion out;
      out.type = kind::message;
      out.content.content = rpc::body(std::move(*message));
      out.event = traits_.event_name;
      const std::lock_guard lock(mutex_);
      if (attachment == attachment_) return number_event(std::move(out));
      // Another connection carries the stream now and must get this message.
      waiting_.push_front({std::move(out), 0});
      return portion{};
    }
  }
  const std::lock_guard lock(mutex_);
  if (!has_ready_source_) std::erase_if(sources_, [](const auto& source) { return source->is_finished(); });
  return std::nullopt;
}

/// Requires the mutex.
bool message_stream::has_pending() const {
  return is_closed_ || !waiting_.empty() || replayed_ || (!is_open_for_carrier_ && must_open()) || has_ready_source_;
}

}  // namespace hondana::transport::http_server
