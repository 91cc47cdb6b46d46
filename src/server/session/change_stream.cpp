/// Change streams: the notifications that a client has not received yet, coalesced until it can take them.
#include "server/session/change_stream.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "server/session/log_messages.hpp"
#include "server/session/request_accounting.hpp"

namespace hondana::session {

change_stream::change_stream(std::shared_ptr<catalog::change_feed> feed, const wire::codec* codec,
                             std::optional<rpc::request_id> tag)
    : feed_(std::move(feed)), tag_(std::move(tag)), codec_(codec) {}

change_stream::~change_stream() { feed_->remove_listener(*this); }

void change_stream::start(const wire::codec& codec) {
  std::shared_ptr<rpc::source_listener> source_listener;
  {
    const std::lock_guard lock(mutex_);
    codec_ = &codec;
    source_listener = claim_source_listener();
  }
  if (source_listener) source_listener->notify();
}

void change_stream::send_first(std::string message) {
  std::shared_ptr<rpc::source_listener> source_listener;
  {
    const std::lock_guard lock(mutex_);
    first_messages_.push_back(std::move(message));
    source_listener = claim_source_listener();
  }
  if (source_listener) source_listener->notify();
}

void change_stream::set_lists(bool resources, bool tools, bool prompts) {
  const std::lock_guard lock(mutex_);
  wants_resources_ = resources;
  wants_tools_ = tools;
  wants_prompts_ = prompts;
}

bool change_stream::watch(const std::string& uri, const std::string& requested_uri, std::size_t limit) {
  const std::lock_guard lock(mutex_);
  auto notation = requested_uri == uri ? std::string() : requested_uri;
  if (auto* existing = find(uri)) {
    existing->requested_uri = std::move(notation);
    return true;
  }
  if (count() >= limit) return false;
  ++watched_count_;
  auto resource = catalog::resource_of(uri);
  auto part = uri.substr(resource.size());
  auto& states = watched_[std::move(resource)];
  states.reserve(states.size() + 1);
  states.push_back({std::move(part), std::move(notation), {}, false});
  return true;
}

/// Requires the lock.
change_stream::watch_state* change_stream::find(const std::string& uri) {
  const auto position = watched_.find(catalog::strip_query(uri));
  if (position == watched_.end()) return nullptr;
  const auto state = std::find_if(position->second.begin(), position->second.end(),
                                  [part = catalog::query_of(uri)](const auto& candidate) { return candidate.part == part; });
  return state == position->second.end() ? nullptr : &*state;
}

pending_notification change_stream::unwatch(const std::string& uri) {
  const std::lock_guard lock(mutex_);
  const auto position = watched_.find(catalog::strip_query(uri));
  if (position == watched_.end()) return pending_notification::none;
  const auto* existing = find(uri);
  auto pending = pending_notification::none;
  if (existing != nullptr && existing->is_pending && !existing->is_alias) {
    pending = pending_notification::change;
  } else if (existing != nullptr && (existing->is_pending || existing->has_lookup)) {
    // A change with a running lookup is sent only if the entry is found, also if it is not for an alias.
    pending = pending_notification::alias_change;
  }
  watched_count_ -=
      std::erase_if(position->second, [part = catalog::query_of(uri)](const auto& state) { return state.part == part; });
  const auto is_pending = [](const auto& state) { return state.is_pending; };
  if (std::none_of(position->second.begin(), position->second.end(), is_pending)) pending_.remove(&*position);
  if (position->second.empty()) watched_.erase(position);
  return pending;
}

void change_stream::restore_pending(const std::string& uri, pending_notification notification) {
  if (notification != pending_notification::none)
    on_change(exact_change(uri, notification == pending_notification::alias_change));
}

bool change_stream::is_watching(const std::string& uri) {
  const std::lock_guard lock(mutex_);
  return find(uri) != nullptr || find_entry(uri) != nullptr;
}

bool change_stream::has_capacity_for(const std::vector<std::string>& uris, std::size_t limit) {
  const std::lock_guard lock(mutex_);
  std::unordered_set<std::string_view> added;
  for (const auto& uri : uris) {
    if (find(uri) == nullptr && find_entry(uri) == nullptr) added.insert(uri);
  }
  return count() + added.size() <= limit;
}

void change_stream::close() {
  feed_->remove_listener(*this);
  std::shared_ptr<rpc::source_listener> source_listener;
  {
    const std::lock_guard lock(mutex_);
    has_ended_ = true;
    resources_ = tools_ = prompts_ = false;
    pending_.clear();
    messages_.clear();
    watched_.clear();
    watched_count_ = 0;
    entries_.reset();
    source_listener = std::exchange(source_listener_, {}).lock();
  }
  if (source_listener) source_listener->notify();  // it checks once more, and releases this object
}

std::size_t change_stream::watched() const {
  const std::lock_guard lock(mutex_);
  return count();
}

void change_stream::set_executor(const std::shared_ptr<executor::step_executor>& executor) {
  const std::lock_guard lock(mutex_);
  executor_ = executor;
}

std::shared_ptr<executor::step_executor> change_stream::preferred_executor() const {
  const std::lock_guard lock(mutex_);
  return executor_.lock();
}

void change_stream::on_change(const model::change& change) {
  std::shared_ptr<rpc::source_listener> source_listener;
  std::vector<model::change> lookups;
  std::vector<model::change> checks;
  lookup_context lookup;
  {
    const std::lock_guard lock(mutex_);
    if (has_ended_) return;
    if (entries_) lookups = record_entries(change);
    checks = collect_lookups(change);
    if (!lookups.empty() || !checks.empty()) lookup = current_lookup();
    if (record(change)) source_listener = claim_source_listener();
  }
  if (source_listener) source_listener->notify();
  for (const auto& entry_change : lookups) look_up_entry(entry_change, lookup);
  for (auto& unverified : checks) verify(std::move(unverified), lookup);
}

void change_stream::on_log_message(const model::log_message& message) {
  constexpr std::size_t max_messages = 100;
  const auto passes_level = [&] { return !has_ended_ && min_level_ && message.level >= *min_level_; };
  {
    const std::lock_guard lock(mutex_);
    if (!passes_level()) return;
  }
  auto text = encode_log_message(message.level, message.logger, message.data);
  std::shared_ptr<rpc::source_listener> source_listener;
  {
    const std::lock_guard lock(mutex_);
    if (!passes_level()) return;
    if (messages_.size() == max_messages) {
      messages_.pop_front();
      request_metrics::global().count_dropped_message();
    }
    messages_.push_back(std::move(text));
    source_listener = claim_source_listener();
  }
  if (source_listener) source_listener->notify();
}

void change_stream::set_log_level(log_level min_level) {
  const std::lock_guard lock(mutex_);
  min_level_ = min_level;
}

bool change_stream::record(const model::change& change) {
  using kind = model::change::change_kind;
  switch (change.kind) {
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
  return record_content(change, false);
}

std::optional<std::string> change_stream::next() {
  const std::lock_guard lock(mutex_);
  auto message = encode_next();
  if (!message) is_idle_ = true;
  return message;
}

std::optional<std::string> change_stream::take_next(bool& has_more) {
  const std::lock_guard lock(mutex_);
  auto message = encode_next();
  has_more = has_messages();
  if (!has_more) is_idle_ = true;
  return message;
}

/// Requires the lock.
std::optional<std::string> change_stream::encode_next() {
  if (!first_messages_.empty()) {
    auto message = std::move(first_messages_.front());
    first_messages_.pop_front();
    return message;
  }
  if (codec_ == nullptr) return {};
  if (const auto change = pop_change()) {
    request_metrics::global().count_notification();
    return codec_->encode_change(*change, tag_);
  }
  if (messages_.empty()) return {};
  auto message = std::move(messages_.front());
  messages_.pop_front();
  return message;
}

std::optional<model::change> change_stream::pop_change() {
  using kind = model::change::change_kind;
  if (std::exchange(resources_, false)) return model::change{kind::resources};
  if (std::exchange(tools_, false)) return model::change{kind::tools};
  if (std::exchange(prompts_, false)) return model::change{kind::prompts};
  if (!pending_.empty()) return pop_content();
  if (!entries_ || entries_->ready.empty()) return {};
  auto& state = *find_entry(entries_->ready.front());
  entries_->ready.pop_front();
  state.is_pending = false;
  return model::change{kind::entry, state.requested_uri, state.title, std::exchange(state.entry, {})};
}

/// Takes one note of the first resource.
model::change change_stream::pop_content() {
  auto& [resource, states] = *pending_.front();
  const auto is_pending = [](const auto& state) { return state.is_pending; };
  const auto state = std::find_if(states.begin(), states.end(), is_pending);
  state->is_pending = false;
  if (std::none_of(state, states.end(), is_pending)) pending_.pop_front();
  const auto title = std::exchange(state->title, nullptr);
  return {model::change::change_kind::content, state->requested_uri.empty() ? resource + state->part : state->requested_uri,
          title ? std::move(*title) : std::string()};
}

void change_stream::prefetch() const noexcept { rpc::prefetch(prefetch_target_.load(std::memory_order_relaxed)); }

void change_stream::set_listener(std::weak_ptr<rpc::source_listener> new_listener) {
  std::shared_ptr<rpc::source_listener> source_listener;
  {
    const std::lock_guard lock(mutex_);
    prefetch_target_ = new_listener.lock().get();
    source_listener_ = std::move(new_listener);
    is_idle_ = true;
    source_listener = has_ended_ ? std::exchange(source_listener_, {}).lock() : claim_source_listener();
  }
  if (source_listener) source_listener->notify();
}

bool change_stream::is_finished() const { return has_ended_; }

bool change_stream::has_messages() const {
  const bool has_changes = resources_ || tools_ || prompts_ || !pending_.empty() || (entries_ && !entries_->ready.empty());
  return !first_messages_.empty() || (codec_ != nullptr && (has_changes || !messages_.empty()));
}

std::shared_ptr<rpc::source_listener> change_stream::claim_source_listener() {
  if (!is_idle_ || !has_messages()) return nullptr;
  auto source_listener = source_listener_.lock();
  if (source_listener) is_idle_ = false;
  return source_listener;
}

/// Requires the lock.
change_stream::entry_watches& change_stream::entries() {
  if (!entries_) entries_ = std::make_unique<entry_watches>();
  return *entries_;
}

bool change_stream::watch_entry(const std::string& uri, const std::string& requested_uri, std::size_t limit) {
  const std::lock_guard lock(mutex_);
  auto* state = find_entry(uri);
  if (state == nullptr) {
    if (count() >= limit) return false;
    ++entries().count;
    auto& states = entries().by_resource[catalog::resource_of(uri)];
    states.emplace_back();
    state = &states.back();
    state->uri = uri;
  }
  state->requested_uri = requested_uri;
  return true;
}

/// Requires the lock.
change_stream::entry_state* change_stream::find_entry(const std::string& uri) {
  if (!entries_) return nullptr;
  const auto position = entries_->by_resource.find(catalog::strip_query(uri));
  if (position == entries_->by_resource.end()) return nullptr;
  const auto state = std::find_if(position->second.begin(), position->second.end(),
                                  [&uri](const auto& candidate) { return candidate.uri == uri; });
  return state == position->second.end() ? nullptr : &*state;
}

pending_notification change_stream::unwatch_entry(const std::string& uri) {
  const std::lock_guard lock(mutex_);
  if (!entries_) return pending_notification::none;
  const auto position = entries_->by_resource.find(catalog::strip_query(uri));
  if (position == entries_->by_resource.end()) return pending_notification::none;
  const auto* existing = find_entry(uri);
  auto pending = pending_notification::none;
  if (existing != nullptr && (existing->is_pending || existing->has_lookup))
    pending = existing->is_alias && (!existing->is_stale || existing->is_next_alias) ? pending_notification::alias_change
                                                                                     : pending_notification::change;
  const auto removed = std::erase_if(position->second, [&uri](const auto& state) { return state.uri == uri; });
  entries_->count -= removed;
  if (removed != 0) std::erase(entries_->ready, uri);
  if (position->second.empty()) entries_->by_resource.erase(position);
  return pending;
}

std::vector<model::change> change_stream::record_entries(const model::change& change) {
  std::vector<model::change> lookups;
  if (change.kind != model::change::change_kind::content) return lookups;
  const auto position = entries_->by_resource.find(catalog::strip_query(change.uri));
  if (position == entries_->by_resource.end()) return lookups;
  const bool is_whole_resource = !change.is_exact && change.uri.size() == position->first.size();
  for (auto& state : position->second) {
    if ((!is_whole_resource && state.uri != change.uri) || !is_visible(state.uri)) continue;
    state.title = is_readable(state.uri) ? change.title : std::string();
    if (state.has_lookup) {
      state.is_next_alias = change.is_alias && (!state.is_stale || state.is_next_alias);
      state.is_stale = true;
    } else {
      state.is_alias = change.is_alias;
      state.has_lookup = true;
      lookups.push_back(exact_change(state.uri, change.is_alias));
    }
  }
  return lookups;
}

void change_stream::look_up_entry(const model::change& change, const lookup_context& lookup) {
  auto callback = [weak = weak_from_this(), uri = change.uri, filter = lookup.filter](std::shared_ptr<const resource> entry) {
    if (const auto stream = weak.lock()) stream->on_entry(uri, filter, std::move(entry));
  };
  // Without an entry, nothing is sent in this case, so the lookup must be persistent.
  const bool is_conditional = lookup.filter && (change.is_alias || lookup.filter->uses_entries());
  if (is_conditional) {
    lookup.lookups->request_persistently(change.uri, lookup.filter, std::move(callback));
  } else {
    lookup.lookups->request(change.uri, lookup.filter, std::move(callback));
  }
}

void change_stream::on_entry(const std::string& uri, const std::shared_ptr<const access_filter>& filter,
                             std::shared_ptr<const resource> entry) {
  std::shared_ptr<rpc::source_listener> source_listener;
  std::optional<lookup_context> retry;
  model::change next;
  {
    const std::lock_guard lock(mutex_);
    auto* const match = find_entry(uri);
    if (match == nullptr) return;
    auto& state = *match;
    const auto current = current_lookup();
    const bool may_send = is_visible(uri);
    const bool is_hidden_or_missing = !entry && current.filter && (current.filter->uses_entries() || state.is_alias);
    // Sent even if another lookup follows: otherwise a resource that changes constantly would never be reported.
    if (may_send && current.filter == filter && !is_hidden_or_missing) {
      state.entry = std::move(entry);
      if (!std::exchange(state.is_pending, true)) entries_->ready.push_back(uri);
      source_listener = claim_source_listener();
    }
    const bool is_stale = std::exchange(state.is_stale, false);
    const bool is_outdated = current.filter != filter;
    state.has_lookup = may_send && (is_stale || is_outdated);
    if (is_stale) state.is_alias = state.is_next_alias && (!is_outdated || state.is_alias);
    if (state.has_lookup) retry = current;
    next = exact_change(uri, state.is_alias);
  }
  if (source_listener) source_listener->notify();
  if (retry) look_up_entry(next, *retry);
}

}  // namespace hondana::session
