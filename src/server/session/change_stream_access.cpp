/// Which changes a stream may send to its callers, and what happens when access rules change.

#include <algorithm>
#include <utility>

#include "server/access/access_views.hpp"
#include "server/session/change_stream.hpp"

namespace hondana::session {
namespace {

bool is_one_view(const view* one, const view* other) {
  return one == other || (one != nullptr && other != nullptr && one->id() == other->id());
}

// Authenticators may create a new proof object for each request.
bool is_one_proof(const proof* one, const proof* other) {
  if (one == other) return true;
  return one != nullptr && other != nullptr && one->client == other->client && one->scopes == other->scopes &&
         one->claims == other->claims;
}

}  // namespace

bool sees_alike(const caller& one, const caller& other) {
  return one.identity == other.identity && is_one_view(one.view.get(), other.view.get()) &&
         is_one_proof(one.proof.get(), other.proof.get());
}

model::change announcements::only_of(std::string uri, bool is_alias) {
  model::change out{model::change::what::content, std::move(uri), {}};
  out.is_exact = true;
  out.is_alias = is_alias;
  return out;
}

std::uint64_t announcements::sight_changes() const {
  const std::lock_guard lock(mutex_);
  return sight_ ? sight_->changes : 0;
}

bool announcements::may_hear(std::string_view uri) const {
  const std::lock_guard lock(mutex_);
  return is_seen(uri);
}

void announcements::see_as(side playing, const caller& who, const std::shared_ptr<const gate::gate>& by,
                           const std::shared_ptr<catalog::lookups>& from) {
  std::unique_lock lock(mutex_);
  if (has_ended_) return;
  if (!sight_) sight_ = std::make_unique<sight>();
  auto& known = sight_->who[static_cast<std::size_t>(playing)];
  const bool is_same = known && sees_alike(*known, who);
  if (is_same && sight_->by == by) return;
  if (!is_same) known = std::make_shared<const caller>(who);
  sight_->by = by;
  sight_->from = from;
  settle_sight(std::move(lock));
}

void announcements::rules_changed(const std::shared_ptr<const gate::gate>& now) {
  std::unique_lock lock(mutex_);
  if (has_ended_ || !sight_) return;
  sight_->by = now;
  settle_sight(std::move(lock));
}

void announcements::settle_sight(std::unique_lock<std::mutex> lock) {
  const auto again = look_anew();
  lock.unlock();
  if (!again) return;
  feed_->reconsider(*this);
  for (const auto& what : *again) heard(what);
}

std::optional<std::vector<model::change>> announcements::look_anew() {
  std::shared_ptr<const view> now;
  for (const auto& one : sight_->who) {
    auto shown = one ? sight_->by->view_of(*one) : nullptr;
    if (!shown || shown == now) continue;
    now = now ? std::make_shared<const access::narrowed>(std::move(now), std::move(shown)) : std::move(shown);
  }
  if (is_one_view(now.get(), sight_->through.get())) return std::nullopt;
  sight_->through = std::move(now);
  ++sight_->changes;
  std::vector<model::change> again;
  if (sight_->through) forget_unseen(again);
  return again;
}

void announcements::forget_unseen(std::vector<model::change>& asked_again) {
  const auto is_told = [&](const std::string& uri, bool is_alias) {
    if (!is_seen(uri)) return false;
    auto what = only_of(uri, is_alias);
    if (!is_unsure(what)) return true;
    asked_again.push_back(std::move(what));
    return false;
  };
  for (auto* place : pending_) {
    for (auto& one : place->second) {
      if (one.is_pending && !is_told(place->first + one.part, one.is_alias)) one.is_pending = false;
      if (one.title && !is_readable(place->first + one.part)) one.title = nullptr;
    }
  }
  std::erase_if(pending_, [](const auto* place) {
    return std::none_of(place->second.begin(), place->second.end(), [](const auto& one) { return one.is_pending; });
  });
  if (!entries_) return;
  // These entries were looked up with another access filter, so they are looked up again.
  for (const auto& uri : std::exchange(entries_->found, {})) {
    auto& one = *find_entry(uri);
    one.is_pending = false;
    one.now = nullptr;
    if (is_seen(uri)) asked_again.push_back(only_of(uri, one.is_alias));
  }
}

bool announcements::is_unsure(const model::change& what) const {
  const auto* seen = present_view();
  return seen != nullptr && (seen->looks_at_entries() || what.is_alias);
}

/// `is_sure`: an entry was found, so the change may be sent.
bool announcements::note_content(const model::change& what, bool is_sure) {
  if (!is_sure && is_unsure(what)) return false;
  const auto place = watched_.find(catalog::resource_in(what.uri));
  if (place == watched_.end()) return false;
  const bool has_view = present_view() != nullptr;
  const auto part = catalog::part_in(what.uri);
  bool was_pending = false;
  bool is_new = false;
  for (auto& one : place->second) {
    was_pending = was_pending || one.is_pending;
    if ((what.is_exact || !part.empty()) && one.part != part) continue;
    const auto whole = has_view ? place->first + one.part : std::string();
    if (!is_seen(whole)) continue;
    // A title may come from the content.
    const bool has_title = !what.title.empty() && is_readable(whole);
    one.title = has_title ? std::make_unique<std::string>(what.title) : nullptr;
    one.is_alias = what.is_alias && (!one.is_pending || one.is_alias);
    if (!std::exchange(one.is_pending, true)) is_new = true;
  }
  if (is_new && !was_pending) pending_.push_back(&*place);
  return is_new;
}

std::vector<model::change> announcements::unsure_of(const model::change& what) {
  std::vector<model::change> all;
  if (what.kind != model::change::what::content || !is_unsure(what)) return all;
  const auto place = watched_.find(catalog::resource_in(what.uri));
  if (place == watched_.end()) return all;
  const auto part = catalog::part_in(what.uri);
  for (auto& one : place->second) {
    if ((what.is_exact || !part.empty()) && one.part != part) continue;
    auto uri = place->first + one.part;
    if (!is_seen(uri)) continue;
    if (one.is_asked_for) {
      one.is_next_alias = what.is_alias && (!one.is_stale || one.is_next_alias);
      one.is_stale = true;
    } else {
      one.is_asked_for = true;
      all.push_back(only_of(std::move(uri), what.is_alias));
    }
  }
  return all;
}

void announcements::make_sure_of(model::change what, const way& by) {
  const auto uri = what.uri;
  by.from->ask_patiently(
      uri, by.through,
      [to = weak_from_this(), what = std::move(what), through = by.through](const std::shared_ptr<const resource>& entry) {
        if (const auto there = to.lock()) there->made_sure_of(what, through, entry.get());
      });
}

void announcements::made_sure_of(model::change what, const std::shared_ptr<const view>& through, const resource* entry) {
  std::shared_ptr<rpc::follower> woken;
  std::optional<model::change> again;
  {
    const std::lock_guard lock(mutex_);
    auto* const note = find(what.uri);
    if (has_ended_ || note == nullptr) return;
    const bool is_stale = std::exchange(note->is_stale, false);
    const bool is_too_old = way_now().through != through;
    note->is_asked_for = false;
    if (is_stale || is_too_old) again = only_of(what.uri, (!is_too_old || what.is_alias) && (!is_stale || note->is_next_alias));
    if (entry != nullptr && !is_too_old) {
      what.title = entry->title;
      if (note_content(what, true)) woken = due_wake();
    }
  }
  if (woken) woken->wake();
  if (again) heard(*again);
}

}  // namespace hondana::session
