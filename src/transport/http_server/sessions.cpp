/// Stores the sessions of HTTP clients: lookup by id, limits, their streams, and removal when idle.
#include "transport/http_server/sessions.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/bytes/random_token.hpp"
#include "server/session/rejections.hpp"
#include "transport/http_server/authentication.hpp"
#include "transport/http_server/peer_address.hpp"

namespace hondana::transport::http_server {
namespace {

/// Sends the answer to one message on the stream that all messages of a session share.
class shared_stream_writer final : public rpc::response_writer {
 public:
  explicit shared_stream_writer(std::shared_ptr<message_stream> stream) : stream_(std::move(stream)) {}
  void answer(rpc::outgoing_response response) override {
    if (response.content) stream_->add_answer(std::move(*response.content));
  }
  rpc::send_outcome send(std::string message) override { return stream_->send(std::move(message)); }
  void stream(std::shared_ptr<rpc::message_source> source) override { stream_->stream(std::move(source)); }

 private:
  std::shared_ptr<message_stream> stream_;
};

}  // namespace

stored_session::stored_session(traits session_traits, std::shared_ptr<session::session> session, runner run_on_owner,
                               const limits& limits, const std::shared_ptr<shared_budgets>& budgets)
    : traits_(std::move(session_traits)),
      session_(std::move(session)),
      run_on_owner_(std::move(run_on_owner)),
      max_stored_streams_(limits.max_stored_streams),
      max_sse_waiting_bytes_(limits.max_sse_waiting_bytes),
      max_sse_requests_(limits.max_sse_requests),
      waiting_budget_(std::make_shared<byte_budget>(
          traits_.kind == transport_kind::sse ? 4 * limits.max_sse_waiting_bytes : limits.max_waiting_bytes, budgets->waiting)),
      replay_(std::make_shared<replay_buffer>(limits.max_replay_bytes, budgets->replay)) {
  message_stream::traits standalone;
  standalone.format = message_stream::response_format::events;
  standalone.has_answer = false;
  if (traits_.kind == transport_kind::streamable) {
    standalone.replay = replay_;
    standalone.supports_polling = traits_.supports_polling;
  } else {
    standalone.event_name = "message";
  }
  standalone.filtered_for = std::make_shared<const caller_info>(traits_.owner);
  notification_stream_ = make_stream(std::move(standalone));
  notification_stream_->stream(session_->notification_stream());
}

std::shared_ptr<message_stream> stored_session::make_stream(message_stream::traits stream_traits) {
  stream_traits.number = ++last_stream_;
  return std::make_shared<message_stream>(std::move(stream_traits), waiting_budget_);
}

std::shared_ptr<message_stream> stored_session::make_post_stream(message_stream::response_format format,
                                                                 std::function<void()> on_dropped,
                                                                 const std::shared_ptr<executor::step_executor>& home_executor,
                                                                 std::shared_ptr<const caller_info> filtered_for) {
  message_stream::traits stream_traits;
  stream_traits.on_dropped = std::move(on_dropped);
  stream_traits.format = format;
  stream_traits.home_executor = home_executor;
  stream_traits.replay = replay_;
  stream_traits.filtered_for = std::move(filtered_for);
  stream_traits.supports_polling = traits_.supports_polling;
  stream_traits.on_opened = [weak = weak_from_this()](const std::shared_ptr<message_stream>& opened) {
    if (const auto owner = weak.lock()) owner->store_stream(opened);
  };
  auto created = make_stream(std::move(stream_traits));
  std::vector<std::shared_ptr<message_stream>> removed;  // destroyed without the lock
  bool is_late = false;
  {
    const std::lock_guard lock(mutex_);
    removed = remove_surplus();
    std::erase_if(post_streams_, [](const auto& entry) { return entry.expired(); });
    is_late = is_closed_;
    if (!is_late) post_streams_.push_back(created);
  }
  if (is_late) created->end();
  return created;
}

void stored_session::release_finished() {
  const std::lock_guard lock(mutex_);
  std::erase_if(post_streams_, [](const auto& entry) { return entry.expired(); });
  post_streams_.shrink_to_fit();
}

/// An event stream may lose its connection and be resumed, so the session keeps it.
void stored_session::store_stream(const std::shared_ptr<message_stream>& opened) {
  std::vector<std::shared_ptr<message_stream>> removed;  // destroyed without the lock
  bool is_late = false;
  {
    const std::lock_guard lock(mutex_);
    is_late = is_closed_;
    if (!is_late) streams_.emplace(opened->number(), opened);
    removed = remove_surplus();
  }
  if (is_late) opened->end();
}

std::vector<std::shared_ptr<message_stream>> stored_session::remove_surplus() {
  std::vector<std::shared_ptr<message_stream>> out;
  const auto is_finished = [](const auto& entry) { return entry.second->is_finished(); };
  auto finished = static_cast<std::size_t>(std::count_if(streams_.begin(), streams_.end(), is_finished));
  for (auto entry = streams_.begin(); finished > max_stored_streams_ && entry != streams_.end();) {
    const auto current = entry++;
    if (!is_finished(*current)) continue;
    out.push_back(std::move(current->second));
    streams_.erase(current);
    --finished;
  }
  return out;
}

void stored_session::receive(std::string message, rpc::request_info request_info,
                             std::shared_ptr<rpc::response_writer> response_writer) {
  ++unhandled_messages_;
  unhandled_bytes_ += message.size();
  run_on_owner_([owner = shared_from_this(), message = std::move(message), info = std::move(request_info),
                 writer = std::move(response_writer)] {
    if (owner->is_closed()) {
      // The session was ended before the message arrived here.
      writer->answer(session::reject(404, no_such_session, info.http.value_or(rpc::http_headers{})));
    } else {
      owner->session_->receive(message, info, writer);
    }
    --owner->unhandled_messages_;
    owner->unhandled_bytes_ -= message.size();
  });
}

void stored_session::set_stream_reader(const caller_info& reader) {
  const auto changes = session_->set_stream_reader(reader);
  if (filter_changes_.exchange(changes) != changes) notification_stream_->discard_sent();
}

bool stored_session::is_closed() const {
  const std::lock_guard lock(mutex_);
  return is_closed_;
}

std::shared_ptr<rpc::response_writer> stored_session::sse_writer() {
  const auto waiting = unhandled_bytes_ + notification_stream_->waiting_bytes();
  if (waiting > max_sse_waiting_bytes_ || session_->in_progress() >= max_sse_requests_ ||
      unhandled_messages_ >= max_sse_requests_)
    return nullptr;
  if (waiting != 0 && waiting_budget_->is_exhausted()) return nullptr;
  return std::make_shared<shared_stream_writer>(notification_stream_);
}

std::shared_ptr<message_stream> stored_session::find_stream(const event_id& event, const caller_info& reader,
                                                            const gate::gate& access_gate) {
  const auto has_scopes = [&](const std::shared_ptr<const caller_info>& filtered_for) {
    return access_gate.has_scopes_of(reader, filtered_for ? filtered_for->auth_info.get() : nullptr);
  };
  const auto may_read = [&](const std::shared_ptr<const caller_info>& filtered_for) {
    return has_same_access_filter(reader, filtered_for ? *filtered_for : caller_info{}) && has_scopes(filtered_for);
  };
  if (event.stream == notification_stream_->number())
    return has_scopes(notification_stream_->filtered_for()) ? notification_stream_ : nullptr;
  const std::lock_guard lock(mutex_);
  const auto match = streams_.find(event.stream);
  return match == streams_.end() || !may_read(match->second->filtered_for()) ? nullptr : match->second;
}

bool stored_session::is_busy() const {
  if (unhandled_messages_ != 0 || session_->in_progress() != 0 || notification_stream_->is_attached()) return true;
  const std::lock_guard lock(mutex_);
  return std::any_of(streams_.begin(), streams_.end(), [](const auto& entry) { return entry.second->is_attached(); });
}

void stored_session::end() {
  std::map<std::uint64_t, std::shared_ptr<message_stream>> streams;
  std::vector<std::weak_ptr<message_stream>> post_streams;
  {
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
    streams.swap(streams_);
    post_streams.swap(post_streams_);
  }
  notification_stream_->end();
  for (const auto& [number, stream] : streams) stream->end();
  // Streams that are not event streams yet: their clients get the answer that the session has ended.
  for (const auto& weak : post_streams) {
    if (const auto post_stream = weak.lock()) post_stream->end();
  }
  run_on_owner_([session = session_] { session->close(); });
  replay_->clear();
}

result<std::string> make_session_id() {
  const auto raw = bytes::random_bytes(16);
  if (!raw) return fail(errc::source_unavailable, "Cannot open a session now. Retry later.", raw.error().private_text);
  return bytes::to_hex(*raw);
}

namespace {

/// The address that is counted: for IPv6 the network, because one owner has all of its addresses.
std::string counting_key(const std::string& address) {
  const auto literal = peer_address::parse(address, 0);
  return literal && literal->family() == AF_INET6 ? "network " + std::to_string(literal->counted().bits) : address;
}

}  // namespace

session_store::session_store(const limits& limits) : limits_(limits), budgets_(std::make_shared<shared_budgets>(limits)) {}

/// The limit for one address. All clients of a proxy on this machine share one address, so loopback has no limit of its own.
std::size_t session_store::max_sessions_for(const std::string& address) const {
  if (limits_.max_sessions_per_address != 0) return limits_.max_sessions_per_address;
  const auto literal = peer_address::parse(address, 0);
  return literal && !literal->is_loopback() ? std::max<std::size_t>(limits_.max_sessions / 4, 1) : limits_.max_sessions;
}

result<void> session_store::store(const std::shared_ptr<stored_session>& session, clock::time_point now) {
  const auto address = counting_key(session->owner().address);
  std::vector<std::shared_ptr<stored_session>> dropped;  // ended without the lock
  bool is_full = false;
  {
    const std::lock_guard lock(mutex_);
    const auto entry = count_by_address_.find(address);
    if (entry != count_by_address_.end() && entry->second >= max_sessions_for(session->owner().address)) {
      dropped.push_back(remove_idle(address));
    } else if (entries_.size() >= limits_.max_sessions) {
      dropped.push_back(remove_idle({}));
    }
    is_full = !dropped.empty() && !dropped.back();
    if (!is_full) {
      entries_.push_back({session, now});
      by_id_.emplace(session->id(), std::prev(entries_.end()));
      ++count_by_address_[address];
    }
  }
  if (is_full) {
    return fail(errc::overloaded, "Service unavailable: this server has too many sessions, all in use. Retry later.");
  }
  for (const auto& idle : dropped) idle->end();
  return {};
}

/// Requires the mutex. Removes and returns the session that has been idle longest, of one address unless that is empty.
std::shared_ptr<stored_session> session_store::remove_idle(std::string_view address) {
  for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
    const bool matches = address.empty() || counting_key(entry->session->owner().address) == address;
    if (matches && !entry->session->is_busy()) return remove(entry);
  }
  return nullptr;
}

/// Requires the mutex.
std::shared_ptr<stored_session> session_store::remove(usage_order::iterator position) {
  auto removed = std::move(position->session);
  by_id_.erase(removed->id());
  if (const auto count = count_by_address_.find(counting_key(removed->owner().address)); --count->second == 0)
    count_by_address_.erase(count);
  entries_.erase(position);
  return removed;
}

std::shared_ptr<stored_session> session_store::find(std::string_view id, const caller_info& caller,
                                                    stored_session::transport_kind kind, clock::time_point now) {
  const std::lock_guard lock(mutex_);
  const auto match = by_id_.find(id);
  if (match == by_id_.end()) return nullptr;
  const auto& stored = match->second->session;
  if (!is_same_caller(stored->owner(), caller) || stored->kind() != kind) return nullptr;
  match->second->last_used = now;
  entries_.splice(entries_.end(), entries_, match->second);
  return stored;
}

void session_store::end(const stored_session& session) {
  std::shared_ptr<stored_session> removed;
  {
    const std::lock_guard lock(mutex_);
    const auto match = by_id_.find(session.id());
    if (match == by_id_.end()) return;
    removed = remove(match->second);
  }
  removed->end();
}

void session_store::expire(clock::time_point now) {
  std::vector<std::shared_ptr<stored_session>> expired;
  {
    const std::lock_guard lock(mutex_);
    for (auto entry = entries_.begin(); entry != entries_.end();) {
      const auto current = entry++;
      if (now - current->last_used < limits_.session_idle_timeout) continue;
      if (current->session->is_busy()) {
        current->last_used = now;
      } else {
        expired.push_back(remove(current));
      }
    }
  }
  for (const auto& session : expired) session->end();
}

void session_store::end_all() {
  usage_order entries;
  {
    const std::lock_guard lock(mutex_);
    entries.swap(entries_);
    by_id_.clear();
    count_by_address_.clear();
  }
  for (const auto& entry : entries) entry.session->end();
}

std::size_t session_store::size() const {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

}  // namespace hondana::transport::http_server
