/// Passes changes from sources to listeners, and coalesces frequent changes.
#include "server/catalog/change_feed.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/counters/metrics.hpp"
#include "base/executor/batching.hpp"

namespace hondana::catalog {

namespace {

// Listeners that are notified in one slice: a few microseconds each, including the work of their transport.
constexpr std::size_t slice_size = 64;
// Limit of listeners that event loops have still to notify, over all changes: 8 MiB. Beyond it, the publishing thread notifies
// by itself.
constexpr std::size_t max_queued = 512u << 10;
// How many listeners ahead the memory of a listener is prefetched, and then the memory that it refers to.
constexpr std::size_t prefetch_far = 8;
constexpr std::size_t prefetch_near = 4;
// Size of the memory that is prefetched for a listener; may exceed its real size.
struct listener_memory {
  char bytes[320];
};
void prefetch_listener(const listener* listener) { executor::prefetch(reinterpret_cast<const listener_memory*>(listener)); }

}  // namespace

/// The listeners that one change concerns, grouped by event loop. They are notified without the lock: a listener may be
/// leaving, and its last reference may be ours.
class change_feed::recipient_set {
 public:
  void add(const listener* listener, const membership& member) { candidates_.emplace_back(listener, &member); }

  /// Requires the lock, so that no listener can leave.
  void collect() {
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      if (i + prefetch_far < candidates_.size()) {
        executor::prefetch(candidates_[i + prefetch_far].second);
        __builtin_prefetch(reinterpret_cast<const char*>(candidates_[i + prefetch_far].first) -
                           sizeof(std::shared_ptr<listener>));
      }
      add_member(*candidates_[i].second);
    }
    candidates_.clear();
  }

  void notify(const model::change& change, const std::shared_ptr<std::atomic<std::size_t>>& queued) {
    for (auto& group : groups_) {
      const auto executor = group.executor.lock();
      if (!executor) {
        // The event loop has ended; or these listeners have none, and are notified here.
        if (group.executor_id != nullptr) continue;
        for (const auto& listener : group.listeners) listener->on_change(change);
        continue;
      }
      const auto count = group.listeners.size();
      if (queued->load(std::memory_order_relaxed) > max_queued) {
        for (const auto& listener : group.listeners) listener->on_change(change);
        continue;
      }
      queued->fetch_add(count, std::memory_order_relaxed);
      const std::shared_ptr<void> queued_guard(nullptr,
                                               [queued, count](void*) { queued->fetch_sub(count, std::memory_order_relaxed); });
      executor->run_in_steps([change, queued_guard, listeners = std::make_shared<listener_list>(std::move(group.listeners)),
                              next = std::size_t{0}]() mutable {
        for (const auto end = std::min(listeners->size(), next + slice_size); next < end;) {
          if (next + prefetch_far < listeners->size()) prefetch_listener((*listeners)[next + prefetch_far].get());
          if (next + prefetch_near < listeners->size()) (*listeners)[next + prefetch_near]->prefetch();
          const auto listener = std::move((*listeners)[next++]);
          listener->on_change(change);
        }
        return next < listeners->size();
      });
    }
  }

 private:
  using listener_list = std::vector<std::shared_ptr<listener>>;
  struct listener_group {
    const executor::step_executor* executor_id;
    std::weak_ptr<executor::step_executor> executor;
    listener_list listeners;
  };

  void add_member(const membership& member) {
    auto listener = member.target.lock();
    if (!listener) return;
    if (groups_.empty() || groups_[last_group_].executor_id != member.executor_id) find_group(member);
    groups_[last_group_].listeners.push_back(std::move(listener));
  }

  void find_group(const membership& member) {
    const auto existing = std::find_if(groups_.begin(), groups_.end(),
                                       [&member](const auto& group) { return group.executor_id == member.executor_id; });
    last_group_ = static_cast<std::size_t>(existing - groups_.begin());
    if (existing == groups_.end()) groups_.push_back({member.executor_id, member.executor, {}});
  }

  std::vector<std::pair<const listener*, const membership*>> candidates_;
  std::vector<listener_group> groups_;
  std::size_t last_group_ = 0;
};

change_feed::membership& change_feed::member_of(const std::shared_ptr<listener>& listener) {
  const auto [position, is_new] = members_.try_emplace(listener.get());
  auto& member = position->second;
  if (is_new) {
    member.target = listener;
    const auto executor = listener->preferred_executor();
    member.executor = executor;
    member.executor_id = executor.get();
    member.access_generation = ++access_generation_;
  }
  return member;
}

void change_feed::add_listener(const std::shared_ptr<listener>& listener, bool includes_resources) {
  bool is_first = false;
  {
    const std::lock_guard lock(mutex_);
    auto& member = member_of(listener);
    member.wants_lists = true;
    if (includes_resources && !std::exchange(member.wants_resources, true)) is_first = list_watchers_++ == 0;
  }
  if (is_first && on_list_interest_) on_list_interest_();
}

bool change_feed::watch(const std::shared_ptr<listener>& listener, const std::string& uri) {
  const auto cost = cost_of(uri);
  {
    const std::lock_guard lock(mutex_);
    const auto existing = members_.find(listener.get());
    if (existing != members_.end() && existing->second.uris.contains(uri)) return true;
    const auto own_bytes = existing == members_.end() ? 0 : existing->second.bytes;
    if (cost > max_bytes_ - bytes_ || own_bytes + cost > max_bytes_ / 4) return false;
    bytes_ += cost;
    auto& member = member_of(listener);
    member.bytes += cost;
    member.uris.emplace(uri, false);
  }
  update_access(*listener, uri);
  return true;
}

void change_feed::update_access(const listener& listener, const std::string& uri) {
  bool is_allowed = false;
  bool is_interest_new = false;
  // If the rules change during `may_receive`, its answer is outdated and it is called again.
  for (std::uint64_t generation = 0;; is_allowed = listener.may_receive(uri)) {
    const std::lock_guard lock(mutex_);
    const auto position = members_.find(&listener);
    if (position == members_.end()) return;
    const auto watch = position->second.uris.find(uri);
    if (watch == position->second.uris.end()) return;
    if (std::exchange(generation, position->second.access_generation) != generation) continue;
    if (std::exchange(watch->second, is_allowed) == is_allowed) return;
    is_interest_new = is_allowed ? add_watch(&listener, position->second, uri) : remove_watch(&listener, uri);
    break;
  }
  if (is_interest_new) notify_interest(uri);
}

/// Requires the lock.
bool change_feed::add_watch(const listener* listener, const membership& member, const std::string& uri) {
  auto& watchers = by_resource_[resource_of(uri)];
  auto& entry = watchers.listeners[listener];
  ++entry.uri_count;
  entry.member = &member;
  return ++watchers.parts[std::string(query_of(uri))] == 1;
}

/// Requires the lock.
bool change_feed::remove_watch(const listener* listener, const std::string& uri) {
  const auto position = by_resource_.find(resource_of(uri));
  if (position == by_resource_.end()) return false;
  auto& watchers = position->second;
  const auto entry = watchers.listeners.find(listener);
  if (entry != watchers.listeners.end() && --entry->second.uri_count == 0) watchers.listeners.erase(entry);
  const auto part = watchers.parts.find(query_of(uri));
  const bool is_last = part != watchers.parts.end() && --part->second == 0;
  if (is_last) watchers.parts.erase(part);
  if (watchers.listeners.empty()) by_resource_.erase(position);
  return is_last;
}

void change_feed::unwatch(const listener& listener, const std::string& uri) {
  bool is_last = false;
  {
    const std::lock_guard lock(mutex_);
    const auto member = members_.find(&listener);
    if (member == members_.end()) return;
    const auto watch = member->second.uris.find(uri);
    if (watch == member->second.uris.end()) return;
    member->second.bytes -= cost_of(uri);
    bytes_ -= cost_of(uri);
    is_last = watch->second && remove_watch(&listener, uri);
    member->second.uris.erase(watch);
    if (member->second.uris.empty() && !member->second.wants_lists) members_.erase(member);
  }
  if (is_last) notify_interest(uri);
}

void change_feed::recheck_access(const listener& listener) {
  std::vector<std::string> watched;
  {
    const std::lock_guard lock(mutex_);
    const auto position = members_.find(&listener);
    if (position == members_.end()) return;
    position->second.access_generation = ++access_generation_;
    for (const auto& [uri, is_allowed] : position->second.uris) watched.push_back(uri);
  }
  for (const auto& uri : watched) update_access(listener, uri);
}

void change_feed::publish_rules(const std::shared_ptr<const gate::gate>& gate) const {
  std::vector<std::shared_ptr<listener>> listeners;
  {
    const std::lock_guard lock(mutex_);
    listeners.reserve(members_.size());
    for (const auto& [key, member] : members_) {
      if (auto listener = member.target.lock()) listeners.push_back(std::move(listener));
    }
  }
  for (const auto& listener : listeners) listener->on_rules_changed(gate);
}

void change_feed::remove_listener(const listener& listener) {
  std::vector<std::string> unwatched;
  bool is_last = false;
  {
    const std::lock_guard lock(mutex_);
    const auto member = members_.find(&listener);
    if (member == members_.end()) return;
    bytes_ -= member->second.bytes;
    for (const auto& [uri, is_allowed] : member->second.uris) {
      if (is_allowed && remove_watch(&listener, uri)) unwatched.push_back(uri);
    }
    is_last = member->second.wants_resources && --list_watchers_ == 0;
    members_.erase(member);
  }
  for (const auto& uri : unwatched) notify_interest(uri);
  if (is_last && on_list_interest_) on_list_interest_();
}

void change_feed::notify_interest(const std::string& uri) const {
  if (on_interest_) on_interest_(uri);
}

void change_feed::publish(const model::change& change) {
  recipient_set recipients;
  {
    const std::lock_guard lock(mutex_);
    if (change.kind == model::change::change_kind::content) {
      const auto watchers = by_resource_.find(resource_of(change.uri));
      if (watchers == by_resource_.end()) return;
      if (change.is_exact && !watchers->second.parts.contains(query_of(change.uri))) return;
      for (const auto& [listener, entry] : watchers->second.listeners) {
        if (change.is_exact) {
          const auto watch = entry.member->uris.find(change.uri);
          if (watch == entry.member->uris.end() || !watch->second) continue;
        }
        recipients.add(listener, *entry.member);
      }
    } else {
      for (const auto& [listener, member] : members_) {
        if (member.wants_lists) recipients.add(listener, member);
      }
    }
    recipients.collect();
  }
  recipients.notify(change, queued_);
}

void change_feed::publish(const model::log_message& message) {
  std::vector<std::shared_ptr<listener>> listeners;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [key, member] : members_) {
      if (!member.wants_lists) continue;
      if (auto listener = member.target.lock()) listeners.push_back(std::move(listener));
    }
  }
  for (const auto& listener : listeners) listener->on_log_message(message);
}

bool change_feed::is_watched(const std::string& resource) const {
  const std::lock_guard lock(mutex_);
  return by_resource_.contains(resource);
}

bool change_feed::is_list_watched() const {
  const std::lock_guard lock(mutex_);
  return list_watchers_ != 0;
}

bool change_feed::is_part_watched(const std::string& uri) const {
  const std::lock_guard lock(mutex_);
  const auto watchers = by_resource_.find(resource_of(uri));
  return watchers != by_resource_.end() && watchers->second.parts.contains(query_of(uri));
}

std::vector<std::string> change_feed::watched_uris() const {
  std::vector<std::string> out;
  const std::lock_guard lock(mutex_);
  out.reserve(by_resource_.size());
  for (const auto& [resource, watchers] : by_resource_) {
    for (const auto& [part, count] : watchers.parts) out.push_back(resource + part);
  }
  return out;
}

std::size_t change_feed::listeners() const {
  const std::lock_guard lock(mutex_);
  return members_.size();
}

std::size_t change_feed::watched() const {
  const std::lock_guard lock(mutex_);
  return by_resource_.size();
}

namespace {

enum class change_outcome : std::uint8_t { sent, coalesced, unwatched };

/// Counts changes by outcome, for all servers of this process.
void count(model::change::change_kind kind, change_outcome outcome) {
  static const auto& counter = *new auto(counters::counter_family::make(
      {"hondana_changes", counters::kind::counter, "",
       "Changes, by kind and outcome: sent to clients, merged with another change, or not watched by any client."},
      {{"kind", {"content", "list"}}, {"outcome", {"notified", "coalesced", "no_subscriber"}}}));
  counter->add((kind == model::change::change_kind::content ? 0 : 3) + static_cast<std::size_t>(outcome));
}

}  // namespace

coalescer::coalescer(std::shared_ptr<change_feed> feed, std::shared_ptr<executor::timers> timers, window_durations durations)
    : feed_(std::move(feed)), timers_(std::move(timers)), durations_(durations) {}

void coalescer::push(const model::change& change) {
  if (change.kind == model::change::change_kind::content) {
    push_content(change);
  } else {
    push_list(change);
  }
}

std::size_t coalescer::size() const {
  const std::lock_guard lock(mutex_);
  return recent_.size();
}

void coalescer::push_content(const model::change& change) {
  const bool is_watched = change.is_exact ? feed_->is_part_watched(change.uri) : feed_->is_watched(resource_of(change.uri));
  if (!is_watched) return count(change.kind, change_outcome::unwatched);
  {
    const std::lock_guard lock(mutex_);
    const auto [position, is_new] = recent_.try_emplace(change.uri);
    if (!is_new) {
      auto& pending = position->second;
      const bool was_pending = std::exchange(pending.is_pending, true);
      if (was_pending) count(change.kind, change_outcome::coalesced);
      // The merged change must reach every listener that the previous one concerned.
      const bool is_exact = change.is_exact && (!was_pending || pending.latest.is_exact);
      const bool is_alias = change.is_alias && (!was_pending || pending.latest.is_alias);
      // Listeners of the alias may be allowed to see it but not its target, so the target's title is not used.
      const bool keeps_old_title = was_pending && change.is_alias && !is_alias;
      auto title = std::exchange(pending.latest, change).title;
      if (keeps_old_title) pending.latest.title = std::move(title);
      pending.latest.is_exact = is_exact;
      pending.latest.is_alias = is_alias;
      return;
    }
    window_ends_.push_back({clock::now() + durations_.resource, change.uri});
    arm_resources();
  }
  count(change.kind, change_outcome::sent);
  feed_->publish(change);
}

void coalescer::arm_resources() {
  if (is_armed_ || window_ends_.empty()) return;
  is_armed_ = true;
  timers_->schedule(window_ends_.front().due_at, [weak_owner = weak_from_this()] {
    if (const auto owner = weak_owner.lock()) owner->on_resources_due();
  });
}

void coalescer::on_resources_due() {
  std::vector<model::change> changes;
  {
    const std::lock_guard lock(mutex_);
    is_armed_ = false;
    const auto now = clock::now();
    while (!window_ends_.empty() && window_ends_.front().due_at <= now) {
      auto uri = std::move(window_ends_.front().uri);
      window_ends_.pop_front();
      const auto position = recent_.find(uri);
      if (!std::exchange(position->second.is_pending, false)) {
        recent_.erase(position);
        continue;
      }
      changes.push_back(std::move(position->second.latest));
      window_ends_.push_back({now + durations_.resource, std::move(uri)});
    }
    arm_resources();
  }
  for (const auto& change : changes) {
    count(change.kind, change_outcome::sent);
    feed_->publish(change);
  }
}

coalescer::list_window& coalescer::window_of(model::change::change_kind kind) {
  switch (kind) {
    case model::change::change_kind::tools:
      return tools_;
    case model::change::change_kind::prompts:
      return prompts_;
    default:
      return resources_;
  }
}

void coalescer::push_list(const model::change& change) {
  {
    const std::lock_guard lock(mutex_);
    auto& window = window_of(change.kind);
    window.last = clock::now();
    if (window.is_open) {
      if (std::exchange(window.is_pending, true)) count(change.kind, change_outcome::coalesced);
      return;
    }
    window.is_open = true;
    window.end = window.last + durations_.list;
    arm_list(change.kind, window.last + durations_.quiet);
  }
  count(change.kind, change_outcome::sent);
  feed_->publish(change);
}

void coalescer::arm_list(model::change::change_kind kind, clock::time_point due_at) {
  timers_->schedule(due_at, [weak_owner = weak_from_this(), kind] {
    if (const auto owner = weak_owner.lock()) owner->on_list_due(kind);
  });
}

void coalescer::on_list_due(model::change::change_kind kind) {
  {
    const std::lock_guard lock(mutex_);
    auto& window = window_of(kind);
    const auto now = clock::now();
    const auto quiet_end = std::min(window.last + durations_.quiet, window.end);
    if (window.is_pending && now < quiet_end) return arm_list(kind, quiet_end);
    window.is_open = false;
    if (!std::exchange(window.is_pending, false)) return;
    // A change directly after this one waits too.
    window.is_open = true;
    window.end = now + durations_.list;
    window.last = now;
    arm_list(kind, now + durations_.quiet);
  }
  count(kind, change_outcome::sent);
  feed_->publish({kind, {}, {}});
}

}  // namespace hondana::catalog
