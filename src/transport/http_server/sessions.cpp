/// Sessions of HTTP clients: lookup by id, limits, their streams, and removal when idle.
#include "transport/http_server/sessions.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/bytes/random_token.hpp"
#include "server/session/refusals.hpp"
#include "transport/http_server/authentication.hpp"
#include "transport/http_server/peer_address.hpp"

namespace hondana::transport::http_server {
namespace {

/// Sends the answer to one message on the stream that all messages of a session share.
class one_of_many final : public rpc::outlet {
 public:
  explicit one_of_many(std::shared_ptr<message_stream> on) : on_(std::move(on)) {}
  void answer(rpc::delivery what) override {
    if (what.content) on_->put(std::move(*what.content));
  }
  rpc::sending send(std::string message) override { return on_->send(std::move(message)); }
  void follow(std::shared_ptr<rpc::message_source> from) override { on_->follow(std::move(from)); }

 private:
  std::shared_ptr<message_stream> on_;
};

}  // namespace

kept_session::kept_session(traits is, std::shared_ptr<session::session> with, runner on_owner, const limits& within,
                           const std::shared_ptr<shared_room>& room)
    : is_(std::move(is)),
      session_(std::move(with)),
      on_owner_(std::move(on_owner)),
      streams_kept_(within.streams_kept),
      paired_bytes_(within.paired_bytes),
      paired_under_way_(within.paired_under_way),
      waiting_(std::make_shared<byte_budget>(is_.how == manner::paired ? 4 * within.paired_bytes : within.waiting_bytes,
                                             room->waiting)),
      sent_(std::make_shared<replay>(within.replay_bytes, room->replayed)) {
  message_stream::traits rest;
  rest.takes = message_stream::form::events;
  rest.has_answer = false;
  if (is_.how == manner::streamable) {
    rest.kept = sent_;
    rest.may_poll = is_.may_poll;
  } else {
    rest.event = "message";
  }
  rest.shown = std::make_shared<const caller>(is_.owner);
  standing_ = make_stream(std::move(rest));
  standing_->follow(session_->standing());
}

std::shared_ptr<message_stream> kept_session::make_stream(message_stream::traits is) {
  is.number = ++last_stream_;
  return std::make_shared<message_stream>(std::move(is), waiting_);
}

std::shared_ptr<message_stream> kept_session::stream_for(message_stream::form takes, std::function<void()> when_dropped,
                                                         const std::shared_ptr<executor::turns>& place,
                                                         std::shared_ptr<const caller> shown) {
  message_stream::traits is;
  is.when_dropped = std::move(when_dropped);
  is.takes = takes;
  is.place = place;
  is.kept = sent_;
  is.shown = std::move(shown);
  is.may_poll = is_.may_poll;
  is.when_opened = [weak = weak_from_this()](const std::shared_ptr<message_stream>& opened) {
    if (const auto there = weak.lock()) there->remember(opened);
  };
  auto made = make_stream(std::move(is));
  std::vector<std::shared_ptr<message_stream>> forgotten;  // destroyed without the lock
  bool is_late = false;
  {
    const std::lock_guard lock(mutex_);
    forgotten = take_surplus();
    std::erase_if(answering_, [](const auto& one) { return one.expired(); });
    is_late = has_ended_;
    if (!is_late) answering_.push_back(made);
  }
  if (is_late) made->end();
  return made;
}

void kept_session::settle_in() {
  const std::lock_guard lock(mutex_);
  std::erase_if(answering_, [](const auto& one) { return one.expired(); });
  answering_.shrink_to_fit();
}

/// An event stream may lose its connection and be resumed, so the session keeps it.
void kept_session::remember(const std::shared_ptr<message_stream>& opened) {
  std::vector<std::shared_ptr<message_stream>> forgotten;  // destroyed without the lock
  bool is_late = false;
  {
    const std::lock_guard lock(mutex_);
    is_late = has_ended_;
    if (!is_late) streams_.emplace(opened->number(), opened);
    forgotten = take_surplus();
  }
  if (is_late) opened->end();
}

std::vector<std::shared_ptr<message_stream>> kept_session::take_surplus() {
  std::vector<std::shared_ptr<message_stream>> out;
  const auto is_finished = [](const auto& one) { return one.second->is_finished(); };
  auto finished = static_cast<std::size_t>(std::count_if(streams_.begin(), streams_.end(), is_finished));
  for (auto one = streams_.begin(); finished > streams_kept_ && one != streams_.end();) {
    const auto here = one++;
    if (!is_finished(*here)) continue;
    out.push_back(std::move(here->second));
    streams_.erase(here);
    --finished;
  }
  return out;
}

void kept_session::receive(std::string message, rpc::facts facts, std::shared_ptr<rpc::outlet> out) {
  ++received_;
  received_bytes_ += message.size();
  on_owner_([self = shared_from_this(), message = std::move(message), facts = std::move(facts), out = std::move(out)] {
    if (self->has_ended()) {
      // The session was ended before the message arrived here.
      out->answer(session::refuse(404, no_such_session, facts.http.value_or(rpc::http_headers{})));
    } else {
      self->session_->receive(message, facts, out);
    }
    --self->received_;
    self->received_bytes_ -= message.size();
  });
}

void kept_session::is_read_by(const caller& who) {
  const auto changes = session_->is_read_by(who);
  if (sight_changes_.exchange(changes) != changes) standing_->forget_sent();
}

bool kept_session::has_ended() const {
  const std::lock_guard lock(mutex_);
  return has_ended_;
}

std::shared_ptr<rpc::outlet> kept_session::paired_outlet() {
  const auto waiting = received_bytes_ + standing_->bytes_waiting();
  if (waiting > paired_bytes_ || session_->under_way() >= paired_under_way_ || received_ >= paired_under_way_) return nullptr;
  if (waiting != 0 && waiting_->is_used_up()) return nullptr;
  return std::make_shared<one_of_many>(standing_);
}

std::shared_ptr<message_stream> kept_session::stream_of(const event_id& event, const caller& who, const gate::gate& by) {
  const auto has_scopes = [&](const std::shared_ptr<const caller>& shown) {
    return by.has_scopes_of(who, shown ? shown->proof.get() : nullptr);
  };
  const auto may_have = [&](const std::shared_ptr<const caller>& shown) {
    return has_one_view(who, shown ? *shown : caller{}) && has_scopes(shown);
  };
  if (event.stream == standing_->number()) return has_scopes(standing_->shown()) ? standing_ : nullptr;
  const std::lock_guard lock(mutex_);
  const auto found = streams_.find(event.stream);
  return found == streams_.end() || !may_have(found->second->shown()) ? nullptr : found->second;
}

bool kept_session::is_busy() const {
  if (received_ != 0 || session_->under_way() != 0 || standing_->is_carried()) return true;
  const std::lock_guard lock(mutex_);
  return std::any_of(streams_.begin(), streams_.end(), [](const auto& one) { return one.second->is_carried(); });
}

void kept_session::end() {
  std::map<std::uint64_t, std::shared_ptr<message_stream>> streams;
  std::vector<std::weak_ptr<message_stream>> answering;
  {
    const std::lock_guard lock(mutex_);
    has_ended_ = true;
    streams.swap(streams_);
    answering.swap(answering_);
  }
  standing_->end();
  for (const auto& [number, one] : streams) one->end();
  // Streams that are not event streams yet: their clients get the answer that the session has ended.
  for (const auto& one : answering) {
    if (const auto there = one.lock()) there->end();
  }
  on_owner_([session = session_] { session->close(); });
  sent_->clear();
}

result<std::string> make_session_id() {
  const auto raw = bytes::random_bytes(16);
  if (!raw) return fail(errc::source_unavailable, "Cannot open a session now. Retry later.", raw.error().private_text);
  return bytes::to_hex(*raw);
}

namespace {

/// The address that is counted: for IPv6 the network, because one owner has all of its addresses.
std::string counted(const std::string& address) {
  const auto where = peer_address::parse(address, 0);
  return where && where->family() == AF_INET6 ? "network " + std::to_string(where->counted().bits) : address;
}

}  // namespace

sessions::sessions(const limits& with) : within_(with), room_(std::make_shared<shared_room>(with)) {}

/// The limit for one address. All clients of a proxy on this machine share one address, so loopback has no limit of its own.
std::size_t sessions::cap_of(const std::string& address) const {
  if (within_.sessions_per_address != 0) return within_.sessions_per_address;
  const auto where = peer_address::parse(address, 0);
  return where && !where->is_loopback() ? std::max<std::size_t>(within_.sessions / 4, 1) : within_.sessions;
}

result<void> sessions::keep(const std::shared_ptr<kept_session>& made, clock::time_point now) {
  const auto address = counted(made->owner().address);
  std::vector<std::shared_ptr<kept_session>> dropped;  // ended without the lock
  bool is_full = false;
  {
    const std::lock_guard lock(mutex_);
    const auto count = of_address_.find(address);
    if (count != of_address_.end() && count->second >= cap_of(made->owner().address)) {
      dropped.push_back(drop_idle(address));
    } else if (order_.size() >= within_.sessions) {
      dropped.push_back(drop_idle({}));
    }
    is_full = !dropped.empty() && !dropped.back();
    if (!is_full) {
      order_.push_back({made, now});
      by_id_.emplace(made->id(), std::prev(order_.end()));
      ++of_address_[address];
    }
  }
  if (is_full) {
    return fail(errc::overloaded, "Service unavailable: this server has too many sessions, all in use. Retry later.");
  }
  for (const auto& one : dropped) one->end();
  return {};
}

/// Requires the mutex. Removes and returns the session that has been idle longest, of one address unless that is empty.
std::shared_ptr<kept_session> sessions::drop_idle(std::string_view address) {
  for (auto one = order_.begin(); one != order_.end(); ++one) {
    const bool is_meant = address.empty() || counted(one->what->owner().address) == address;
    if (is_meant && !one->what->is_busy()) return remove(one);
  }
  return nullptr;
}

/// Requires the mutex.
std::shared_ptr<kept_session> sessions::remove(order::iterator which) {
  auto gone = std::move(which->what);
  by_id_.erase(gone->id());
  if (const auto count = of_address_.find(counted(gone->owner().address)); --count->second == 0) of_address_.erase(count);
  order_.erase(which);
  return gone;
}

std::shared_ptr<kept_session> sessions::find(std::string_view id, const caller& who, kept_session::manner how,
                                             clock::time_point now) {
  const std::lock_guard lock(mutex_);
  const auto found = by_id_.find(id);
  if (found == by_id_.end()) return nullptr;
  const auto& what = found->second->what;
  if (!is_same_caller(what->owner(), who) || what->how() != how) return nullptr;
  found->second->used = now;
  order_.splice(order_.end(), order_, found->second);
  return what;
}

void sessions::end(const kept_session& which) {
  std::shared_ptr<kept_session> gone;
  {
    const std::lock_guard lock(mutex_);
    const auto found = by_id_.find(which.id());
    if (found == by_id_.end()) return;
    gone = remove(found->second);
  }
  gone->end();
}

void sessions::expire(clock::time_point now) {
  std::vector<std::shared_ptr<kept_session>> gone;
  {
    const std::lock_guard lock(mutex_);
    for (auto one = order_.begin(); one != order_.end();) {
      const auto here = one++;
      if (now - here->used < within_.session_idle) continue;
      if (here->what->is_busy()) {
        here->used = now;
      } else {
        gone.push_back(remove(here));
      }
    }
  }
  for (const auto& one : gone) one->end();
}

void sessions::end_all() {
  order all;
  {
    const std::lock_guard lock(mutex_);
    all.swap(order_);
    by_id_.clear();
    of_address_.clear();
  }
  for (const auto& one : all) one.what->end();
}

std::size_t sessions::size() const {
  const std::lock_guard lock(mutex_);
  return order_.size();
}

}  // namespace hondana::transport::http_server
