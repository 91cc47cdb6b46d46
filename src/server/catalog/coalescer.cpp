/// Windows, and what waits for their ends.
#include "server/catalog/coalescer.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/counters/families.hpp"

namespace hondana::catalog {
namespace {

enum class fate : std::uint8_t { told, coalesced, unheard };

/// What becomes of changes, of all servers of this process.
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
      // Whoever the one before it concerned hears of it, too.
      const bool is_exact = what.is_exact && (!is_another || one.latest.is_exact);
      const bool is_alias = what.is_alias && (!is_another || one.latest.is_alias);
      // What another name leads to may be hidden from who is told of the one's own change, and so its title.
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
    // What comes right after this one waits too.
    one.is_open = true;
    one.end = now + within_.list;
    one.last = now;
    arm_list(kind, now + within_.quiet);
  }
  count(kind, fate::told);
  feed_->publish({kind, {}, {}});
}

}  // namespace hondana::catalog
