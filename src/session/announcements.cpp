/// Noting changes, and telling them one by one.
#include "session/announcements.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "wire/logging.hpp"

namespace hondana::session {

announcements::announcements(std::shared_ptr<catalog::feed> from, const wire::codec* manners,
                             std::optional<rpc::request_id> tag)
    : feed_(std::move(from)), tag_(std::move(tag)), manners_(manners) {}

announcements::~announcements() { feed_->leave(*this); }

void announcements::begin(const wire::codec& manners) {
  std::function<void()> wake;
  {
    const std::lock_guard lock(mutex_);
    manners_ = &manners;
    wake = due_wake();
  }
  if (wake) wake();
}

void announcements::say_first(std::string message) {
  std::function<void()> wake;
  {
    const std::lock_guard lock(mutex_);
    first_.push_back(std::move(message));
    wake = due_wake();
  }
  if (wake) wake();
}

void announcements::want_lists(bool resources, bool tools, bool prompts) {
  const std::lock_guard lock(mutex_);
  wants_resources_ = resources;
  wants_tools_ = tools;
  wants_prompts_ = prompts;
}

bool announcements::watch(const std::string& uri, const std::string& asked, std::size_t limit) {
  const std::lock_guard lock(mutex_);
  if (auto* known = find(uri)) {
    known->asked = asked;
    return true;
  }
  if (watched_count_ + entries_count_ >= limit) return false;
  ++watched_count_;
  watched_[catalog::resource_of(uri)].push_back({uri, asked, {}, false});
  return true;
}

/// Under the lock.
announcements::watch_note* announcements::find(const std::string& uri) {
  const auto place = watched_.find(catalog::resource_of(uri));
  if (place == watched_.end()) return nullptr;
  const auto one =
      std::find_if(place->second.begin(), place->second.end(), [&uri](const auto& note) { return note.uri == uri; });
  return one == place->second.end() ? nullptr : &*one;
}

void announcements::unwatch(const std::string& uri) {
  const std::lock_guard lock(mutex_);
  const auto place = watched_.find(catalog::resource_of(uri));
  if (place == watched_.end()) return;
  const auto gone = std::erase_if(place->second, [&uri](const auto& note) { return note.uri == uri; });
  watched_count_ -= gone;
  if (gone != 0) std::erase(pending_, uri);
  if (place->second.empty()) watched_.erase(place);
}

bool announcements::watch_entry(const std::string& uri, const std::string& asked, std::shared_ptr<const view> through,
                                const std::shared_ptr<catalog::lookups>& by, std::size_t limit) {
  const std::lock_guard lock(mutex_);
  auto* one = find_entry(uri);
  if (one == nullptr) {
    if (watched_count_ + entries_count_ >= limit) return false;
    ++entries_count_;
    auto& of_resource = entries_[catalog::resource_of(uri)];
    of_resource.emplace_back();
    one = &of_resource.back();
    one->uri = uri;
  }
  one->asked = asked;
  one->through = std::move(through);
  lookups_ = by;
  return true;
}

/// Under the lock.
announcements::entry_note* announcements::find_entry(const std::string& uri) {
  const auto place = entries_.find(catalog::resource_of(uri));
  if (place == entries_.end()) return nullptr;
  const auto one =
      std::find_if(place->second.begin(), place->second.end(), [&uri](const auto& note) { return note.uri == uri; });
  return one == place->second.end() ? nullptr : &*one;
}

void announcements::unwatch_entry(const std::string& uri) {
  const std::lock_guard lock(mutex_);
  const auto place = entries_.find(catalog::resource_of(uri));
  if (place == entries_.end()) return;
  const auto gone = std::erase_if(place->second, [&uri](const auto& note) { return note.uri == uri; });
  entries_count_ -= gone;
  if (gone != 0) std::erase(found_, uri);
  if (place->second.empty()) entries_.erase(place);
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
  return watched_count_ + entries_count_ + fresh.size() <= limit;
}

void announcements::close() {
  feed_->leave(*this);
  std::function<void()> wake;
  {
    const std::lock_guard lock(mutex_);
    has_ended_ = true;
    resources_ = tools_ = prompts_ = false;
    pending_.clear();
    messages_.clear();
    watched_.clear();
    watched_count_ = 0;
    entries_.clear();
    entries_count_ = 0;
    found_.clear();
    wake = std::exchange(wake_, nullptr);
  }
  if (wake) wake();  // whoever follows looks once more, and lets go
}

std::size_t announcements::watched() const {
  const std::lock_guard lock(mutex_);
  return watched_count_ + entries_count_;
}

void announcements::heard(const model::change& what) {
  std::function<void()> wake;
  std::shared_ptr<catalog::lookups> by;
  std::vector<std::string> asked_for;
  {
    const std::lock_guard lock(mutex_);
    if (has_ended_) return;
    asked_for = note_entries(what);
    if (!asked_for.empty()) by = lookups_;
    if (note(what)) wake = due_wake();
  }
  if (wake) wake();
  for (const auto& uri : asked_for) look_up(uri, by);
}

std::vector<std::string> announcements::note_entries(const model::change& what) {
  std::vector<std::string> asked_for;
  if (what.kind != model::change::what::content) return asked_for;
  const auto place = entries_.find(catalog::resource_of(what.uri));
  if (place == entries_.end()) return asked_for;
  const bool is_whole = what.uri.size() == place->first.size();
  for (auto& one : place->second) {
    if (!is_whole && one.uri != what.uri) continue;
    one.title = what.title;
    one.is_stale = one.is_asked_for;
    if (!std::exchange(one.is_asked_for, true)) asked_for.push_back(one.uri);
  }
  return asked_for;
}

void announcements::look_up(const std::string& uri, const std::shared_ptr<catalog::lookups>& by) {
  by->ask(uri, [to = weak_from_this(), uri](std::shared_ptr<const resource> entry) {
    if (const auto there = to.lock()) there->looked_up(uri, std::move(entry));
  });
}

void announcements::looked_up(const std::string& uri, std::shared_ptr<const resource> entry) {
  std::function<void()> wake;
  std::shared_ptr<catalog::lookups> again;
  {
    const std::lock_guard lock(mutex_);
    auto* const found = find_entry(uri);
    if (found == nullptr) return;
    auto& one = *found;
    // Told even when another lookup follows: else a resource that never rests would never be told of.
    if (catalog::may_see(one.through.get(), uri)) {
      one.now = std::move(entry);
      if (!std::exchange(one.is_pending, true)) found_.push_back(uri);
      wake = due_wake();
    }
    one.is_asked_for = std::exchange(one.is_stale, false);
    if (one.is_asked_for) again = lookups_;
  }
  if (wake) wake();
  if (again) look_up(uri, again);
}

void announcements::told(const model::log_message& what) {
  constexpr std::size_t most_messages = 100;
  constexpr std::size_t longest = 64 * 1024;
  auto text = wire::log_notification(what.level, what.logger, what.data);
  if (text.size() > longest) text = wire::log_notification(what.level, what.logger, "[a message of more than 64 KiB left out]");
  std::function<void()> wake;
  {
    const std::lock_guard lock(mutex_);
    if (has_ended_ || !least_ || what.level < *least_) return;
    if (messages_.size() == most_messages) messages_.pop_front();
    messages_.push_back(std::move(text));
    wake = due_wake();
  }
  if (wake) wake();
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
  const auto place = watched_.find(catalog::resource_of(what.uri));
  if (place == watched_.end()) return false;
  const bool is_whole = what.uri.size() == place->first.size();
  bool is_new = false;
  for (auto& one : place->second) {
    if (!is_whole && one.uri != what.uri) continue;
    one.title = what.title;
    if (std::exchange(one.is_pending, true)) continue;
    pending_.push_back(one.uri);
    is_new = true;
  }
  return is_new;
}

std::optional<std::string> announcements::next() {
  const std::lock_guard lock(mutex_);
  if (!first_.empty()) {
    auto message = std::move(first_.front());
    first_.pop_front();
    return message;
  }
  if (manners_ != nullptr) {
    if (const auto what = take()) return manners_->encode_change(*what, tag_);
    if (!messages_.empty()) {
      auto message = std::move(messages_.front());
      messages_.pop_front();
      return message;
    }
  }
  is_asleep_ = true;
  return {};
}

std::optional<model::change> announcements::take() {
  using kind = model::change::what;
  if (std::exchange(resources_, false)) return model::change{kind::resources};
  if (std::exchange(tools_, false)) return model::change{kind::tools};
  if (std::exchange(prompts_, false)) return model::change{kind::prompts};
  if (!pending_.empty()) {
    auto& one = *find(pending_.front());
    pending_.pop_front();
    one.is_pending = false;
    return model::change{kind::content, one.asked, std::exchange(one.title, {})};
  }
  if (found_.empty()) return {};
  auto& one = *find_entry(found_.front());
  found_.pop_front();
  one.is_pending = false;
  return model::change{kind::entry, one.asked, one.title, std::exchange(one.now, {})};
}

void announcements::follow(std::function<void()> wake) {
  std::function<void()> now;
  {
    const std::lock_guard lock(mutex_);
    wake_ = std::move(wake);
    is_asleep_ = true;
    now = has_ended_ ? std::exchange(wake_, nullptr) : due_wake();
  }
  if (now) now();
}

bool announcements::has_ended() const {
  const std::lock_guard lock(mutex_);
  return has_ended_;
}

bool announcements::has_something() const {
  const bool has_changes = resources_ || tools_ || prompts_ || !pending_.empty() || !found_.empty();
  return !first_.empty() || (manners_ != nullptr && (has_changes || !messages_.empty()));
}

std::function<void()> announcements::due_wake() {
  if (!wake_ || !is_asleep_ || !has_something()) return nullptr;
  is_asleep_ = false;
  return wake_;
}

}  // namespace hondana::session
