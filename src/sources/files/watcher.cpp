/// Watches the served folders for changes, and notifies the server.
#include "sources/files/watcher.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <iterator>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include <hondana/clock.hpp>

#include "os/disk/descriptor_limit.hpp"
#include "os/disk/file_stamp.hpp"
#include "os/disk/opened_folder.hpp"
#include "sources/files/watcher_thread.hpp"

namespace hondana::files {
namespace {

constexpr std::chrono::seconds exit_timeout{1};

}  // namespace

/// Starts the thread if need be. Called with the lock held, which it releases for a while. False if there is no thread.
bool watcher::state::start(std::unique_lock<std::mutex>& lock) {
  if (is_started || !settings.watches) return is_running;
  is_started = true;
  std::vector<std::pair<std::size_t, std::string>> polled_reasons;
  auto queue = watch::inotify::open();
  if (!queue && disk::lacks_descriptors()) {
    is_started = false;  // a temporary shortage; the next call tries again
    return false;
  }
  for (std::size_t i = 0; i < roots.size(); ++i) {
    struct stat attributes{};
    if (::fstat(roots[i]->dir()->descriptor(), &attributes) == 0) devices[i] = attributes.st_dev;
    if (!queue) {
      polled_reasons.emplace_back(i, queue.error().public_text);
    } else if (disk::is_on_network(roots[i]->dir()->descriptor())) {
      polled_reasons.emplace_back(i,
                                  "it is on a network file system, where the kernel does not report changes by other machines");
    }
  }
  for (const auto& entry : polled_reasons) polled[entry.first] = true;
  if (queue) {
    folders = std::make_shared<watch::watched_folders>(std::move(*queue), settings.max_watched_folders);
    tracker = std::make_shared<change_tracker>(folders);
  }
  try {
    std::thread([owner = shared_from_this()] { owner->run(); }).detach();
    is_running = true;
    if (folders && polled_reasons.empty()) delivery.start(*folders);
  } catch (const std::system_error&) {
    is_started = false;  // the next call tries again
    return false;
  }
  lock.unlock();
  for (const auto& [index, reason] : polled_reasons) log_polling(index, reason);
  lock.lock();
  return true;
}

void watcher::state::switch_to_polling(std::size_t index, const std::string& reason) {
  {
    const std::lock_guard lock(mutex);
    if (polled[index]) return;
    polled[index] = true;
    delivery.stop();
  }
  if (folders) folders->remove(index);
  log_polling(index, reason);
  wake_up();
}

void watcher::state::check_root(std::size_t index) {
  const auto& root = roots[index];
  const auto change = root->recheck();
  if (change == root_dir::dir_change::none) return;
  write_log("the folder " + root->path() +
            (change == root_dir::dir_change::restored ? " exists again, or was replaced by another"
             : change == root_dir::dir_change::removed
                 ? " is gone; a new folder in its place will be served"
                 : " was replaced by another, which the sandbox blocks; restart the server, or allow it to "
                   "read the parent folder (docs/sandbox.md)"));
  std::shared_ptr<watch::watched_folders> watched_folders;
  {
    const std::lock_guard lock(mutex);
    watched_folders = folders;
    if (watched_count != 0) tasks.push_back({watch_task::task_kind::check_subtree, {}, root, {}, 0});
  }
  // The next walk has the new folders watched.
  if (watched_folders) watched_folders->remove(index);
  if (callbacks.on_lost) callbacks.on_lost();
  wake_up();
}

void watcher::state::check_roots() {
  const auto start_time = monotonic_clock::now();
  for (std::size_t i = 0; i < roots.size(); ++i) check_root(i);
  delivery.record_check(start_time);
}

void watcher::state::log_polling(std::size_t index, const std::string& reason) {
  write_log("changes of " + roots[index]->path() + " are polled every " + std::to_string(settings.refresh_interval.count()) +
            " ms: " + reason);
}

watcher::watcher(root_list roots, const options& options, callbacks callbacks)
    : state_(std::make_shared<state>(std::move(roots), options, std::move(callbacks))) {}

watcher::~watcher() {
  std::unique_lock lock(state_->mutex);
  state_->is_stopping = true;
  state_->delivery.stop();
  state_->listener = nullptr;
  state_->wake_up();
  const bool has_exited =
      monotonic_clock::wait_for(state_->thread_exited, lock, exit_timeout, [this] { return !state_->is_running; });
  lock.unlock();
  if (has_exited) return;
  const std::lock_guard log_lock(state_->log_mutex);
  state_->is_log_closed = true;
}

void watcher::set_listener(std::shared_ptr<change_listener> listener) {
  const std::lock_guard lock(state_->mutex);
  state_->listener = std::move(listener);
}

void watcher::watch(const std::string& uri, std::shared_ptr<const served_root> root, std::string path) {
  const auto watched_since = disk::wall_clock();
  std::unique_lock lock(state_->mutex);
  state_->tasks.push_back({watch_task::task_kind::watch, uri, std::move(root), std::move(path), watched_since});
  state_->pending_watches.insert_or_assign(uri, std::prev(state_->tasks.end()));
  ++state_->watched_count;
  (void)state_->start(lock);  // without a thread, the task waits for the next call that starts it
  state_->wake_up();
}

void watcher::unwatch(const std::string& uri) {
  const std::lock_guard lock(state_->mutex);
  if (const auto pending = state_->pending_watches.find(uri); pending != state_->pending_watches.end()) {
    state_->tasks.erase(pending->second);
    state_->pending_watches.erase(pending);
    --state_->watched_count;
    return;
  }
  state_->tasks.push_back({watch_task::task_kind::unwatch, uri, nullptr, {}, 0});
  state_->wake_up();
}

/// Whether this root is watched by the kernel, and not polled. If so, `folders` is set.
bool watcher::state::ensure_watched(std::size_t index) {
  std::unique_lock lock(mutex);
  return start(lock) && !polled[index] && !is_stopping;
}

/// Has the kernel watch one folder.
watcher::state::watch_result watcher::state::add_folder(std::size_t index, const std::string& path) {
  const auto& root = *roots[index];
  const auto resolved = root.dir()->resolve(path);
  // It has just gone, which the kernel reports, too.
  if (!resolved || resolved->path != path || !S_ISDIR(resolved->attributes.st_mode))
    return {watch_result::result_kind::removed, 0};
  if (resolved->attributes.st_dev != devices[index] && disk::is_on_network(resolved->handle.get()))
    return {watch_result::result_kind::remote, 0};
  if (const int error = folders->add(index, path, resolved->handle.get()); error != 0)
    return {watch_result::result_kind::rejected, error};
  // A new folder may have replaced this one before the watch was set. The event for that is about a folder that is not watched
  // yet.
  const auto current = root.dir()->resolve(path);
  if (!current || current->attributes.st_dev != resolved->attributes.st_dev ||
      current->attributes.st_ino != resolved->attributes.st_ino) {
    folders->remove(index, path);
    return {watch_result::result_kind::removed, 0};
  }
  const std::lock_guard lock(mutex);
  if (watched_count == 0) return {watch_result::result_kind::watched, 0};
  // Files created in it before the watch was set caused no event.
  tasks.push_back({watch_task::task_kind::check_subtree, {}, roots[index], path, 0});
  wake_up();
  return {watch_result::result_kind::watched, 0};
}

void watcher::add_folder(const served_root& root, const std::string& path) {
  auto& s = *state_;
  const auto index = s.index_of(root);
  if (!index || !s.ensure_watched(*index)) return;
  const auto added = s.add_folder(*index, path);
  const auto location = [&] { return root.path() + "/" + path; };
  if (added.kind == state::watch_result::result_kind::remote) {
    s.switch_to_polling(*index, location() + " is on a network file system");
  } else if (added.error == ENOSPC) {
    s.switch_to_polling(*index, "the user's limit of watched folders is reached (" + std::to_string(s.folders->size()) +
                                    " by this source); raise fs.inotify.max_user_watches");
  } else if (added.error != 0) {
    s.switch_to_polling(*index, location() + " cannot be watched: " + std::strerror(added.error));
  }
}

std::shared_ptr<const cache_validator> watcher::make_validator(const served_root& root, const std::string& path) const {
  const auto index = state_->index_of(root);
  std::shared_ptr<const change_tracker> tracker;
  {
    const std::lock_guard lock(state_->mutex);
    if (!index || !state_->is_running || state_->is_stopping || state_->polled[*index]) return nullptr;
    tracker = state_->tracker;
  }
  return tracker ? tracker->make_validator(*index, path) : nullptr;
}

/// Watches only the folders that matter to this reader, instead of the whole root. A folder that cannot be watched does no
/// harm, since each read then checks the file.
void watcher::watch_path(const served_root& root, const std::string& path) {
  auto& s = *state_;
  const auto index = s.index_of(root);
  if (!index || !change_tracker::can_validate(path) || !s.ensure_watched(*index)) return;
  for (std::size_t end = 0; end != std::string::npos; end = path.find('/', end + 1)) {
    const auto folder = path.substr(0, end);
    if (!s.folders->is_watched(*index, folder) &&
        s.add_folder(*index, folder).kind != state::watch_result::result_kind::watched)
      return;
  }
}

void watcher::check_root(const served_root& root) {
  if (const auto index = state_->index_of(root)) state_->check_root(*index);
}

void watcher::check_roots() { state_->check_roots(); }

void watcher::catch_up(const request_context& context, monotonic_clock::time_point deadline) const {
  auto& s = *state_;
  std::unique_lock lock(s.mutex);
  if (!s.is_running) return;
  monotonic_clock::wait_until(s.round_finished, lock, context.stop, std::min(context.deadline, deadline),
                              [&s] { return s.is_stopping || !s.is_running || s.delivery.has_caught_up(); });
}

std::shared_ptr<const delivery_monitor> watcher::delivery() const { return {state_, &state_->delivery}; }

void watcher::notify_list_changed() {
  std::shared_ptr<change_listener> listener;
  {
    const std::lock_guard lock(state_->mutex);
    listener = state_->listener;
  }
  if (listener) listener->list_changed();
}

bool watcher::watches_all_roots() const {
  const std::lock_guard lock(state_->mutex);
  return state_->is_running && std::find(state_->polled.begin(), state_->polled.end(), true) == state_->polled.end() &&
         std::none_of(state_->roots.begin(), state_->roots.end(), [](const auto& root) { return root->is_removed(); });
}

}  // namespace hondana::files
