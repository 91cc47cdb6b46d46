/// Who hears of what.
#include "catalog/feed.hpp"

namespace hondana::catalog {

feed::membership& feed::member(const std::shared_ptr<listener>& who) {
  auto& one = members_[who.get()];
  one.who = who;
  return one;
}

void feed::join(const std::shared_ptr<listener>& who) {
  const std::lock_guard lock(mutex_);
  member(who).hears_lists = true;
}

bool feed::watch(const std::shared_ptr<listener>& who, const std::string& uri) {
  const auto cost = cost_of(uri);
  const std::lock_guard lock(mutex_);
  const auto known = members_.find(who.get());
  if (known != members_.end() && known->second.uris.contains(uri)) return true;
  if (cost > byte_cap_ - bytes_) return false;
  bytes_ += cost;
  member(who).uris.insert(uri);
  by_uri_[uri].insert(who.get());
  return true;
}

/// Under the lock.
void feed::forget(const listener* who, const std::string& uri) {
  bytes_ -= cost_of(uri);
  const auto place = by_uri_.find(uri);
  if (place == by_uri_.end()) return;
  place->second.erase(who);
  if (place->second.empty()) by_uri_.erase(place);
}

void feed::unwatch(const listener& who, const std::string& uri) {
  const std::lock_guard lock(mutex_);
  const auto one = members_.find(&who);
  if (one == members_.end() || one->second.uris.erase(uri) == 0) return;
  forget(&who, uri);
  if (one->second.uris.empty() && !one->second.hears_lists) members_.erase(one);
}

void feed::leave(const listener& who) {
  const std::lock_guard lock(mutex_);
  const auto one = members_.find(&who);
  if (one == members_.end()) return;
  for (const auto& uri : one->second.uris) forget(&who, uri);
  members_.erase(one);
}

void feed::publish(const model::change& what) {
  // Called without the lock: a listener may be leaving meanwhile, and its last reference may be ours.
  std::vector<std::shared_ptr<listener>> concerned;
  {
    const std::lock_guard lock(mutex_);
    if (what.kind == model::change::what::content) {
      const auto watching = by_uri_.find(what.uri);
      if (watching == by_uri_.end()) return;
      concerned.reserve(watching->second.size());
      for (const auto* who : watching->second) {
        if (auto there = members_[who].who.lock()) concerned.push_back(std::move(there));
      }
    } else {
      for (const auto& [who, one] : members_) {
        if (!one.hears_lists) continue;
        if (auto there = one.who.lock()) concerned.push_back(std::move(there));
      }
    }
  }
  for (const auto& one : concerned) one->heard(what);
}

void feed::publish(const model::log_message& what) {
  std::vector<std::shared_ptr<listener>> concerned;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [who, one] : members_) {
      if (!one.hears_lists) continue;
      if (auto there = one.who.lock()) concerned.push_back(std::move(there));
    }
  }
  for (const auto& one : concerned) one->told(what);
}

std::size_t feed::listeners() const {
  const std::lock_guard lock(mutex_);
  return members_.size();
}

std::size_t feed::watched() const {
  const std::lock_guard lock(mutex_);
  return by_uri_.size();
}

}  // namespace hondana::catalog
