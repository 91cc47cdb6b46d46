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
constexpr std::size_t slice = 64;
// Limit of listeners that event loops have still to notify, over all changes: 8 MiB. Beyond it, the publishing thread notifies
// by itself.
constexpr std::size_t most_queued = 512u << 10;
// How many listeners ahead the memory of a listener is prefetched, and then the memory that it refers to.
constexpr std::size_t far = 8;
constexpr std::size_t near = 4;
// Size of the memory that is prefetched for a listener; may exceed its real size.
struct memory {
  char bytes[320];
};
void fetch(const listener* who) { executor::fetch(reinterpret_cast<const memory*>(who)); }

}  // namespace

/// The listeners that one change concerns, grouped by event loop. They are notified without the lock: a listener may be
/// leaving, and its last reference may be ours.
class feed::audience {
 public:
  void add(const listener* who, const membership& one) { expected_.emplace_back(who, &one); }

  /// Requires the lock, so that no listener can leave.
  void gather() {
    for (std::size_t i = 0; i < expected_.size(); ++i) {
      if (i + far < expected_.size()) {
        executor::fetch(expected_[i + far].second);
        __builtin_prefetch(reinterpret_cast<const char*>(expected_[i + far].first) - sizeof(std::shared_ptr<listener>));
      }
      take(*expected_[i].second);
    }
    expected_.clear();
  }

  void tell(const model::change& what, const std::shared_ptr<std::atomic<std::size_t>>& queued) {
    for (auto& part : all_) {
      const auto place = part.place.lock();
      if (!place) {
        // The event loop has ended; or these listeners have none, and are notified here.
        if (part.name != nullptr) continue;
        for (const auto& one : part.who) one->heard(what);
        continue;
      }
      const auto count = part.who.size();
      if (queued->load(std::memory_order_relaxed) > most_queued) {
        for (const auto& one : part.who) one->heard(what);
        continue;
      }
      queued->fetch_add(count, std::memory_order_relaxed);
      const std::shared_ptr<void> counted(nullptr,
                                          [queued, count](void*) { queued->fetch_sub(count, std::memory_order_relaxed); });
      place->take_turns(
          [what, counted, who = std::make_shared<listeners>(std::move(part.who)), next = std::size_t{0}]() mutable {
            for (const auto until = std::min(who->size(), next + slice); next < until;) {
              if (next + far < who->size()) fetch((*who)[next + far].get());
              if (next + near < who->size()) (*who)[next + near]->come_near();
              const auto one = std::move((*who)[next++]);
              one->heard(what);
            }
            return next < who->size();
          });
    }
  }

 private:
  using listeners = std::vector<std::shared_ptr<listener>>;
  struct group {
    const executor::turns* name;
    std::weak_ptr<executor::turns> place;
    listeners who;
  };

  void take(const membership& one) {
    auto there = one.who.lock();
    if (!there) return;
    if (all_.empty() || all_[last_].name != one.place_name) find(one);
    all_[last_].who.push_back(std::move(there));
  }

  void find(const membership& one) {
    const auto found = std::find_if(all_.begin(), all_.end(), [&one](const auto& part) { return part.name == one.place_name; });
    last_ = static_cast<std::size_t>(found - all_.begin());
    if (found == all_.end()) all_.push_back({one.place_name, one.place, {}});
  }

  std::vector<std::pair<const listener*, const membership*>> expected_;
  std::vector<group> all_;
  std::size_t last_ = 0;
};

feed::membership& feed::member(const std::shared_ptr<listener>& who) {
  const auto [place, is_new] = members_.try_emplace(who.get());
  auto& one = place->second;
  if (is_new) {
    one.who = who;
    const auto where = who->place();
    one.place = where;
    one.place_name = where.get();
    one.asked = ++askings_;
  }
  return one;
}

void feed::join(const std::shared_ptr<listener>& who, bool of_resources) {
  bool is_first = false;
  {
    const std::lock_guard lock(mutex_);
    auto& one = member(who);
    one.hears_lists = true;
    if (of_resources && !std::exchange(one.hears_resources, true)) is_first = list_watchers_++ == 0;
  }
  if (is_first && on_list_interest_) on_list_interest_();
}

bool feed::watch(const std::shared_ptr<listener>& who, const std::string& uri) {
  const auto cost = cost_of(uri);
  {
    const std::lock_guard lock(mutex_);
    const auto known = members_.find(who.get());
    if (known != members_.end() && known->second.uris.contains(uri)) return true;
    const auto mine = known == members_.end() ? 0 : known->second.bytes;
    if (cost > byte_cap_ - bytes_ || mine + cost > byte_cap_ / 4) return false;
    bytes_ += cost;
    auto& one = member(who);
    one.bytes += cost;
    one.uris.emplace(uri, false);
  }
  settle(*who, uri);
  return true;
}

void feed::settle(const listener& who, const std::string& uri) {
  bool hears = false;
  bool is_interest_new = false;
  // If the rules change during `may_hear`, its answer is outdated and it is called again.
  for (std::uint64_t asked = 0;; hears = who.may_hear(uri)) {
    const std::lock_guard lock(mutex_);
    const auto place = members_.find(&who);
    if (place == members_.end()) return;
    const auto watch = place->second.uris.find(uri);
    if (watch == place->second.uris.end()) return;
    if (std::exchange(asked, place->second.asked) != asked) continue;
    if (std::exchange(watch->second, hears) == hears) return;
    is_interest_new = hears ? hear(&who, place->second, uri) : unhear(&who, uri);
    break;
  }
  if (is_interest_new) tell(uri);
}

/// Requires the lock.
bool feed::hear(const listener* who, const membership& one, const std::string& uri) {
  auto& watching = by_resource_[resource_of(uri)];
  auto& mine_there = watching.who[who];
  ++mine_there.spellings;
  mine_there.of = &one;
  return ++watching.parts[std::string(part_in(uri))] == 1;
}

/// Requires the lock.
bool feed::unhear(const listener* who, const std::string& uri) {
  const auto place = by_resource_.find(resource_of(uri));
  if (place == by_resource_.end()) return false;
  auto& watching = place->second;
  const auto count = watching.who.find(who);
  if (count != watching.who.end() && --count->second.spellings == 0) watching.who.erase(count);
  const auto part = watching.parts.find(part_in(uri));
  const bool is_last = part != watching.parts.end() && --part->second == 0;
  if (is_last) watching.parts.erase(part);
  if (watching.who.empty()) by_resource_.erase(place);
  return is_last;
}

void feed::unwatch(const listener& who, const std::string& uri) {
  bool is_last = false;
  {
    const std::lock_guard lock(mutex_);
    const auto one = members_.find(&who);
    if (one == members_.end()) return;
    const auto watch = one->second.uris.find(uri);
    if (watch == one->second.uris.end()) return;
    one->second.bytes -= cost_of(uri);
    bytes_ -= cost_of(uri);
    is_last = watch->second && unhear(&who, uri);
    one->second.uris.erase(watch);
    if (one->second.uris.empty() && !one->second.hears_lists) members_.erase(one);
  }
  if (is_last) tell(uri);
}

void feed::reconsider(const listener& who) {
  std::vector<std::string> watched;
  {
    const std::lock_guard lock(mutex_);
    const auto place = members_.find(&who);
    if (place == members_.end()) return;
    place->second.asked = ++askings_;
    for (const auto& [uri, heard] : place->second.uris) watched.push_back(uri);
  }
  for (const auto& uri : watched) settle(who, uri);
}

void feed::rules_changed(const std::shared_ptr<const gate::gate>& now) const {
  std::vector<std::shared_ptr<listener>> all;
  {
    const std::lock_guard lock(mutex_);
    all.reserve(members_.size());
    for (const auto& [who, one] : members_) {
      if (auto there = one.who.lock()) all.push_back(std::move(there));
    }
  }
  for (const auto& one : all) one->rules_changed(now);
}

void feed::leave(const listener& who) {
  std::vector<std::string> gone;
  bool is_last = false;
  {
    const std::lock_guard lock(mutex_);
    const auto one = members_.find(&who);
    if (one == members_.end()) return;
    bytes_ -= one->second.bytes;
    for (const auto& [uri, heard] : one->second.uris) {
      if (heard && unhear(&who, uri)) gone.push_back(uri);
    }
    is_last = one->second.hears_resources && --list_watchers_ == 0;
    members_.erase(one);
  }
  for (const auto& uri : gone) tell(uri);
  if (is_last && on_list_interest_) on_list_interest_();
}

void feed::tell(const std::string& uri) const {
  if (on_interest_) on_interest_(uri);
}

void feed::publish(const model::change& what) {
  audience concerned;
  {
    const std::lock_guard lock(mutex_);
    if (what.kind == model::change::what::content) {
      const auto watching = by_resource_.find(resource_of(what.uri));
      if (watching == by_resource_.end()) return;
      if (what.is_exact && !watching->second.parts.contains(part_in(what.uri))) return;
      for (const auto& [who, entry] : watching->second.who) {
        if (what.is_exact) {
          const auto one = entry.of->uris.find(what.uri);
          if (one == entry.of->uris.end() || !one->second) continue;
        }
        concerned.add(who, *entry.of);
      }
    } else {
      for (const auto& [who, one] : members_) {
        if (one.hears_lists) concerned.add(who, one);
      }
    }
    concerned.gather();
  }
  concerned.tell(what, queued_);
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

bool feed::is_list_watched() const {
  const std::lock_guard lock(mutex_);
  return list_watchers_ != 0;
}

bool feed::is_part_watched(const std::string& uri) const {
  const std::lock_guard lock(mutex_);
  const auto watching = by_resource_.find(resource_of(uri));
  return watching != by_resource_.end() && watching->second.parts.contains(part_in(uri));
}

std::vector<std::string> feed::watched_uris() const {
  std::vector<std::string> out;
  const std::lock_guard lock(mutex_);
  out.reserve(by_resource_.size());
  for (const auto& [resource, by] : by_resource_) {
    for (const auto& [part, count] : by.parts) out.push_back(resource + part);
  }
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

namespace {

enum class fate : std::uint8_t { told, coalesced, unheard };

/// Counts changes by fate, for all servers of this process.
void count(model::change::what kind, fate how) {
  static const auto& all = *new auto(counters::sums::make(
      {"hondana_changes", counters::kind::counter, "",
       "Changes, by kind and fate: sent to clients, merged with another change, or not watched by any client."},
      {{"kind", {"content", "list"}}, {"fate", {"told", "coalesced", "unheard"}}}));
  all->add((kind == model::change::what::content ? 0 : 3) + static_cast<std::size_t>(how));
}

}  // namespace

coalescer::coalescer(std::shared_ptr<feed> to, std::shared_ptr<executor::timers> timers, windows with)
    : feed_(std::move(to)), timers_(std::move(timers)), within_(with) {}

void coalescer::take(const model::change& what) {
  if (what.kind == model::change::what::content) {
    take_content(what);
  } else {
    take_list(what);
  }
}

std::size_t coalescer::size() const {
  const std::lock_guard lock(mutex_);
  return recent_.size();
}

void coalescer::take_content(const model::change& what) {
  const bool is_heard = what.is_exact ? feed_->is_part_watched(what.uri) : feed_->is_watched(resource_of(what.uri));
  if (!is_heard) return count(what.kind, fate::unheard);
  {
    const std::lock_guard lock(mutex_);
    const auto [place, is_new] = recent_.try_emplace(what.uri);
    if (!is_new) {
      auto& one = place->second;
      const bool is_another = std::exchange(one.is_pending, true);
      if (is_another) count(what.kind, fate::coalesced);
      // The merged change must reach every listener that the previous one concerned.
      const bool is_exact = what.is_exact && (!is_another || one.latest.is_exact);
      const bool is_alias = what.is_alias && (!is_another || one.latest.is_alias);
      // Listeners of the alias may be allowed to see it but not its target, so the target's title is not used.
      const bool is_title_of_before = is_another && what.is_alias && !is_alias;
      auto title = std::exchange(one.latest, what).title;
      if (is_title_of_before) one.latest.title = std::move(title);
      one.latest.is_exact = is_exact;
      one.latest.is_alias = is_alias;
      return;
    }
    by_time_.push_back({clock::now() + within_.resource, what.uri});
    arm_resources();
  }
  count(what.kind, fate::told);
  feed_->publish(what);
}

void coalescer::arm_resources() {
  if (is_armed_ || by_time_.empty()) return;
  is_armed_ = true;
  timers_->at(by_time_.front().when, [late = weak_from_this()] {
    if (const auto self = late.lock()) self->resources_due();
  });
}

void coalescer::resources_due() {
  std::vector<model::change> told;
  {
    const std::lock_guard lock(mutex_);
    is_armed_ = false;
    const auto now = clock::now();
    while (!by_time_.empty() && by_time_.front().when <= now) {
      auto uri = std::move(by_time_.front().uri);
      by_time_.pop_front();
      const auto place = recent_.find(uri);
      if (!std::exchange(place->second.is_pending, false)) {
        recent_.erase(place);
        continue;
      }
      told.push_back(std::move(place->second.latest));
      by_time_.push_back({now + within_.resource, std::move(uri)});
    }
    arm_resources();
  }
  for (const auto& one : told) {
    count(one.kind, fate::told);
    feed_->publish(one);
  }
}

coalescer::list_window& coalescer::window_of(model::change::what kind) {
  switch (kind) {
    case model::change::what::tools:
      return tools_;
    case model::change::what::prompts:
      return prompts_;
    default:
      return resources_;
  }
}

void coalescer::take_list(const model::change& what) {
  {
    const std::lock_guard lock(mutex_);
    auto& one = window_of(what.kind);
    one.last = clock::now();
    if (one.is_open) {
      if (std::exchange(one.is_pending, true)) count(what.kind, fate::coalesced);
      return;
    }
    one.is_open = true;
    one.end = one.last + within_.list;
    arm_list(what.kind, one.last + within_.quiet);
  }
  count(what.kind, fate::told);
  feed_->publish(what);
}

void coalescer::arm_list(model::change::what kind, clock::time_point when) {
  timers_->at(when, [late = weak_from_this(), kind] {
    if (const auto self = late.lock()) self->list_due(kind);
  });
}

void coalescer::list_due(model::change::what kind) {
  {
    const std::lock_guard lock(mutex_);
    auto& one = window_of(kind);
    const auto now = clock::now();
    const auto until = std::min(one.last + within_.quiet, one.end);
    if (one.is_pending && now < until) return arm_list(kind, until);
    one.is_open = false;
    if (!std::exchange(one.is_pending, false)) return;
    // A change directly after this one waits too.
    one.is_open = true;
    one.end = now + within_.list;
    one.last = now;
    arm_list(kind, now + within_.quiet);
  }
  count(kind, fate::told);
  feed_->publish({kind, {}, {}});
}

}  // namespace hondana::catalog
