/// The watcher's thread, the state it shares, and the URIs that clients watch.
#include "sources/files/watcher_thread.hpp"

#include <poll.h>
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
std::optional<disk::stamp> nearest_parent_stamp(const served_root& root, std::string path) {
  while (!path.empty()) {
    path = parent_folder(path);
    if (const auto resolved = root.find(path)) return disk::stamp_of(resolved->attributes);
  }
  return std::nullopt;
}

}  // namespace

bool watched_uris::add(const std::string& uri, std::shared_ptr<const served_root> root, const std::string& path,
                       std::int64_t watched_since) {
  const auto [match, is_new] = by_uri_.try_emplace(uri);
  auto& entry = match->second;
  if (!is_new) return false;
  entry.root = std::move(root);
  entry.path = path;
  update(uri, entry);
  const auto stamp = entry.stamp ? entry.stamp : nearest_parent_stamp(*entry.root, path);
  return stamp && stamp->changed >= watched_since - tick_nanoseconds;
}

void watched_uris::remove(const std::string& uri) {
  const auto match = by_uri_.find(uri);
  if (match == by_uri_.end()) return;
  remove_paths(uri, match->second);
  by_uri_.erase(match);
}

void watched_uris::remove_paths(const std::string& uri, const entry& entry) {
  for (const auto& path : entry.access_paths) {
    const auto [begin, end] = by_path_.equal_range({entry.root.get(), path});
    const auto match = std::find_if(begin, end, [&uri](const auto& pair) { return pair.second == uri; });
    if (match != end) by_path_.erase(match);
  }
}

void watched_uris::update(const std::string& uri, entry& entry) {
  auto resolved = entry.root->find(entry.path);
  std::vector<std::string> paths{entry.path};
  if (resolved) {
    paths.push_back(resolved->path);
    paths.insert(paths.end(), resolved->links.begin(), resolved->links.end());
    std::sort(paths.begin(), paths.end());
    paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
    entry.stamp = disk::stamp_of(resolved->attributes);
    entry.is_folder = S_ISDIR(resolved->attributes.st_mode);
  } else {
    entry.stamp.reset();
  }
  entry.is_alias = paths.size() > 1 || entry.access_paths.size() > 1;
  if (paths == entry.access_paths) return;
  remove_paths(uri, entry);
  entry.access_paths = std::move(paths);
  for (const auto& path : entry.access_paths) by_path_.emplace(key{entry.root.get(), path}, uri);
}

std::vector<std::string> watched_uris::find_affected(const served_root& root, const std::string& path,
                                                     bool includes_below) const {
  std::vector<std::string> uris;
  const auto append = [&uris](auto begin, auto end) {
    for (; begin != end; ++begin) uris.push_back(begin->second);
  };
  const auto exact = by_path_.equal_range({&root, path});
  append(exact.first, exact.second);
  if (!path.empty()) {
    const auto parent = by_path_.equal_range({&root, parent_folder(path)});
    append(parent.first, parent.second);
  }
  // Paths below are contiguous: '0' is the character after '/'.
  if (includes_below && path.empty()) return this->uris_of(root);
  if (includes_below) append(by_path_.lower_bound({&root, path + '/'}), by_path_.lower_bound({&root, path + '0'}));
  std::sort(uris.begin(), uris.end());
  uris.erase(std::unique(uris.begin(), uris.end()), uris.end());
  return uris;
}

std::vector<std::string> watched_uris::uris_of(const served_root& root) const {
  std::vector<std::string> uris;
  for (const auto& [uri, entry] : by_uri_) {
    if (entry.root.get() == &root) uris.push_back(uri);
  }
  return uris;
}

bool watched_uris::has_changed(const std::string& uri) {
  const auto match = by_uri_.find(uri);
  if (match == by_uri_.end()) return false;
  auto& entry = match->second;
  const auto previous_stamp = entry.stamp;
  update(uri, entry);
  if (entry.stamp != previous_stamp) return true;
  return entry.stamp && is_racy(*entry.stamp, disk::wall_clock());
}

bool watched_uris::is_alias(const std::string& uri) const {
  const auto match = by_uri_.find(uri);
  return match != by_uri_.end() && match->second.is_alias;
}

bool watched_uris::has_entry(const std::string& uri, const served_root& root, const std::string& path) const {
  const auto match = by_uri_.find(uri);
  if (match == by_uri_.end() || match->second.root.get() != &root || !match->second.is_folder || path.empty()) return false;
  const auto& paths = match->second.access_paths;
  return std::find(paths.begin(), paths.end(), parent_folder(path)) != paths.end();
}

namespace {

using clock = monotonic_clock;
using folder_event = watch::folder_event;

constexpr std::chrono::seconds max_sleep{60};
constexpr std::chrono::milliseconds min_check_interval{10};  // between two checks of all roots
constexpr std::chrono::milliseconds failure_backoff{100};

/// Names of files that decide which others are served.
constexpr std::array<std::string_view, 2> rule_files{".gitignore", ".hondanaignore"};

}  // namespace

void watcher::state::run() {
  bool has_failed = false;
  for (;;) {
    try {
      if (has_failed) {
        // Events that were taken from the queue but not delivered are lost, so anything may have changed.
        if (tracker) change_tracker::counting_scope(*tracker).count_all();
        for (std::size_t i = 0; folders && i < roots.size(); ++i) folders->remove(i);
        if (callbacks.on_lost) callbacks.on_lost();
        delivery.end_delivery();
        wake_up();  // for tasks whose signal the failed iteration consumed
        has_failed = false;
      }
      run_once();
    } catch (const std::exception& error) {
      if (has_failed) {
        // Usually a shortage of memory, which may last for a while.
        (void)::poll(nullptr, 0, monotonic_clock::poll_timeout(failure_backoff.count()));
      } else {
        executor::run_noexcept([&] { write_log(std::string("watching files continues after an error: ") + error.what()); });
      }
      has_failed = true;
    }
    const std::lock_guard lock(mutex);
    round_finished.notify_all();
    if (!is_stopping) continue;
    is_running = false;
    delivery.stop();
    thread_exited.notify_all();
    return;
  }
}

clock::time_point watcher::state::next_wakeup() const {
  auto wake_at = std::min({clock::now() + max_sleep, next_poll, next_root_check});
  if (const auto due_at = debouncer.next_due()) wake_at = std::min(wake_at, *due_at);
  return wake_at;
}

/// Waits for events and handles them.
void watcher::state::run_once() {
  (void)waiter.wait(folders ? folders->descriptor() : -1, next_wakeup());
  constexpr int max_reads = 16;
  for (int reads = 1; handle_events() && reads < max_reads; ++reads) {
  }
  delivery.begin_delivery();
  for (const auto& [tree, path] : debouncer.pop_due(clock::now())) handle_change(tree, path, false, false);
  delivery.end_delivery();
  if (delivery.consume_check_request() || clock::now() >= next_root_check) {
    check_roots();
    next_root_check = clock::now() + std::max(settings.refresh_interval, min_check_interval);
  }
  if (clock::now() >= next_poll) check_polled();
  const std::lock_guard lock(mutex);
  if (std::find(polled.begin(), polled.end(), true) == polled.end()) {
    next_poll = clock::time_point::max();
  } else if (next_poll == clock::time_point::max()) {
    next_poll = clock::now() + settings.refresh_interval;
  }
}

/// Takes some events from the queue, and counts them at once: validators must not wait for the other work.
bool watcher::state::read_events(std::vector<folder_event>& events, bool& has_overflowed) {
  change_tracker::counting_scope scope(*tracker);
  bool has_events = false;
  try {
    has_events = folders->read([&events](folder_event event) { events.push_back(std::move(event)); },
                               [&has_overflowed] { has_overflowed = true; });
  } catch (...) {
    // Events that were taken but could not be stored may be about any path.
    scope.count_all();
    throw;
  }
  for (const auto& event : events) {
    scope.count(event.tree, event.path);
    // A folder that replaces it is not watched yet, so no file there may be validated from now on.
    if (event.kind == folder_event::event_kind::removed && event.is_folder) folders->remove(event.tree, event.path);
  }
  if (has_overflowed) scope.count_all();
  return has_events;
}

/// Handles some events. False if there were none.
bool watcher::state::handle_events() {
  delivery.begin_delivery();
  std::vector<folder_event> events;
  bool has_overflowed = false;
  const bool has_events = folders && read_events(events, has_overflowed);
  // Only now, so that a URI watched or unwatched before an event is known when that event is reported.
  run_tasks();
  for (auto& event : events) handle_event(std::move(event));
  if (has_overflowed) check_all();
  delivery.end_delivery();
  return has_events;
}

void watcher::state::run_tasks() {
  task_list pending;
  {
    const std::lock_guard lock(mutex);
    pending.swap(tasks);
    pending_watches.clear();
  }
  for (auto& task : pending) {
    switch (task.kind) {
      case watch_task::task_kind::watch:
        if (watched.add(task.uri, std::move(task.root), task.path, task.watched_since)) notify_content_changed(task.uri);
        break;
      case watch_task::task_kind::unwatch:
        watched.remove(task.uri);
        break;
      case watch_task::task_kind::check_subtree:
        check_uris(watched.find_affected(*task.root, task.path, true));
        break;
    }
  }
  if (pending.empty()) return;
  const std::lock_guard lock(mutex);
  watched_count = watched.size() + pending_watches.size();
}

void watcher::state::handle_event(folder_event event) {
  using kind = folder_event::event_kind;
  const auto slash = event.path.rfind('/');
  const auto name = std::string_view(event.path).substr(slash == std::string::npos ? 0 : slash + 1);
  if (std::find(rule_files.begin(), rule_files.end(), name) != rule_files.end() && event.kind != kind::modified) {
    handle_change(event.tree, parent_folder(event.path), true, true);
  }
  switch (event.kind) {
    case kind::closed:
      debouncer.erase({event.tree, event.path});
      return handle_change(event.tree, event.path, false, false);
    case kind::modified:
      // For a folder this is its mode, which decides what in it is accessible.
      if (event.is_folder) return handle_change(event.tree, event.path, true, true);
      if (callbacks.on_modifying) callbacks.on_modifying();
      return debouncer.touch({event.tree, event.path}, clock::now());
    case kind::appeared:
      callbacks.on_changed(roots[event.tree], event.path, true);
      return debouncer.touch({event.tree, event.path}, clock::now());
    case kind::moved_in:
      debouncer.erase({event.tree, event.path});
      return handle_change(event.tree, event.path, event.is_folder, true);
    case kind::removed:
      debouncer.erase({event.tree, event.path});
      return handle_change(event.tree, event.path, event.is_folder, true);
    case kind::tree_removed:
      check_root(event.tree);
      // A folder that has replaced it is not watched either. The next walk covers it.
      if (folders) folders->remove(event.tree);
      if (callbacks.on_lost) callbacks.on_lost();
      return handle_change(event.tree, {}, true, true);
  }
}

void watcher::state::handle_change(std::size_t tree, const std::string& path, bool includes_below, bool may_affect_names) {
  check_uris(watched.find_affected(*roots[tree], path, includes_below), roots[tree].get(), path);
  callbacks.on_changed(roots[tree], path, may_affect_names);
}

/// Notifies clients of those that have changed. A folder around a changed path has new content, even if its own stamp is the
/// same.
void watcher::state::check_uris(const std::vector<std::string>& uris, const served_root* changed_root,
                                const std::string& path) {
  for (const auto& uri : uris) {
    const bool is_listed = changed_root != nullptr && watched.has_entry(uri, *changed_root, path);
    if (watched.has_changed(uri) || is_listed) notify_content_changed(uri);
  }
}

void watcher::state::check_all() {
  for (const auto& root : roots) check_uris(watched.uris_of(*root));
  if (callbacks.on_lost) callbacks.on_lost();
}

void watcher::state::check_polled() {
  std::vector<bool> is_polled;
  {
    const std::lock_guard lock(mutex);
    is_polled = polled;
  }
  for (std::size_t i = 0; i < roots.size(); ++i) {
    if (is_polled[i]) check_uris(watched.uris_of(*roots[i]));
  }
  if (callbacks.on_lost) callbacks.on_lost();
  next_poll = clock::now() + settings.refresh_interval;
}

void watcher::state::notify_content_changed(const std::string& uri) {
  std::shared_ptr<change_listener> target;
  {
    const std::lock_guard lock(mutex);
    target = listener;
  }
  if (!target) return;
  const auto title = callbacks.find_title ? callbacks.find_title(uri) : std::string();
  if (watched.is_alias(uri)) {
    target->alias_changed(uri, title);
  } else {
    target->content_changed(uri, title);
  }
}

}  // namespace hondana::files
