/// Which changes a stream may send to its callers, and what happens when access rules change.

#include <algorithm>
#include <utility>

#include "server/access/access_filters.hpp"
#include "server/session/change_stream.hpp"

namespace hondana::session {
namespace {

bool is_same_filter(const access_filter* a, const access_filter* b) {
  return a == b || (a != nullptr && b != nullptr && a->id() == b->id());
}

// Authenticators may create a new `auth_info` for each request.
bool is_same_auth_info(const auth_info* a, const auth_info* b) {
  if (a == b) return true;
  return a != nullptr && b != nullptr && a->client == b->client && a->scopes == b->scopes && a->claims == b->claims;
}

}  // namespace

bool has_same_access(const caller_info& a, const caller_info& b) {
  return a.identity == b.identity && is_same_filter(a.access_filter.get(), b.access_filter.get()) &&
         is_same_auth_info(a.auth_info.get(), b.auth_info.get());
}

model::change change_stream::exact_change(std::string uri, bool is_alias) {
  model::change out{model::change::change_kind::content, std::move(uri), {}};
  out.is_exact = true;
  out.is_alias = is_alias;
  return out;
}

std::uint64_t change_stream::filter_generation() const {
  const std::lock_guard lock(mutex_);
  return access_ ? access_->generation : 0;
}

bool change_stream::may_receive(std::string_view uri) const {
  const std::lock_guard lock(mutex_);
  return is_visible(uri);
}

void change_stream::set_caller(party as_party, const caller_info& requester, const std::shared_ptr<const gate::gate>& gate,
                               const std::shared_ptr<catalog::entry_lookups>& lookups) {
  std::unique_lock lock(mutex_);
  if (has_ended_) return;
  if (!access_) access_ = std::make_unique<access_state>();
  auto& party_caller = access_->callers[static_cast<std::size_t>(as_party)];
  const bool is_same = party_caller && has_same_access(*party_caller, requester);
  if (is_same && access_->gate == gate) return;
  if (!is_same) party_caller = std::make_shared<const caller_info>(requester);
  access_->gate = gate;
  access_->lookups = lookups;
  apply_access(std::move(lock));
}

void change_stream::on_rules_changed(const std::shared_ptr<const gate::gate>& gate) {
  std::unique_lock lock(mutex_);
  if (has_ended_ || !access_) return;
  access_->gate = gate;
  apply_access(std::move(lock));
}

void change_stream::apply_access(std::unique_lock<std::mutex> lock) {
  const auto rechecks = refresh_filter();
  lock.unlock();
  if (!rechecks) return;
  feed_->recheck_access(*this);
  for (const auto& change : *rechecks) on_change(change);
}

std::optional<std::vector<model::change>> change_stream::refresh_filter() {
  std::shared_ptr<const access_filter> combined;
  for (const auto& caller : access_->callers) {
    auto filter = caller ? access_->gate->filter_of(*caller) : nullptr;
    if (!filter || filter == combined) continue;
    combined =
        combined ? std::make_shared<const access::combined_filter>(std::move(combined), std::move(filter)) : std::move(filter);
  }
  if (is_same_filter(combined.get(), access_->filter.get())) return std::nullopt;
  access_->filter = std::move(combined);
  ++access_->generation;
  std::vector<model::change> rechecks;
  if (access_->filter) discard_hidden(rechecks);
  return rechecks;
}

void change_stream::discard_hidden(std::vector<model::change>& rechecks) {
  const auto may_send = [&](const std::string& uri, bool is_alias) {
    if (!is_visible(uri)) return false;
    auto change = exact_change(uri, is_alias);
    if (!needs_lookup(change)) return true;
    rechecks.push_back(std::move(change));
    return false;
  };
  for (auto* item : pending_) {
    for (auto& state : item->second) {
      if (state.is_pending && !may_send(item->first + state.part, state.is_alias)) state.is_pending = false;
      if (state.title && !is_readable(item->first + state.part)) state.title = nullptr;
    }
  }
  std::erase_if(pending_, [](const auto* listed) {
    return std::none_of(listed->second.begin(), listed->second.end(), [](const auto& state) { return state.is_pending; });
  });
  if (!entries_) return;
  // These entries were looked up with another access filter, so they are looked up again.
  for (const auto& uri : std::exchange(entries_->ready, {})) {
    auto& state = *find_entry(uri);
    state.is_pending = false;
    state.entry = nullptr;
    if (is_visible(uri)) rechecks.push_back(exact_change(uri, state.is_alias));
  }
}

bool change_stream::needs_lookup(const model::change& change) const {
  const auto* filter = current_filter();
  return filter != nullptr && (filter->uses_entries() || change.is_alias);
}

/// `is_verified`: an entry was found, so the change may be sent.
bool change_stream::record_content(const model::change& change, bool is_verified) {
  if (!is_verified && needs_lookup(change)) return false;
  const auto position = watched_.find(catalog::strip_query(change.uri));
  if (position == watched_.end()) return false;
  const bool has_view = current_filter() != nullptr;
  const auto part = catalog::query_of(change.uri);
  bool was_pending = false;
  bool is_new = false;
  for (auto& state : position->second) {
    was_pending = was_pending || state.is_pending;
    if ((change.is_exact || !part.empty()) && state.part != part) continue;
    const auto uri = has_view ? position->first + state.part : std::string();
    if (!is_visible(uri)) continue;
    // A title may come from the content.
    const bool has_title = !change.title.empty() && is_readable(uri);
    state.title = has_title ? std::make_unique<std::string>(change.title) : nullptr;
    state.is_alias = change.is_alias && (!state.is_pending || state.is_alias);
    if (!std::exchange(state.is_pending, true)) is_new = true;
  }
  if (is_new && !was_pending) pending_.push_back(&*position);
  return is_new;
}

std::vector<model::change> change_stream::collect_lookups(const model::change& change) {
  std::vector<model::change> lookups;
  if (change.kind != model::change::change_kind::content || !needs_lookup(change)) return lookups;
  const auto position = watched_.find(catalog::strip_query(change.uri));
  if (position == watched_.end()) return lookups;
  const auto part = catalog::query_of(change.uri);
  for (auto& state : position->second) {
    if ((change.is_exact || !part.empty()) && state.part != part) continue;
    auto uri = position->first + state.part;
    if (!is_visible(uri)) continue;
    if (state.has_lookup) {
      state.is_next_alias = change.is_alias && (!state.is_stale || state.is_next_alias);
      state.is_stale = true;
    } else {
      state.has_lookup = true;
      lookups.push_back(exact_change(std::move(uri), change.is_alias));
    }
  }
  return lookups;
}

void change_stream::verify(model::change change, const lookup_context& lookup) {
  const auto uri = change.uri;
  lookup.lookups->request_persistently(uri, lookup.filter,
                                       [weak = weak_from_this(), verified_change = std::move(change),
                                        filter = lookup.filter](const std::shared_ptr<const resource>& entry) {
                                         if (const auto stream = weak.lock())
                                           stream->on_verified(verified_change, filter, entry.get());
                                       });
}

void change_stream::on_verified(model::change change, const std::shared_ptr<const access_filter>& filter,
                                const resource* entry) {
  std::shared_ptr<rpc::source_listener> woken;
  std::optional<model::change> retry;
  {
    const std::lock_guard lock(mutex_);
    auto* const state = find(change.uri);
    if (has_ended_ || state == nullptr) return;
    const bool is_stale = std::exchange(state->is_stale, false);
    const bool is_outdated = current_lookup().filter != filter;
    state->has_lookup = false;
    if (is_stale || is_outdated)
      retry = exact_change(change.uri, (!is_outdated || change.is_alias) && (!is_stale || state->is_next_alias));
    if (entry != nullptr && !is_outdated) {
      change.title = entry->title;
      if (record_content(change, true)) woken = claim_source_listener();
    }
  }
  if (woken) woken->notify();
  if (retry) on_change(*retry);
}

}  // namespace hondana::session
