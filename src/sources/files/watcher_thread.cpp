/// The watcher's thread, the state it shares, and the URIs that clients watch.
#include "sources/files/watcher_thread.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/clock.hpp>

#include "base/executor/thread_guards.hpp"

namespace hondana::files {
namespace {

// Time stamps are those of the last tick of the kernel's clock, some milliseconds ago.
constexpr std::int64_t tick_nanoseconds = 20'000'000;

/// The state of the nearest existing folder above a path.
std::optional<disk::stamp> state_above(const root& of, std::string path) {
  while (!path.empty()) {
    path = folder_of(path);
    if (const auto found = of.find(path)) return disk::stamp_of(found->facts);
  }
  return std::nullopt;
}

}  // namespace

bool attached::add(const std::string& uri, std::shared_ptr<const root> of, const std::string& path, std::int64_t since) {
  const auto [place, is_new] = by_uri_.try_emplace(uri);
  auto& one = place->second;
  if (!is_new) return false;
  one.of = std::move(of);
  one.path = path;
  look(uri, one);
  const auto state = one.state ? one.state : state_above(*one.of, path);
  return state && state->changed >= since - tick_nanoseconds;
}

void attached::remove(const std::string& uri) {
  const auto place = by_uri_.find(uri);
  if (place == by_uri_.end()) return;
  forget_ways(uri, place->second);
  by_uri_.erase(place);
}

void attached::forget_ways(const std::string& uri, const entry& one) {
  for (const auto& way : one.ways) {
    const auto [begin, end] = by_path_.equal_range({one.of.get(), way});
    const auto found = std::find_if(begin, end, [&uri](const auto& each) { return each.second == uri; });
    if (found != end) by_path_.erase(found);
  }
}

void attached::look(const std::string& uri, entry& one) {
  auto found = one.of->find(one.path);
  std::vector<std::string> ways{one.path};
  if (found) {
    ways.push_back(found->path);
    ways.insert(ways.end(), found->links.begin(), found->links.end());
    std::sort(ways.begin(), ways.end());
    ways.erase(std::unique(ways.begin(), ways.end()), ways.end());
    one.state = disk::stamp_of(found->facts);
    one.is_folder = S_ISDIR(found->facts.st_mode);
  } else {
    one.state.reset();
  }
  one.is_alias = ways.size() > 1 || one.ways.size() > 1;
  if (ways == one.ways) return;
  forget_ways(uri, one);
  one.ways = std::move(ways);
  for (const auto& way : one.ways) by_path_.emplace(key{one.of.get(), way}, uri);
}

std::vector<std::string> attached::at(const root& of, const std::string& path, bool below) const {
  std::vector<std::string> found;
  const auto take = [&found](auto begin, auto end) {
    for (; begin != end; ++begin) found.push_back(begin->second);
  };
  const auto exact = by_path_.equal_range({&of, path});
  take(exact.first, exact.second);
  if (!path.empty()) {
    const auto around = by_path_.equal_range({&of, folder_of(path)});
    take(around.first, around.second);
  }
  // Paths below are contiguous: '0' is the character after '/'.
  if (below && path.empty()) return this->of(of);
  if (below) take(by_path_.lower_bound({&of, path + '/'}), by_path_.lower_bound({&of, path + '0'}));
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

std::vector<std::string> attached::of(const root& which) const {
  std::vector<std::string> found;
  for (const auto& [uri, one] : by_uri_) {
    if (one.of.get() == &which) found.push_back(uri);
  }
  return found;
}

bool attached::has_changed(const std::string& uri) {
  const auto place = by_uri_.find(uri);
  if (place == by_uri_.end()) return false;
  auto& one = place->second;
  const auto before = one.state;
  look(uri, one);
  if (one.state != before) return true;
  return one.state && is_racy(*one.state, disk::wall_clock());
}

bool attached::is_alias(const std::string& uri) const {
  const auto place = by_uri_.find(uri);
  return place != by_uri_.end() && place->second.is_alias;
}

bool attached::shows(const std::string& uri, const root& of, const std::string& path) const {
  const auto place = by_uri_.find(uri);
  if (place == by_uri_.end() || place->second.of.get() != &of || !place->second.is_folder || path.empty()) return false;
  const auto& ways = place->second.ways;
  return std::find(ways.begin(), ways.end(), folder_of(path)) != ways.end();
}

namespace {

using clock = monotonic_clock;
using happening = watch::happening;

constexpr std::chrono::seconds longest_sleep{60};
constexpr std::chrono::milliseconds shortest_sleep{10};  // between two checks of all roots
constexpr std::chrono::milliseconds pause_after_failure{100};

/// Names of files that decide which others are served.
constexpr std::array<std::string_view, 2> rule_files{".gitignore", ".hondanaignore"};

}  // namespace

void watching::state::run() {
  bool has_failed = false;
  for (;;) {
    try {
      if (has_failed) {
        // Events that were taken from the queue but not passed on are lost, so anything may have changed.
        if (fresh) freshness::hearing(*fresh).count_all();
        for (std::size_t i = 0; folders && i < roots.size(); ++i) folders->forget(i);
        if (to.lost) to.lost();
        still.end_hearing();
        ring();  // for errands whose signal the failed iteration consumed
        has_failed = false;
      }
      turn();
    } catch (const std::exception& error) {
      if (has_failed) {
        // Usually a shortage of memory, which may last for a while.
        (void)::poll(nullptr, 0, monotonic_clock::poll_timeout(pause_after_failure.count()));
      } else {
        executor::without_throwing([&] { say(std::string("watching files continues after an error: ") + error.what()); });
      }
      has_failed = true;
    }
    const std::lock_guard lock(mutex);
    turned.notify_all();
    if (!is_ending) continue;
    is_running = false;
    still.end();
    left.notify_all();
    return;
  }
}

clock::time_point watching::state::next_turn() const {
  auto when = std::min({clock::now() + longest_sleep, next_look, next_follow});
  if (const auto due = settling.next()) when = std::min(when, *due);
  return when;
}

/// Waits for events and handles them.
void watching::state::turn() {
  std::array<pollfd, 2> sources{pollfd{bell, POLLIN, 0}, pollfd{folders ? folders->descriptor() : -1, POLLIN, 0}};
  const auto left_of = std::chrono::ceil<std::chrono::milliseconds>(next_turn() - clock::now()).count();
  (void)::poll(sources.data(), sources.size(), monotonic_clock::poll_timeout(std::max<std::int64_t>(left_of, 0)));
  std::uint64_t rung = 0;
  (void)::eventfd_read(bell, &rung);
  constexpr int reads_a_turn = 16;
  for (int reads = 1; hear_some() && reads < reads_a_turn; ++reads) {
  }
  still.begin_hearing();
  for (const auto& [tree, path] : settling.due(clock::now())) hear_changed(tree, path, false, false);
  still.end_hearing();
  if (still.takes_look() || clock::now() >= next_follow) {
    follow_all();
    next_follow = clock::now() + std::max(configured.refresh_after, shortest_sleep);
  }
  if (clock::now() >= next_look) look_at_polled();
  const std::lock_guard lock(mutex);
  if (std::find(polled.begin(), polled.end(), true) == polled.end()) {
    next_look = clock::time_point::max();
  } else if (next_look == clock::time_point::max()) {
    next_look = clock::now() + configured.refresh_after;
  }
}

/// Takes some events from the queue, and counts them at once: vouching for files must not wait for the other work.
bool watching::state::take_some(std::vector<happening>& happened, bool& is_lost) {
  freshness::hearing counted(*fresh);
  bool any = false;
  try {
    any = folders->read([&happened](happening what) { happened.push_back(std::move(what)); }, [&is_lost] { is_lost = true; });
  } catch (...) {
    // Events that were taken but could not be stored may be about any path.
    counted.count_all();
    throw;
  }
  for (const auto& one : happened) {
    counted.count(one.tree, one.path);
    // A folder that replaces it is not watched yet, so nothing there may be vouched for from now on.
    if (one.what == happening::kind::gone && one.is_folder) folders->forget(one.tree, one.path);
  }
  if (is_lost) counted.count_all();
  return any;
}

/// Handles some events. False if there were none.
bool watching::state::hear_some() {
  still.begin_hearing();
  std::vector<happening> happened;
  bool is_lost = false;
  const bool any = folders && take_some(happened, is_lost);
  // Only now, so that a file attached or detached before an event is known when that event is reported.
  run_errands();
  for (auto& one : happened) hear(std::move(one));
  if (is_lost) look_everywhere();
  still.end_hearing();
  return any;
}

void watching::state::run_errands() {
  errand_list all;
  {
    const std::lock_guard lock(mutex);
    all.swap(errands);
    begun.clear();
  }
  for (auto& one : all) {
    switch (one.what) {
      case errand::kind::attach:
        if (watched.add(one.uri, std::move(one.of), one.path, one.since)) tell_content(one.uri);
        break;
      case errand::kind::detach:
        watched.remove(one.uri);
        break;
      case errand::kind::look_below:
        look_at(watched.at(*one.of, one.path, true));
        break;
    }
  }
  if (all.empty()) return;
  const std::lock_guard lock(mutex);
  attached_count = watched.size() + begun.size();
}

void watching::state::hear(happening what) {
  using kind = happening::kind;
  const auto slash = what.path.rfind('/');
  const auto name = std::string_view(what.path).substr(slash == std::string::npos ? 0 : slash + 1);
  if (std::find(rule_files.begin(), rule_files.end(), name) != rule_files.end() && what.what != kind::modified) {
    hear_changed(what.tree, folder_of(what.path), true, true);
  }
  switch (what.what) {
    case kind::closed:
      settling.settle({what.tree, what.path});
      return hear_changed(what.tree, what.path, false, false);
    case kind::modified:
      // For a folder this is its mode, which decides what in it is accessible.
      if (what.is_folder) return hear_changed(what.tree, what.path, true, true);
      if (to.stirred) to.stirred();
      return settling.touch({what.tree, what.path}, clock::now());
    case kind::appeared:
      to.changed(roots[what.tree], what.path, true);
      return settling.touch({what.tree, what.path}, clock::now());
    case kind::moved_in:
      settling.settle({what.tree, what.path});
      return hear_changed(what.tree, what.path, what.is_folder, true);
    case kind::gone:
      settling.settle({what.tree, what.path});
      return hear_changed(what.tree, what.path, what.is_folder, true);
    case kind::tree_gone:
      follow(what.tree);
      // A folder that has replaced it is not watched either. The next walk covers it.
      if (folders) folders->forget(what.tree);
      if (to.lost) to.lost();
      return hear_changed(what.tree, {}, true, true);
  }
}

void watching::state::hear_changed(std::size_t tree, const std::string& path, bool below, bool may_be_names) {
  look_at(watched.at(*roots[tree], path, below), roots[tree].get(), path);
  to.changed(roots[tree], path, may_be_names);
}

/// Notifies clients of those that have changed. A folder around a changed path has new content, even if its own stamp is the
/// same.
void watching::state::look_at(const std::vector<std::string>& uris, const root* around, const std::string& path) {
  for (const auto& uri : uris) {
    const bool shows_it = around != nullptr && watched.shows(uri, *around, path);
    if (watched.has_changed(uri) || shows_it) tell_content(uri);
  }
}

void watching::state::look_everywhere() {
  for (const auto& one : roots) look_at(watched.of(*one));
  if (to.lost) to.lost();
}

void watching::state::look_at_polled() {
  std::vector<bool> which;
  {
    const std::lock_guard lock(mutex);
    which = polled;
  }
  for (std::size_t i = 0; i < roots.size(); ++i) {
    if (which[i]) look_at(watched.of(*roots[i]));
  }
  if (to.lost) to.lost();
  next_look = clock::now() + configured.refresh_after;
}

void watching::state::tell_content(const std::string& uri) {
  std::shared_ptr<change_listener> who;
  {
    const std::lock_guard lock(mutex);
    who = listener;
  }
  if (!who) return;
  const auto title = to.title_of ? to.title_of(uri) : std::string();
  if (watched.is_alias(uri)) {
    who->alias_changed(uri, title);
  } else {
    who->content_changed(uri, title);
  }
}

}  // namespace hondana::files
