/// The sessions of all clients: found by id, counted, and dropped when nobody uses them.
#include "transport/http_server/sessions.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/bytes/hex.hpp"
#include "base/bytes/random.hpp"
#include "transport/http_server/peer_address.hpp"
#include "transport/http_server/same_caller.hpp"

namespace hondana::transport::http_server {

result<std::string> make_session_id() {
  const auto raw = bytes::random_bytes(16);
  if (!raw) return fail(errc::source_unavailable, "Cannot open a session now. Retry later.", raw.error().private_text);
  return bytes::to_hex(*raw);
}

namespace {

/// What counts as one address: of IPv6 a network, since its owner has all of it.
std::string counted(const std::string& address) {
  const auto where = peer_address::parse(address, 0);
  return where && where->family() == AF_INET6 ? "network " + std::to_string(where->counted().bits) : address;
}

}  // namespace

sessions::sessions(const limits& with) : within_(with), room_(std::make_shared<shared_room>(with)) {}

/// Behind a proxy on this machine all clients look like one.
std::size_t sessions::cap_of(const std::string& address) const {
  if (within_.sessions_per_address != 0) return within_.sessions_per_address;
  const auto where = peer_address::parse(address, 0);
  return where && !where->is_loopback() ? std::max<std::size_t>(within_.sessions / 4, 1) : within_.sessions;
}

result<void> sessions::keep(const std::shared_ptr<kept_session>& made, clock::time_point now) {
  const auto address = counted(made->owner().address);
  std::vector<std::shared_ptr<kept_session>> dropped;  // and ended without the lock
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

/// Under the lock. Takes out the session that has been idle longest, of one address unless that is empty.
std::shared_ptr<kept_session> sessions::drop_idle(std::string_view address) {
  for (auto one = order_.begin(); one != order_.end(); ++one) {
    const bool is_meant = address.empty() || counted(one->what->owner().address) == address;
    if (is_meant && !one->what->is_busy()) return remove(one);
  }
  return nullptr;
}

/// Under the lock.
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
