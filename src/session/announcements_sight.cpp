/// What may be told of changes, to whom, and when that changes.
#include <algorithm>
#include <utility>

#include "access/decisions.hpp"
#include "session/announcements.hpp"

namespace hondana::session {
namespace {

bool is_one_view(const view* one, const view* other) {
  return one == other || (one != nullptr && other != nullptr && one->id() == other->id());
}

// Authenticators may make a proof anew for every request.
bool is_one_proof(const proof* one, const proof* other) {
  if (one == other) return true;
  return one != nullptr && other != nullptr && one->client == other->client && one->scopes == other->scopes &&
         one->claims == other->claims;
}

model::change only_of(const std::string& uri) {
  model::change out{model::change::what::content, uri, {}};
  out.is_exact = true;
  return out;
}

}  // namespace

bool sees_alike(const caller& one, const caller& other) {
  return one.identity == other.identity && is_one_view(one.view.get(), other.view.get()) &&
         is_one_proof(one.proof.get(), other.proof.get());
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
  for (const auto& uri : *again) heard(only_of(uri));
}

std::optional<std::vector<std::string>> announcements::look_anew() {
  std::shared_ptr<const view> now;
  for (const auto& one : sight_->who) {
    auto shown = one ? sight_->by->view_of(*one) : nullptr;
    if (!shown || shown == now) continue;
    now = now ? std::make_shared<const access::narrowed>(std::move(now), std::move(shown)) : std::move(shown);
  }
  if (is_one_view(now.get(), sight_->through.get())) return std::nullopt;
  sight_->through = std::move(now);
  ++sight_->changes;
  std::vector<std::string> again;
  if (sight_->through) forget_unseen(again);
  return again;
}

void announcements::forget_unseen(std::vector<std::string>& asked_again) {
  const auto& seen = *sight_->through;
  const auto is_told = [&](const std::string& uri) {
    if (!is_seen(uri)) return false;
    if (seen.looks_at_entries()) asked_again.push_back(uri);
    return !seen.looks_at_entries();
  };
  for (auto* place : pending_) {
    for (auto& one : place->second) {
      if (one.is_pending && !is_told(place->first + one.part)) one.is_pending = false;
      if (one.title && !is_readable(place->first + one.part)) one.title = nullptr;
    }
  }
  std::erase_if(pending_, [](const auto* place) {
    return std::none_of(place->second.begin(), place->second.end(), [](const auto& one) { return one.is_pending; });
  });
  if (!entries_) return;
  // Found through another view: what they say is asked for again.
  for (const auto& uri : std::exchange(entries_->found, {})) {
    auto& one = *find_entry(uri);
    one.is_pending = false;
    one.now = nullptr;
    if (is_seen(uri)) asked_again.push_back(uri);
  }
}

/// `is_exact`: of its parts nothing is told. `is_sure`: that it may be told, where the URI alone does not say so.
bool announcements::note_content(std::string_view uri, std::string_view title, bool is_exact, bool is_sure) {
  const auto* seen = present_view();
  if (seen != nullptr && seen->looks_at_entries() && !is_sure) return false;
  const auto place = watched_.find(catalog::resource_in(uri));
  if (place == watched_.end()) return false;
  const auto part = catalog::part_in(uri);
  bool was_pending = false;
  bool is_new = false;
  for (auto& one : place->second) {
    was_pending = was_pending || one.is_pending;
    if ((is_exact || !part.empty()) && one.part != part) continue;
    const auto whole = seen != nullptr ? place->first + one.part : std::string();
    if (!is_seen(whole)) continue;
    // A title may stand in the content.
    const bool has_title = !title.empty() && is_readable(whole);
    one.title = has_title ? std::make_unique<std::string>(title) : nullptr;
    if (!std::exchange(one.is_pending, true)) is_new = true;
  }
  if (is_new && !was_pending) pending_.push_back(&*place);
  return is_new;
}

std::vector<std::string> announcements::unsure_of(const model::change& what) const {
  std::vector<std::string> all;
  const auto* seen = present_view();
  if (seen == nullptr || !seen->looks_at_entries() || what.kind != model::change::what::content) return all;
  const auto place = watched_.find(catalog::resource_in(what.uri));
  if (place == watched_.end()) return all;
  const auto part = catalog::part_in(what.uri);
  for (const auto& one : place->second) {
    if ((what.is_exact || !part.empty()) && one.part != part) continue;
    if (auto uri = place->first + one.part; is_seen(uri)) all.push_back(std::move(uri));
  }
  return all;
}

void announcements::make_sure_of(const std::string& uri, const way& by) {
  by.from->ask(uri, by.through, [to = weak_from_this(), uri, through = by.through](std::shared_ptr<const resource> entry) {
    if (const auto there = to.lock(); there && entry) there->made_sure_of(uri, through, *entry);
  });
}

void announcements::made_sure_of(const std::string& uri, const std::shared_ptr<const view>& through, const resource& entry) {
  std::shared_ptr<rpc::follower> woken;
  bool is_too_old = false;
  {
    const std::lock_guard lock(mutex_);
    if (has_ended_) return;
    is_too_old = way_now().through != through;
    if (!is_too_old && note_content(uri, entry.title, true, true)) woken = due_wake();
  }
  if (woken) woken->wake();
  if (is_too_old) heard(only_of(uri));
}

}  // namespace hondana::session
