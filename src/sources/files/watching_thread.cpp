/// The thread that hears of changes.
#include <poll.h>
#include <sys/eventfd.h>

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

#include "base/executor/without_throwing.hpp"
#include "sources/files/watching_state.hpp"

namespace hondana::files {
namespace {

using clock = monotonic_clock;
using happening = watch::happening;

constexpr std::chrono::seconds longest_sleep{60};
constexpr std::chrono::milliseconds shortest_sleep{10};  // between two looks at all roots
constexpr std::chrono::milliseconds pause_after_failure{100};

/// Names of files that say which others are served.
constexpr std::array<std::string_view, 2> rule_files{".gitignore", ".hondanaignore"};

}  // namespace

void watching::state::run() {
  bool has_failed = false;
  for (;;) {
    try {
      if (has_failed) {
        // What was taken from the queue and not passed on is lost; anything may have changed.
        if (fresh) freshness::hearing(*fresh).count_all();
        for (std::size_t i = 0; folders && i < roots.size(); ++i) folders->forget(i);
        if (to.lost) to.lost();
        still.end_hearing();
        ring();  // for errands whose ring the failed turn took
        has_failed = false;
      }
      turn();
    } catch (const std::exception& error) {
      if (has_failed) {
        // Memory, as a rule, may be short for a while.
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

/// Waits for something to happen, and works on what has.
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

/// Takes some of what has happened, and counts it at once: what is vouched for must not wait for the rest of the work.
bool watching::state::take_some(std::vector<happening>& happened, bool& is_lost) {
  freshness::hearing counted(*fresh);
  bool any = false;
  try {
    any = folders->read([&happened](happening what) { happened.push_back(std::move(what)); }, [&is_lost] { is_lost = true; });
  } catch (...) {
    // What was taken and could not be kept may have been about anything.
    counted.count_all();
    throw;
  }
  for (const auto& one : happened) {
    counted.count(one.tree, one.path);
    // What comes in its place is another, whose changes nobody hears of yet: nothing may be vouched for there from now on.
    if (one.what == happening::kind::gone && one.is_folder) folders->forget(one.tree, one.path);
  }
  if (is_lost) counted.count_all();
  return any;
}

/// Works on some of what has happened. False when that was nothing.
bool watching::state::hear_some() {
  still.begin_hearing();
  std::vector<happening> happened;
  bool is_lost = false;
  const bool any = folders && take_some(happened, is_lost);
  // Only then: who began or ceased to watch a file before something happened to it is known when that is told.
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
      // Of a folder it is its mode, which decides what of it can be seen.
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
      // What has come back meanwhile is watched no more either: the next walk covers what is there.
      if (folders) folders->forget(what.tree);
      if (to.lost) to.lost();
      return hear_changed(what.tree, {}, true, true);
  }
}

void watching::state::hear_changed(std::size_t tree, const std::string& path, bool below, bool may_be_names) {
  look_at(watched.at(*roots[tree], path, below), roots[tree].get(), path);
  to.changed(roots[tree], path, may_be_names);
}

/// Tells those that are not what they were. A folder around what has changed is another reading, whatever its own stamp says.
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
