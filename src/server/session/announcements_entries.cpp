/// Changes that are told as entries: noted, looked up, and ready when that is done.
#include <algorithm>
#include <utility>

#include "server/session/announcements.hpp"

namespace hondana::session {

/// Under the lock.
announcements::entry_notes& announcements::entries() {
  if (!entries_) entries_ = std::make_unique<entry_notes>();
  return *entries_;
}

bool announcements::watch_entry(const std::string& uri, const std::string& asked, std::size_t limit) {
  const std::lock_guard lock(mutex_);
  auto* one = find_entry(uri);
  if (one == nullptr) {
    if (count() >= limit) return false;
    ++entries().count;
    auto& of_resource = entries().by_resource[catalog::resource_of(uri)];
    of_resource.emplace_back();
    one = &of_resource.back();
    one->uri = uri;
  }
  one->asked = asked;
  return true;
}

/// Under the lock.
announcements::entry_note* announcements::find_entry(const std::string& uri) {
  if (!entries_) return nullptr;
  const auto place = entries_->by_resource.find(catalog::resource_in(uri));
  if (place == entries_->by_resource.end()) return nullptr;
  const auto one =
      std::find_if(place->second.begin(), place->second.end(), [&uri](const auto& note) { return note.uri == uri; });
  return one == place->second.end() ? nullptr : &*one;
}

owed announcements::unwatch_entry(const std::string& uri) {
  const std::lock_guard lock(mutex_);
  if (!entries_) return owed::nothing;
  const auto place = entries_->by_resource.find(catalog::resource_in(uri));
  if (place == entries_->by_resource.end()) return owed::nothing;
  const auto* known = find_entry(uri);
  auto left = owed::nothing;
  if (known != nullptr && (known->is_pending || known->is_asked_for))
    left = known->is_alias && (!known->is_stale || known->is_next_alias) ? owed::change_of_alias : owed::change;
  const auto gone = std::erase_if(place->second, [&uri](const auto& note) { return note.uri == uri; });
  entries_->count -= gone;
  if (gone != 0) std::erase(entries_->found, uri);
  if (place->second.empty()) entries_->by_resource.erase(place);
  return left;
}

std::vector<model::change> announcements::note_entries(const model::change& what) {
  std::vector<model::change> asked_for;
  if (what.kind != model::change::what::content) return asked_for;
  const auto place = entries_->by_resource.find(catalog::resource_in(what.uri));
  if (place == entries_->by_resource.end()) return asked_for;
  const bool is_whole = !what.is_exact && what.uri.size() == place->first.size();
  for (auto& one : place->second) {
    if ((!is_whole && one.uri != what.uri) || !is_seen(one.uri)) continue;
    one.title = is_readable(one.uri) ? what.title : std::string();
    if (one.is_asked_for) {
      one.is_next_alias = what.is_alias && (!one.is_stale || one.is_next_alias);
      one.is_stale = true;
    } else {
      one.is_alias = what.is_alias;
      one.is_asked_for = true;
      asked_for.push_back(only_of(one.uri, what.is_alias));
    }
  }
  return asked_for;
}

void announcements::look_up(const model::change& what, const way& by) {
  auto done = [to = weak_from_this(), uri = what.uri, through = by.through](std::shared_ptr<const resource> entry) {
    if (const auto there = to.lock()) there->looked_up(uri, through, std::move(entry));
  };
  // What was not found is not told then.
  const bool is_unsure = by.through && (what.is_alias || by.through->looks_at_entries());
  if (is_unsure) {
    by.from->ask_patiently(what.uri, by.through, std::move(done));
  } else {
    by.from->ask(what.uri, by.through, std::move(done));
  }
}

void announcements::looked_up(const std::string& uri, const std::shared_ptr<const view>& through,
                              std::shared_ptr<const resource> entry) {
  std::shared_ptr<rpc::follower> woken;
  std::optional<way> again;
  model::change next;
  {
    const std::lock_guard lock(mutex_);
    auto* const found = find_entry(uri);
    if (found == nullptr) return;
    auto& one = *found;
    const auto now = way_now();
    const bool is_told = is_seen(uri);
    const bool is_hidden_or_gone = !entry && now.through && (now.through->looks_at_entries() || one.is_alias);
    // Told even when another lookup follows: else a resource that never rests would never be told of.
    if (is_told && now.through == through && !is_hidden_or_gone) {
      one.now = std::move(entry);
      if (!std::exchange(one.is_pending, true)) entries_->found.push_back(uri);
      woken = due_wake();
    }
    const bool is_stale = std::exchange(one.is_stale, false);
    const bool is_of_another_view = now.through != through;
    one.is_asked_for = is_told && (is_stale || is_of_another_view);
    if (is_stale) one.is_alias = one.is_next_alias && (!is_of_another_view || one.is_alias);
    if (one.is_asked_for) again = now;
    next = only_of(uri, one.is_alias);
  }
  if (woken) woken->wake();
  if (again) look_up(next, *again);
}

}  // namespace hondana::session
