/// Change streams: the notifications that a client has not received yet, coalesced until it can take them.
#include "server/session/change_stream.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "server/session/log_messages.hpp"
#include "server/session/request_accounting.hpp"

namespace hondana::session {

announcements::announcements(std::shared_ptr<catalog::feed> from, const wire::codec* manners,
                             std::optional<rpc::request_id> tag)
    : feed_(std::move(from)), tag_(std::move(tag)), manners_(manners) {}

announcements::~announcements() { feed_->leave(*this); }

void announcements::begin(const wire::codec& manners) {
  std::shared_ptr<rpc::follower> woken;
  {
    const std::lock_guard lock(mutex_);
    manners_ = &manners;
    woken = due_wake();
  }
  if (woken) woken->wake();
}

void announcements::say_first(std::string message) {
  std::shared_ptr<rpc::follower> woken;
  {
    const std::lock_guard lock(mutex_);
    first_.push_back(std::move(message));
    woken = due_wake();
  }
  if (woken) woken->wake();
}

void announcements::want_lists(bool resources, bool tools, bool prompts) {
  const std::lock_guard lock(mutex_);
  wants_resources_ = resources;
  wants_tools_ = tools;
  wants_prompts_ = prompts;
}

bool announcements::watch(const std::string& uri, const std::string& asked, std::size_t limit) {
  const std::lock_guard lock(mutex_);
  auto spelled = asked == uri ? std::string() : asked;
  if (auto* known = find(uri)) {
    known->asked = std::move(spelled);
    return true;
  }
  if (count() >= limit) return false;
  ++watched_count_;
  auto resource = catalog::resource_of(uri);
  auto part = uri.substr(resource.size());
  auto& all = watched_[std::move(resource)];
  all.reserve(all.size() + 1);
  all.push_back({std::move(part), std::move(spelled), {}, false});
  return true;
}

/// Requires the lock.
announcements::watch_note* announcements::find(const std::string& uri) {
  const auto place = watched_.find(catalog::resource_in(uri));
  if (place == watched_.end()) return nullptr;
  const auto one = std::find_if(place->second.begin(), place->second.end(),
                                [part = catalog::part_in(uri)](const auto& note) { return note.part == part; });
  return one == place->second.end() ? nullptr : &*one;
}

owed announcements::unwatch(const std::string& uri) {
  const std::lock_guard lock(mutex_);
  const auto place = watched_.find(catalog::resource_in(uri));
  if (place == watched_.end()) return owed::nothing;
  const auto* known = find(uri);
  auto left = owed::nothing;
  if (known != nullptr && known->is_pending && !known->is_alias) {
    left = owed::change;
  } else if (known != nullptr && (known->is_pending || known->is_asked_for)) {
    // A change with a running lookup is sent only if the entry is found, also if it is not for an alias.
    left = owed::change_of_alias;
  }
  watched_count_ -=
      std::erase_if(place->second, [part = catalog::part_in(uri)](const auto& note) { return note.part == part; });
  const auto is_pending = [](const auto& note) { return note.is_pending; };
  if (std::none_of(place->second.begin(), place->second.end(), is_pending)) pending_.remove(&*place);
  if (place->second.empty()) watched_.erase(place);
  return left;
}

void announcements::owe(const std::string& uri, owed what) {
  if (what != owed::nothing) heard(only_of(uri, what == owed::change_of_alias));
}

bool announcements::watches(const std::string& uri) {
  const std::lock_guard lock(mutex_);
  return find(uri) != nullptr || find_entry(uri) != nullptr;
}

bool announcements::has_room_for(const std::vector<std::string>& uris, std::size_t limit) {
  const std::lock_guard lock(mutex_);
  std::unordered_set<std::string_view> fresh;
  for (const auto& uri : uris) {
    if (find(uri) == nullptr && find_entry(uri) == nullptr) fresh.insert(uri);
  }
  return count() + fresh.size() <= limit;
}

void announcements::close() {
  feed_->leave(*this);
  std::shared_ptr<rpc::follower> woken;
  {
    const std::lock_guard lock(mutex_);
    has_ended_ = true;
    resources_ = tools_ = prompts_ = false;
    pending_.clear();
    messages_.clear();
    watched_.clear();
    watched_count_ = 0;
    entries_.reset();
    woken = std::exchange(follower_, {}).lock();
  }
  if (woken) woken->wake();  // the follower checks once more, and releases this object
}

std::size_t announcements::watched() const {
  const std::lock_guard lock(mutex_);
  return count();
}

void announcements::stay_at(const std::shared_ptr<executor::turns>& where) {
  const std::lock_guard lock(mutex_);
  place_ = where;
}

std::shared_ptr<executor::turns> announcements::place() const {
  const std::lock_guard lock(mutex_);
  return place_.lock();
}

void announcements::heard(const model::change& what) {
  std::shared_ptr<rpc::follower> woken;
  std::vector<model::change> asked_for;
  std::vector<model::change> unsure;
  way by;
  {
    const std::lock_guard lock(mutex_);
    if (has_ended_) return;
    if (entries_) asked_for = note_entries(what);
    unsure = unsure_of(what);
    if (!asked_for.empty() || !unsure.empty()) by = way_now();
    if (note(what)) woken = due_wake();
  }
  if (woken) woken->wake();
  for (const auto& one : asked_for) look_up(one, by);
  for (auto& one : unsure) make_sure_of(std::move(one), by);
}

void announcements::told(const model::log_message& what) {
  constexpr std::size_t most_messages = 100;
  const auto is_wanted = [&] { return !has_ended_ && least_ && what.level >= *least_; };
  {
    const std::lock_guard lock(mutex_);
    if (!is_wanted()) return;
  }
  auto text = log_text(what.level, what.logger, what.data);
  std::shared_ptr<rpc::follower> woken;
  {
    const std::lock_guard lock(mutex_);
    if (!is_wanted()) return;
    if (messages_.size() == most_messages) {
      messages_.pop_front();
      request_figures::here().dropped();
    }
    messages_.push_back(std::move(text));
    woken = due_wake();
  }
  if (woken) woken->wake();
}

void announcements::want_messages(log_level least) {
  const std::lock_guard lock(mutex_);
  least_ = least;
}

bool announcements::note(const model::change& what) {
  using kind = model::change::what;
  switch (what.kind) {
    case kind::resources:
      return wants_resources_ && !std::exchange(resources_, true);
    case kind::tools:
      return wants_tools_ && !std::exchange(tools_, true);
    case kind::prompts:
      return wants_prompts_ && !std::exchange(prompts_, true);
    case kind::content:
    case kind::entry:
      break;
  }
  return note_content(what, false);
}

std::optional<std::string> announcements::next() {
  const std::lock_guard lock(mutex_);
  auto message = make_next();
  if (!message) is_asleep_ = true;
  return message;
}

std::optional<std::string> announcements::next_of(bool& has_more) {
  const std::lock_guard lock(mutex_);
  auto message = make_next();
  has_more = has_something();
  if (!has_more) is_asleep_ = true;
  return message;
}

/// Requires the lock.
std::optional<std::string> announcements::make_next() {
  if (!first_.empty()) {
    auto message = std::move(first_.front());
    first_.pop_front();
    return message;
  }
  if (manners_ == nullptr) return {};
  if (const auto what = take()) {
    request_figures::here().told();
    return manners_->encode_change(*what, tag_);
  }
  if (messages_.empty()) return {};
  auto message = std::move(messages_.front());
  messages_.pop_front();
  return message;
}

std::optional<model::change> announcements::take() {
  using kind = model::change::what;
  if (std::exchange(resources_, false)) return model::change{kind::resources};
  if (std::exchange(tools_, false)) return model::change{kind::tools};
  if (std::exchange(prompts_, false)) return model::change{kind::prompts};
  if (!pending_.empty()) return take_content();
  if (!entries_ || entries_->found.empty()) return {};
  auto& one = *find_entry(entries_->found.front());
  entries_->found.pop_front();
  one.is_pending = false;
  return model::change{kind::entry, one.asked, one.title, std::exchange(one.now, {})};
}

/// Takes one note of the first resource.
model::change announcements::take_content() {
  auto& [resource, all] = *pending_.front();
  const auto is_pending = [](const auto& note) { return note.is_pending; };
  const auto one = std::find_if(all.begin(), all.end(), is_pending);
  one->is_pending = false;
  if (std::none_of(one, all.end(), is_pending)) pending_.pop_front();
  const auto title = std::exchange(one->title, nullptr);
  return {model::change::what::content, one->asked.empty() ? resource + one->part : one->asked,
          title ? std::move(*title) : std::string()};
}

void announcements::come_near() const noexcept { rpc::fetch(near_.load(std::memory_order_relaxed)); }

void announcements::follow(std::weak_ptr<rpc::follower> who) {
  std::shared_ptr<rpc::follower> woken;
  {
    const std::lock_guard lock(mutex_);
    near_ = who.lock().get();
    follower_ = std::move(who);
    is_asleep_ = true;
    woken = has_ended_ ? std::exchange(follower_, {}).lock() : due_wake();
  }
  if (woken) woken->wake();
}

bool announcements::has_ended() const { return has_ended_; }

bool announcements::has_something() const {
  const bool has_changes = resources_ || tools_ || prompts_ || !pending_.empty() || (entries_ && !entries_->found.empty());
  return !first_.empty() || (manners_ != nullptr && (has_changes || !messages_.empty()));
}

std::shared_ptr<rpc::follower> announcements::due_wake() {
  if (!is_asleep_ || !has_something()) return nullptr;
  auto who = follower_.lock();
  if (who) is_asleep_ = false;
  return who;
}

/// Requires the lock.
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

/// Requires the lock.
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
  // Without an entry, nothing is sent in this case, so the lookup must be patient.
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
    // Sent even if another lookup follows: otherwise a resource that changes constantly would never be reported.
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
