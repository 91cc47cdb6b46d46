/// Watches folders for changes, by inotify or by polling, and rescans those that changed.
#include "os/watch/folder_watcher.hpp"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <stop_token>
#include <system_error>
#include <thread>
#include <utility>

#include <hondana/clock.hpp>

#include "os/disk/opened_folder.hpp"

namespace hondana::watch {
namespace {

using clock = monotonic_clock;

constexpr std::chrono::seconds shutdown_timeout{1};
constexpr std::chrono::seconds max_sleep{60};
constexpr std::chrono::minutes rescan_timeout{1};

}  // namespace

struct folder_watcher::state {
  state(std::vector<std::string> folder_paths, std::function<bool(const request_context&, const trees&)> rescan_function,
        watcher_options watch_options)
      : paths(std::move(folder_paths)),
        rescan(std::move(rescan_function)),
        options(std::move(watch_options)),
        polled(paths.size(), false) {}

  const std::vector<std::string> paths;
  const std::function<bool(const request_context&, const trees&)> rescan;
  const watcher_options options;
  const event_waiter waiter;
  std::stop_source stop_source;

  mutable std::mutex mutex;
  std::condition_variable thread_exited;
  bool is_started = false;
  bool is_running = false;
  std::vector<bool> polled;  // folders that must be polled
  trees requested;           // trees with a requested rescan
  std::mutex log_mutex;

  // Set before the thread starts; shared with walks.
  std::optional<watch::watched_folders> watched;
  // Only used by the thread:
  std::optional<clock::time_point> first, last;  // times of the first and last event since the last rescan
  trees changed_trees;                           // trees with such events
  bool is_any_tree_changed = true;               // any tree may have changed; `changed_trees` is incomplete
  clock::time_point next_rescan = clock::now();  // latest time of the next rescan; `max` if all folders are watched

  void write_log(const std::string& line) {
    const std::lock_guard lock(log_mutex);
    if (options.log && !stop_source.stop_requested()) options.log(line);
  }
  void switch_to_polling(std::size_t folder, const std::string& reason) {
    {
      const std::lock_guard lock(mutex);
      if (polled[folder]) return;
      polled[folder] = true;
    }
    write_log("changes of " + options.subject + " in " + paths[folder] + " are polled every " +
              std::to_string(options.rescan_interval.count()) + " ms: " + reason);
    waiter.wake();
  }
  void add_folder(std::size_t folder, const std::string& path, int descriptor) {
    {
      const std::lock_guard lock(mutex);
      if (!watched || polled[folder] || stop_source.stop_requested()) return;
    }
    if (path.empty() && disk::is_on_network(descriptor)) {
      return switch_to_polling(folder,
                               "they are on a network file system, where the kernel does not report changes by other machines");
    }
    if (const int error = watched->add(folder, path, descriptor); error != 0) {
      switch_to_polling(folder, "a folder cannot be watched: " + std::error_code(error, std::generic_category()).message());
    }
  }
  [[nodiscard]] bool is_polled() const {
    const std::lock_guard lock(mutex);
    return std::find(polled.begin(), polled.end(), true) != polled.end();
  }
  [[nodiscard]] clock::time_point due_at() const {
    return first ? std::min(*last + options.quiet_time, *first + options.max_delay) : next_rescan;
  }

  void record_event() {
    last = clock::now();
    if (!first) first = last;
  }
  void record_overflow() {
    is_any_tree_changed = true;
    record_event();
  }
  void handle_event(const watch::folder_event& event) {
    // For folders that appear or disappear, the next walk determines which folders to watch.
    if (event.is_folder && event.kind == watch::folder_event::event_kind::removed) watched->remove(event.tree, event.path);
    if (event.kind == watch::folder_event::event_kind::tree_removed) {
      // A walk that finds a new tree at its path watches it.
      watched->remove(event.tree);
    }
    changed_trees.insert(event.tree);
    record_event();
    if (options.allows_immediate_rescan && options.allows_immediate_rescan(event)) schedule_now();
  }
  void schedule_now() { last = *first = clock::now() - options.max_delay; }
  void accept_requests() {
    const std::lock_guard lock(mutex);
    if (requested.empty()) return;
    changed_trees.merge(requested);
    requested.clear();
    record_event();
    schedule_now();
  }
  void run_once() {
    if (next_rescan == clock::time_point::max() && is_polled()) next_rescan = clock::now() + options.rescan_interval;
    (void)waiter.wait(watched ? watched->descriptor() : -1, std::min(due_at(), clock::now() + max_sleep));
    accept_requests();
    constexpr int max_reads = 16;
    for (int i = 0; watched && i < max_reads; ++i) {
      if (!watched->read([this](const watch::folder_event& event) { handle_event(event); }, [this] { record_overflow(); }))
        break;
    }
    if (clock::now() < due_at() || stop_source.stop_requested()) return;
    // A rescan caused by the interval and not by events may find changes anywhere.
    const auto trees_to_scan = is_any_tree_changed || !first ? trees() : changed_trees;
    first.reset();
    last.reset();
    changed_trees.clear();
    request_context request;
    request.stop = stop_source.get_token();
    request.deadline = clock::now() + rescan_timeout;
    // If the rescan fails or throws, its events are not lost.
    next_rescan = clock::now() + options.rescan_interval;
    is_any_tree_changed = true;
    if (!rescan(request, trees_to_scan)) return;
    is_any_tree_changed = false;
    next_rescan = clock::time_point::max();
  }
  void run() {
    while (!stop_source.stop_requested()) {
      try {
        run_once();
      } catch (const std::exception& error) {
        write_log("watching " + options.subject + " continues after an error: " + error.what());
      }
    }
    const std::lock_guard lock(mutex);
    is_running = false;
    thread_exited.notify_all();
  }
};

folder_watcher::folder_watcher(std::vector<std::string> folders,
                               std::function<bool(const request_context&, const trees&)> rescan, watcher_options options)
    : state_(std::make_shared<state>(std::move(folders), std::move(rescan), std::move(options))) {}

folder_watcher::~folder_watcher() {
  state_->stop_source.request_stop();
  state_->waiter.wake();
  {
    const std::lock_guard lock(state_->log_mutex);  // waits for a running log call; later ones are suppressed
  }
  std::unique_lock lock(state_->mutex);
  monotonic_clock::wait_for(state_->thread_exited, lock, shutdown_timeout, [this] { return !state_->is_running; });
}

void folder_watcher::start() {
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->is_started) return;
  }
  auto queue = watch::inotify::open();
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->is_started) return;
    state_->is_started = true;
    if (queue) state_->watched.emplace(std::move(*queue), state_->options.max_folders);
    try {
      std::thread([shared_state = state_] { shared_state->run(); }).detach();
      state_->is_running = true;
    } catch (const std::system_error&) {
      state_->is_started = false;  // the next call tries again
      return;
    }
  }
  for (std::size_t i = 0; !queue && i < state_->paths.size(); ++i) state_->switch_to_polling(i, queue.error().public_text);
}

void folder_watcher::request_rescan(std::size_t folder) {
  {
    const std::lock_guard lock(state_->mutex);
    if (!state_->is_started) return;
    state_->requested.insert(folder);
  }
  state_->waiter.wake();
}

std::function<void(std::size_t, const std::string&, int)> folder_watcher::folder_adder() const {
  return [weak_state = std::weak_ptr(state_)](std::size_t folder, const std::string& path, int descriptor) {
    if (const auto locked = weak_state.lock()) locked->add_folder(folder, path, descriptor);
  };
}

std::function<void(std::size_t, const std::string&)> folder_watcher::polling_switch() const {
  return [weak_state = std::weak_ptr(state_)](std::size_t folder, const std::string& reason) {
    if (const auto locked = weak_state.lock()) locked->switch_to_polling(folder, reason);
  };
}

bool folder_watcher::is_complete() const {
  const std::lock_guard lock(state_->mutex);
  return state_->watched && std::find(state_->polled.begin(), state_->polled.end(), true) == state_->polled.end();
}

}  // namespace hondana::watch
