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

std::string key_of(const judged& one) { return one.is_absence ? std::string("absent") : '{' + series::to_text(one.of.of); }

}  // namespace

crossings::known crossings::next(const standing& how, const known* before, series::instant at) const {
  known out;
  out.at = at;
  if (how.now == standing::state::quiet) return out;
  if (before != nullptr && before->is_met) {
    // After a gap, the condition is assumed to have lasted. Anything before the last verdict was already reported.
    const bool goes_on = how.is_since_earlier || how.since <= before->at;
    out.since = goes_on ? before->since : how.since;
    out.is_met = goes_on || how.now == standing::state::met;
    return out;
  }
  out.since = how.since;
  // A series that did not meet the condition at the last verdict can only have begun to meet it later, even if the steps of
  // this verdict skip the change.
  if (before != nullptr)
    out.since = before->since ? std::max(how.since, *before->since) : how.since > before->at ? how.since : at;
  out.is_met = how.now == standing::state::met && at - *out.since >= wait_;
  return out;
}

void crossings::begin(const verdict& found, series::instant at) {
  for (const auto& one : found.all) {
    if (one.how.now == standing::state::unknown) continue;
    last_ = at;
    all_[key_of(one)] = next(one.how, nullptr, at);
  }
}

bool crossings::take(const verdict& found, series::instant at, series::duration gap) {
  if (last_ && at < *last_) return false;
  bool is_crossed = false;
  std::map<std::string, known, std::less<>> now;
  for (const auto& one : found.all) {
    if (one.how.now == standing::state::unknown) continue;
    // Set only if some series is known. Otherwise, one verdict of a clock far ahead would make all later ones look outdated.
    last_ = at;
    auto key = key_of(one);
    const auto found_before = all_.find(key);
    const auto* const before = found_before == all_.end() ? nullptr : &found_before->second;
    const auto after = next(one.how, before, at);
    is_crossed = is_crossed || after.is_met != (before != nullptr && before->is_met);
    now[std::move(key)] = after;
  }
  for (auto& [key, before] : all_) {
    if (now.contains(key)) continue;
    if (!before.missing_since) before.missing_since = at;
    if (at - *before.missing_since <= gap) {
      now.emplace(key, before);
    } else {
      is_crossed = is_crossed || before.is_met;
    }
  }
  all_ = std::move(now);
  return is_crossed;
}

struct watcher::item {
  std::string uri;
  address at;
  series::instant from = 0;  // the source's newest scrape when this was attached
  bool is_silent = false;
  bool is_fresh = true;  // the state at the time of `from` has not been checked yet
  bool has_complained = false;
  std::optional<series::instant> newest{};
  std::optional<std::string> mark{};
  crossings states;
};

watcher::watcher(watcher_options from) : options_(std::move(from)) {}

watcher::~watcher() { end(); }

void watcher::end() {
  thread_.request_stop();
  news_.notify_all();
  if (thread_.joinable()) thread_.join();
}

series::instant watcher::now() const { return options_.now ? options_.now() : present(); }

void watcher::tell_to(std::shared_ptr<change_listener> to) {
  const std::lock_guard lock(mutex_);
  to_.swap(to);
}

bool watcher::is_empty() const {
  const std::lock_guard lock(mutex_);
  return all_.empty();
}

void watcher::attach(const std::string& uri, const address& at, bool is_silent) {
  auto made = std::make_shared<item>();
  made->uri = uri;
  made->at = at;
  made->states = crossings(at.when.wait);
  made->is_silent = is_silent;
  made->from = reference(now(), options_.from->latest(), options_.from->interval());
  const std::lock_guard lock(mutex_);
  if (all_.contains(uri)) return;
  if (all_.size() >= options_.most_watched) {
    if (!std::exchange(has_said_full_, true) && options_.log)
      options_.log("more than " + std::to_string(options_.most_watched) +
                   " URIs are watched: clients are not notified of changes to further ones");
    return;
  }
  all_.emplace(uri, std::move(made));
  if (!thread_.joinable()) {
    const executor::signals_blocked quiet;
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  }
  ++stirred_;
  news_.notify_all();
}

void watcher::detach(const std::string& uri) {
  const std::lock_guard lock(mutex_);
  all_.erase(uri);
}

void watcher::stir() {
  const std::lock_guard lock(mutex_);
  ++stirred_;
  news_.notify_all();
}

void watcher::run(const std::stop_token& stop) {
  std::uint64_t done = 0;
  for (;;) {
    std::vector<std::shared_ptr<item>> all;
    {
      std::unique_lock lock(mutex_);
      if (!news_.wait(lock, stop, [&] { return stirred_ != done; })) return;
      done = stirred_;
      all.reserve(all_.size());
      for (const auto& [uri, one] : all_) all.push_back(one);
    }
    for (const auto& one : all) {
      if (stop.stop_requested()) return;
      if (!look_safely(*one, stop) || one->is_silent) continue;
      std::shared_ptr<change_listener> to;
      {
        const std::lock_guard lock(mutex_);
        const auto there = all_.find(one->uri);
        if (there != all_.end() && there->second == one) to = to_;
      }
      if (to) to->content_changed(one->uri, one->at.metric);
    }
  }
}

/// Logs exceptions, such as out of memory. The next round tries again.
bool watcher::look_safely(item& one, const std::stop_token& stop) {
  try {
    return look(one, stop);
  } catch (const std::exception& error) {
    if (options_.log) options_.log(one.uri + " could not be evaluated: " + error.what());
    return false;
  }
}

bool watcher::look(item& one, const std::stop_token& stop) {
  call by;
  by.who.identity = "hondana";
  by.deadline = monotonic_clock::now() + options_.most.time;
  by.stop = stop;
  if (one.at.of == place::metric || one.at.of == place::query) {
    // A range between two absolute times does not change.
    if (!one.at.is_relative()) return false;
    if (options_.check)
      if (const auto may = options_.check(one.at, by); !may) {
        complain(one, may.error());
        return false;
      }
    return one.at.when.is_any() ? look_at_condition(one, by) : look_at_values(one, by);
  }
  auto mark = options_.mark ? options_.mark(one.at, by) : std::string();
  if (mark.empty()) return false;
  const bool is_first = std::exchange(one.is_fresh, false);
  const bool is_told = !is_first && one.mark != mark;
  one.mark = std::move(mark);
  return is_told;
}

void watcher::complain(item& of, const failure& why) const {
  // The health of the source already reports its state.
  const bool is_about_it = why.code == errc::response_too_large || why.code == errc::invalid_argument;
  if (!is_about_it || std::exchange(of.has_complained, true) || !options_.log) return;
  options_.log(of.uri + " is watched, but cannot be evaluated: " + secrets::redact_text(why.public_text));
}

bool watcher::look_at_condition(item& one, const call& by) {
  const auto interval = options_.from->interval();
  const auto judged_at = [&](series::instant at) -> result<verdict> {
    HONDANA_TRY(const auto again, parse_address(one.uri, at));
    HONDANA_TRY(const auto span, watched_span_of(again, at, interval, options_.most));
    return judge(*options_.from, again, span, options_.most, by);
  };
  if (one.is_fresh) {
    const auto then = judged_at(one.from);
    if (!then) {
      complain(one, then.error());
      return false;
    }
    one.states.begin(*then, one.from);
    one.is_fresh = false;
  }
  const auto at = reference(now(), options_.from->latest(), interval);
  const auto found = judged_at(at);
  if (!found) complain(one, found.error());
  return found && one.states.take(*found, at, std::max(series::usual_look_back, 2 * interval));
}

bool watcher::look_at_values(item& one, const call& by) {
  if (!one.newest) one.newest = one.from;
  if (one.at.of == place::query) {
    const auto at = reference(now(), options_.from->latest(), options_.from->interval());
    if (at <= *one.newest) return false;
    const auto got = options_.from->query(one.at.promql, {at, at, options_.from->interval()}, options_.most.points, by);
    if (!got) {
      complain(one, got.error());
      return false;
    }
    one.newest = at;
    return !got->series.empty();
  }
  const auto newest = options_.from->newest(one.at.selector(), by);
  if (!newest) complain(one, newest.error());
  if (!newest || !*newest || **newest <= *one.newest) return false;
  one.newest = *newest;
  return true;
}

}  // namespace hondana::metrics
