/// Who hears of what.
#include "catalog/feed.hpp"

#include <utility>

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
  auto resource = resource_of(uri);
  bool is_first = false;
  {
    const std::lock_guard lock(mutex_);
    const auto known = members_.find(who.get());
    if (known != members_.end() && known->second.uris.contains(uri)) return true;
    const auto mine = known == members_.end() ? 0 : known->second.bytes;
    if (cost > byte_cap_ - bytes_ || mine + cost > byte_cap_ / 4) return false;
    bytes_ += cost;
    auto& one = member(who);
    one.bytes += cost;
    one.uris.insert(uri);
    auto& watching = by_resource_[resource];
    is_first = watching.empty();
    ++watching[who.get()];
  }
  if (is_first) tell(resource);
  return true;
}

/// Under the lock.
bool feed::forget(const listener* who, const std::string& uri) {
  bytes_ -= cost_of(uri);
  const auto place = by_resource_.find(resource_of(uri));
  if (place == by_resource_.end()) return false;
  const auto count = place->second.find(who);
  if (count != place->second.end() && --count->second == 0) place->second.erase(count);
  if (!place->second.empty()) return false;
  by_resource_.erase(place);
  return true;
}

void feed::unwatch(const listener& who, const std::string& uri) {
  bool is_last = false;
  {
    const std::lock_guard lock(mutex_);
    const auto one = members_.find(&who);
    if (one == members_.end() || one->second.uris.erase(uri) == 0) return;
    one->second.bytes -= cost_of(uri);
    is_last = forget(&who, uri);
    if (one->second.uris.empty() && !one->second.hears_lists) members_.erase(one);
  }
  if (is_last) tell(resource_of(uri));
}

void feed::leave(const listener& who) {
  std::vector<std::string> gone;
  {
    const std::lock_guard lock(mutex_);
    const auto one = members_.find(&who);
    if (one == members_.end()) return;
    for (const auto& uri : one->second.uris) {
      if (forget(&who, uri)) gone.push_back(resource_of(uri));
    }
    members_.erase(one);
  }
  for (const auto& resource : gone) tell(resource);
}

void feed::tell(const std::string& resource) const {
  if (on_interest_) on_interest_(resource);
}

void feed::publish(const model::change& what) {
  // Called without the lock: a listener may be leaving meanwhile, and its last reference may be ours.
  std::vector<std::shared_ptr<listener>> concerned;
  {
    const std::lock_guard lock(mutex_);
    if (what.kind == model::change::what::content) {
      const auto watching = by_resource_.find(resource_of(what.uri));
      if (watching == by_resource_.end()) return;
      concerned.reserve(watching->second.size());
      for (const auto& [who, parts] : watching->second) {
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

bool feed::is_watched(const std::string& resource) const {
  const std::lock_guard lock(mutex_);
  return by_resource_.contains(resource);
}

std::vector<std::string> feed::watched_resources() const {
  std::vector<std::string> out;
  const std::lock_guard lock(mutex_);
  out.reserve(by_resource_.size());
  for (const auto& [resource, who] : by_resource_) out.push_back(resource);
  return out;
}

std::size_t feed::listeners() const {
  const std::lock_guard lock(mutex_);
  return members_.size();
}

std::size_t feed::watched() const {
  const std::lock_guard lock(mutex_);
  return by_resource_.size();
}

}  // namespace hondana::catalog
