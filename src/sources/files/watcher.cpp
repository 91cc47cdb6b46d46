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

constexpr std::chrono::seconds farewell{1};

}  // namespace

/// Starts the thread if need be. Called with the lock held, which it releases for a while. False if there is no thread.
bool watching::state::start(std::unique_lock<std::mutex>& lock) {
  if (is_started || !configured.watches) return is_running;
  is_started = true;
  std::vector<std::pair<std::size_t, std::string>> to_say;
  auto queue = watch::inotify::open();
  if (!queue && disk::lacks_descriptors()) {
    is_started = false;  // a temporary shortage; the next call tries again
    return false;
  }
  for (std::size_t i = 0; i < roots.size(); ++i) {
    struct stat facts{};
    if (::fstat(roots[i]->below()->descriptor(), &facts) == 0) device[i] = facts.st_dev;
    if (!queue) {
      to_say.emplace_back(i, queue.error().public_text);
    } else if (disk::is_on_network(roots[i]->below()->descriptor())) {
      to_say.emplace_back(i, "it is on a network file system, where the kernel does not report changes by other machines");
    }
  }
  for (const auto& one : to_say) polled[one.first] = true;
  if (queue) {
    folders = std::make_shared<watch::folders>(std::move(*queue), configured.max_watched);
    fresh = std::make_shared<freshness>(folders);
  }
  try {
    std::thread([self = shared_from_this()] { self->run(); }).detach();
    is_running = true;
    if (folders && to_say.empty()) still.begin(*folders);
  } catch (const std::system_error&) {
    is_started = false;  // the next call tries again
    return false;
  }
  lock.unlock();
  for (const auto& [which, why] : to_say) say_polled(which, why);
  lock.lock();
  return true;
}

void watching::state::look_from_now_on(std::size_t which, const std::string& why) {
  {
    const std::lock_guard lock(mutex);
    if (polled[which]) return;
    polled[which] = true;
    still.end();
  }
  if (folders) folders->forget(which);
  say_polled(which, why);
  ring();
}

void watching::state::follow(std::size_t which) {
  const auto& of = roots[which];
  const auto what = of->look_again();
  if (what == top::news::none) return;
  say("the folder " + of->path() +
      (what == top::news::back   ? " exists again, or was replaced by another"
       : what == top::news::gone ? " is gone; a new folder in its place will be served"
                                 : " was replaced by another, which the sandbox blocks; restart the server, or allow it to "
                                   "read the parent folder (docs/sandbox.md)"));
  std::shared_ptr<watch::folders> heard;
  {
    const std::lock_guard lock(mutex);
    heard = folders;
    if (attached_count != 0) errands.push_back({errand::kind::look_below, {}, of, {}, 0});
  }
  // The next walk has the new folders watched.
  if (heard) heard->forget(which);
  if (to.lost) to.lost();
  ring();
}

void watching::state::follow_all() {
  const auto now = monotonic_clock::now();
  for (std::size_t i = 0; i < roots.size(); ++i) follow(i);
  still.looked(now);
}

void watching::state::say_polled(std::size_t which, const std::string& why) {
  say("changes of " + roots[which]->path() + " are polled every " + std::to_string(configured.refresh_after.count()) +
      " ms: " + why);
}

watching::watching(root_list roots, const options& all, ears to)
    : state_(std::make_shared<state>(std::move(roots), all, std::move(to))) {}

watching::~watching() {
  std::unique_lock lock(state_->mutex);
  state_->is_ending = true;
  state_->still.end();
  state_->listener = nullptr;
  state_->ring();
  const bool has_left = monotonic_clock::wait_for(state_->left, lock, farewell, [this] { return !state_->is_running; });
  lock.unlock();
  if (has_left) return;
  const std::lock_guard silencing(state_->log_mutex);
  state_->is_silent = true;
}

void watching::tell(std::shared_ptr<change_listener> to) {
  const std::lock_guard lock(state_->mutex);
  state_->listener = std::move(to);
}

void watching::attach(const std::string& uri, std::shared_ptr<const root> of, std::string path) {
  const auto since = disk::wall_clock();
  std::unique_lock lock(state_->mutex);
  state_->errands.push_back({errand::kind::attach, uri, std::move(of), std::move(path), since});
  state_->begun.insert_or_assign(uri, std::prev(state_->errands.end()));
  ++state_->attached_count;
  (void)state_->start(lock);  // without a thread, the errand waits for the next call that starts it
  state_->ring();
}

void watching::detach(const std::string& uri) {
  const std::lock_guard lock(state_->mutex);
  if (const auto place = state_->begun.find(uri); place != state_->begun.end()) {
    state_->errands.erase(place->second);
    state_->begun.erase(place);
    --state_->attached_count;
    return;
  }
  state_->errands.push_back({errand::kind::detach, uri, nullptr, {}, 0});
  state_->ring();
}

/// Whether this root is watched by the kernel, and not polled. If so, `folders` is set.
bool watching::state::hears_of(std::size_t which) {
  std::unique_lock lock(mutex);
  return start(lock) && !polled[which] && !is_ending;
}

/// Has the kernel watch one folder.
watching::state::outcome watching::state::add(std::size_t which, const std::string& path) {
  const auto& of = *roots[which];
  const auto found = of.below()->locate(path);
  // It has just gone, which the kernel reports, too.
  if (!found || found->path != path || !S_ISDIR(found->facts.st_mode)) return {outcome::kind::gone, 0};
  if (found->facts.st_dev != device[which] && disk::is_on_network(found->at.get())) return {outcome::kind::remote, 0};
  if (const int error = folders->add(which, path, found->at.get()); error != 0) return {outcome::kind::refused, error};
  // A new folder may have replaced this one before the watch was set. The event for that is about a folder that is not watched
  // yet.
  const auto again = of.below()->locate(path);
  if (!again || again->facts.st_dev != found->facts.st_dev || again->facts.st_ino != found->facts.st_ino) {
    folders->forget(which, path);
    return {outcome::kind::gone, 0};
  }
  const std::lock_guard lock(mutex);
  if (attached_count == 0) return {outcome::kind::watched, 0};
  // Files created in it before the watch was set caused no event.
  errands.push_back({errand::kind::look_below, {}, roots[which], path, 0});
  ring();
  return {outcome::kind::watched, 0};
}

void watching::cover(const root& of, const std::string& path) {
  auto& s = *state_;
  const auto which = s.number_of(of);
  if (!which || !s.hears_of(*which)) return;
  const auto how = s.add(*which, path);
  const auto where = [&] { return of.path() + "/" + path; };
  if (how.what == state::outcome::kind::remote) {
    s.look_from_now_on(*which, where() + " is on a network file system");
  } else if (how.error == ENOSPC) {
    s.look_from_now_on(*which, "the user's limit of watched folders is reached (" + std::to_string(s.folders->size()) +
                                   " by this source); raise fs.inotify.max_user_watches");
  } else if (how.error != 0) {
    s.look_from_now_on(*which, where() + " cannot be watched: " + std::strerror(how.error));
  }
}

std::shared_ptr<const validity> watching::vouch(const root& of, const std::string& path) const {
  const auto which = state_->number_of(of);
  std::shared_ptr<const freshness> by;
  {
    const std::lock_guard lock(state_->mutex);
    if (!which || !state_->is_running || state_->is_ending || state_->polled[*which]) return nullptr;
    by = state_->fresh;
  }
  return by ? by->vouch(*which, path) : nullptr;
}

/// Watches only the folders that matter to this reader, instead of the whole root. A folder that cannot be watched does no
/// harm, since each read then checks the file.
void watching::watch_way_to(const root& of, const std::string& path) {
  auto& s = *state_;
  const auto which = s.number_of(of);
  if (!which || !freshness::can_vouch(path) || !s.hears_of(*which)) return;
  for (std::size_t end = 0; end != std::string::npos; end = path.find('/', end + 1)) {
    const auto folder = path.substr(0, end);
    if (!s.folders->reaches(*which, folder) && s.add(*which, folder).what != state::outcome::kind::watched) return;
  }
}

void watching::follow(const root& of) {
  if (const auto which = state_->number_of(of)) state_->follow(*which);
}

void watching::follow() { state_->follow_all(); }

void watching::catch_up(const call& by, monotonic_clock::time_point until) const {
  auto& s = *state_;
  std::unique_lock lock(s.mutex);
  if (!s.is_running) return;
  monotonic_clock::wait_until(s.turned, lock, by.stop, std::min(by.deadline, until),
                              [&s] { return s.is_ending || !s.is_running || s.still.has_caught_up(); });
}

std::shared_ptr<const stillness> watching::still() const { return {state_, &state_->still}; }

void watching::names_changed() {
  std::shared_ptr<change_listener> who;
  {
    const std::lock_guard lock(state_->mutex);
    who = state_->listener;
  }
  if (who) who->list_changed();
}

bool watching::is_complete() const {
  const std::lock_guard lock(state_->mutex);
  return state_->is_running && std::find(state_->polled.begin(), state_->polled.end(), true) == state_->polled.end() &&
         std::none_of(state_->roots.begin(), state_->roots.end(), [](const auto& one) { return one->is_gone(); });
}

}  // namespace hondana::files
