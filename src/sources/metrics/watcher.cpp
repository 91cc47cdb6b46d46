/// Notifies subscribers when a metric has new samples, or when a condition on it begins or ceases to hold.
#include "sources/metrics/watcher.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>
#include <vector>

#include <hondana/clock.hpp>

#include "base/executor/thread_guards.hpp"
#include "text/secrets/redactor.hpp"

namespace hondana::metrics {
namespace {

std::string key_of(const series_verdict& entry) {
  return entry.is_absence ? std::string("absent") : '{' + series::to_text(entry.series.id);
}

}  // namespace

crossing_detector::series_state crossing_detector::next_state(const condition_status& status, const series_state* previous,
                                                              series::instant time) const {
  series_state out;
  out.verdict_at = time;
  if (status.current == condition_status::state::quiet) return out;
  if (previous != nullptr && previous->is_met) {
    // After a gap, the condition is assumed to have lasted. Anything before the last verdict was already reported.
    const bool is_continued = status.may_be_earlier || status.active_since <= previous->verdict_at;
    out.active_since = is_continued ? previous->active_since : status.active_since;
    out.is_met = is_continued || status.current == condition_status::state::met;
    return out;
  }
  out.active_since = status.active_since;
  // A series that did not meet the condition at the last verdict can only have begun to meet it later, even if the steps of
  // this verdict skip the change.
  if (previous != nullptr)
    out.active_since = previous->active_since                       ? std::max(status.active_since, *previous->active_since)
                       : status.active_since > previous->verdict_at ? status.active_since
                                                                    : time;
  out.is_met = status.current == condition_status::state::met && time - *out.active_since >= hold_duration_;
  return out;
}

void crossing_detector::initialize(const verdict& verdict, series::instant time) {
  for (const auto& entry : verdict.series) {
    if (entry.status.current == condition_status::state::unknown) continue;
    last_verdict_at_ = time;
    states_[key_of(entry)] = next_state(entry.status, nullptr, time);
  }
}

bool crossing_detector::update(const verdict& verdict, series::instant time, series::duration gap) {
  if (last_verdict_at_ && time < *last_verdict_at_) return false;
  bool is_crossed = false;
  std::map<std::string, series_state, std::less<>> current;
  for (const auto& entry : verdict.series) {
    if (entry.status.current == condition_status::state::unknown) continue;
    // Set only if some series is known. Otherwise, one verdict of a clock far ahead would make all later ones look outdated.
    last_verdict_at_ = time;
    auto key = key_of(entry);
    const auto existing = states_.find(key);
    const auto* const previous = existing == states_.end() ? nullptr : &existing->second;
    const auto updated = next_state(entry.status, previous, time);
    is_crossed = is_crossed || updated.is_met != (previous != nullptr && previous->is_met);
    current[std::move(key)] = updated;
  }
  for (auto& [key, state] : states_) {
    if (current.contains(key)) continue;
    if (!state.missing_since) state.missing_since = time;
    if (time - *state.missing_since <= gap) {
      current.emplace(key, state);
    } else {
      is_crossed = is_crossed || state.is_met;
    }
  }
  states_ = std::move(current);
  return is_crossed;
}

struct watcher::watched_uri {
  std::string uri;
  address parsed_uri;
  series::instant attached_at = 0;  // the source's newest scrape when the watch began
  bool is_silent = false;
  bool is_unchecked = true;  // the state at the time of `attached_at` has not been checked yet
  bool has_logged_error = false;
  std::optional<series::instant> newest{};
  std::optional<std::string> etag{};
  crossing_detector states;
};

watcher::watcher(watcher_options options) : options_(std::move(options)) {}

watcher::~watcher() { stop(); }

void watcher::stop() {
  thread_.request_stop();
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

series::instant watcher::now() const { return options_.now ? options_.now() : current_time(); }

void watcher::set_listener(std::shared_ptr<change_listener> listener) {
  const std::lock_guard lock(mutex_);
  listener_.swap(listener);
}

bool watcher::is_empty() const {
  const std::lock_guard lock(mutex_);
  return items_.empty();
}

void watcher::watch(const std::string& uri, const address& address, bool is_silent) {
  auto item = std::make_shared<watched_uri>();
  item->uri = uri;
  item->parsed_uri = address;
  item->states = crossing_detector(address.condition.hold_duration);
  item->is_silent = is_silent;
  item->attached_at = reference_time(now(), options_.metrics_backend->last_ingest_time(), options_.metrics_backend->interval());
  const std::lock_guard lock(mutex_);
  if (items_.contains(uri)) return;
  if (items_.size() >= options_.max_watched) {
    if (!std::exchange(has_logged_full_, true) && options_.log)
      options_.log("more than " + std::to_string(options_.max_watched) +
                   " URIs are watched: clients are not notified of changes to further ones");
    return;
  }
  items_.emplace(uri, std::move(item));
  if (!thread_.joinable()) {
    const executor::signal_blocker blocked;
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  }
  ++check_requests_;
  changed_.notify_all();
}

void watcher::unwatch(const std::string& uri) {
  const std::lock_guard lock(mutex_);
  items_.erase(uri);
}

void watcher::schedule_check() {
  const std::lock_guard lock(mutex_);
  ++check_requests_;
  changed_.notify_all();
}

void watcher::run(const std::stop_token& stop) {
  std::uint64_t handled_requests = 0;
  for (;;) {
    std::vector<std::shared_ptr<watched_uri>> items;
    {
      std::unique_lock lock(mutex_);
      if (!changed_.wait(lock, stop, [&] { return check_requests_ != handled_requests; })) return;
      handled_requests = check_requests_;
      items.reserve(items_.size());
      for (const auto& [uri, item] : items_) items.push_back(item);
    }
    for (const auto& item : items) {
      if (stop.stop_requested()) return;
      if (!check_safely(*item, stop) || item->is_silent) continue;
      std::shared_ptr<change_listener> listener;
      {
        const std::lock_guard lock(mutex_);
        const auto existing = items_.find(item->uri);
        if (existing != items_.end() && existing->second == item) listener = listener_;
      }
      if (listener) listener->content_changed(item->uri, item->parsed_uri.metric);
    }
  }
}

/// Logs exceptions, such as out of memory. The next round tries again.
bool watcher::check_safely(watched_uri& item, const std::stop_token& stop) {
  try {
    return check_item(item, stop);
  } catch (const std::exception& error) {
    if (options_.log) options_.log(item.uri + " could not be evaluated: " + error.what());
    return false;
  }
}

bool watcher::check_item(watched_uri& item, const std::stop_token& stop) {
  request_context context;
  context.caller.identity = "hondana";
  context.deadline = monotonic_clock::now() + options_.limits.timeout;
  context.stop = stop;
  if (item.parsed_uri.kind == resource_kind::metric || item.parsed_uri.kind == resource_kind::query) {
    // A range between two absolute times does not change.
    if (!item.parsed_uri.is_relative()) return false;
    if (options_.check)
      if (const auto allowed = options_.check(item.parsed_uri, context); !allowed) {
        log_error(item, allowed.error());
        return false;
      }
    return item.parsed_uri.condition.is_set() ? check_condition(item, context) : check_values(item, context);
  }
  auto etag = options_.etag ? options_.etag(item.parsed_uri, context) : std::string();
  if (etag.empty()) return false;
  const bool is_first = std::exchange(item.is_unchecked, false);
  const bool is_changed = !is_first && item.etag != etag;
  item.etag = std::move(etag);
  return is_changed;
}

void watcher::log_error(watched_uri& item, const failure& error) const {
  // The health of the source already reports its state.
  const bool is_item_error = error.code == errc::response_too_large || error.code == errc::invalid_argument;
  if (!is_item_error || std::exchange(item.has_logged_error, true) || !options_.log) return;
  options_.log(item.uri + " is watched, but cannot be evaluated: " + secrets::redact_text(error.public_text));
}

bool watcher::check_condition(watched_uri& item, const request_context& context) {
  const auto interval = options_.metrics_backend->interval();
  const auto check_at = [&](series::instant time) -> result<verdict> {
    HONDANA_TRY(const auto address, parse_address(item.uri, time));
    HONDANA_TRY(const auto range, resolve_watched_range(address, time, interval, options_.limits));
    return check_series(*options_.metrics_backend, address, range, options_.limits, context);
  };
  if (item.is_unchecked) {
    const auto initial = check_at(item.attached_at);
    if (!initial) {
      log_error(item, initial.error());
      return false;
    }
    item.states.initialize(*initial, item.attached_at);
    item.is_unchecked = false;
  }
  const auto now_reference = reference_time(now(), options_.metrics_backend->last_ingest_time(), interval);
  const auto verdict = check_at(now_reference);
  if (!verdict) log_error(item, verdict.error());
  return verdict && item.states.update(*verdict, now_reference, std::max(series::default_lookback, 2 * interval));
}

bool watcher::check_values(watched_uri& item, const request_context& context) {
  if (!item.newest) item.newest = item.attached_at;
  if (item.parsed_uri.kind == resource_kind::query) {
    const auto time = reference_time(now(), options_.metrics_backend->last_ingest_time(), options_.metrics_backend->interval());
    if (time <= *item.newest) return false;
    const auto answer = options_.metrics_backend->query(
        item.parsed_uri.promql, {time, time, options_.metrics_backend->interval()}, options_.limits.max_points, context);
    if (!answer) {
      log_error(item, answer.error());
      return false;
    }
    item.newest = time;
    return !answer->series.empty();
  }
  const auto newest = options_.metrics_backend->newest_sample_time(item.parsed_uri.selector(), context);
  if (!newest) log_error(item, newest.error());
  if (!newest || !*newest || **newest <= *item.newest) return false;
  item.newest = *newest;
  return true;
}

}  // namespace hondana::metrics
