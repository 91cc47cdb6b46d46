/// Watches the files of a log, and notifies when they are written or rotated.
#include "sources/logs/records/log_watcher.hpp"

#include <fcntl.h>
#include <re2/re2.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include <hondana/clock.hpp>

#include "base/bytes/digest.hpp"
#include "base/executor/thread_guards.hpp"
#include "os/disk/opened_folder.hpp"
#include "os/watch/inotify.hpp"
#include "sources/logs/records/opened_files.hpp"

namespace hondana::records {
namespace {

using clock = monotonic_clock;

constexpr std::chrono::seconds check_interval{2};  // that the path still leads to the same folder
constexpr std::chrono::milliseconds settle_delay = std::chrono::milliseconds(line_settle_time / 1'000'000 + 50);
constexpr int max_reads = 64;

}  // namespace

struct log_watcher::state {
  state(log_file_set file_set, std::function<void()> change_callback, std::function<void()> check_callback)
      : set(std::move(file_set)), on_change(std::move(change_callback)), check(std::move(check_callback)) {}

  const log_file_set set;
  std::function<void()> on_change;
  const std::function<void()> check;
  const watch::event_waiter waiter;
  std::atomic<bool> is_stopped{false};
  std::recursive_mutex call_mutex;  // recursive, since the callback may end this object

  // Used only by the thread once it runs.
  std::optional<watch::inotify> queue;
  disk::handle folder;
  int watch_id = -1;
  std::string files_digest;         // a digest of the files, if inotify is not available
  bool is_change_pending = false;   // a change was not reported yet
  bool is_check_pending = false;    // and it was more than a write
  clock::time_point notified_at{};  // last report
  std::optional<clock::time_point> settles_at{};

  [[nodiscard]] bool is_watched() const noexcept { return watch_id >= 0; }
  [[nodiscard]] bool is_log_file(std::string_view name) const {
    if (name.empty() || name == set.live_name) return true;
    if (set.pattern) return re2::RE2::FullMatch(re2::StringPiece(name.data(), name.size()), *set.pattern);
    return parse_rank(name, set.live_name).has_value();
  }
  void mark_changed(bool needs_check) noexcept {
    is_change_pending = true;
    is_check_pending = is_check_pending || needs_check;
  }

  /// Watches the folder that the path leads to now.
  void start_watching() {
    if (!queue) {
      if (auto created = watch::inotify::open()) queue.emplace(std::move(*created));
    }
    folder = disk::handle(::open(set.folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    watch_id = -1;
    if (!folder.is_open() || !queue || disk::is_on_network(folder.get())) return;
    if (const auto added = queue->add(folder.get())) watch_id = *added;
  }
  /// Whether the folder was replaced, created or deleted.
  [[nodiscard]] bool has_moved() const {
    struct stat path_attributes{};
    struct stat folder_attributes{};
    const bool path_exists = ::stat(set.folder.c_str(), &path_attributes) == 0;
    if (!folder.is_open() || ::fstat(folder.get(), &folder_attributes) != 0) return path_exists;
    return !path_exists || path_attributes.st_dev != folder_attributes.st_dev ||
           path_attributes.st_ino != folder_attributes.st_ino || folder_attributes.st_nlink == 0;
  }
  [[nodiscard]] std::string digest_files() const {
    const auto listing = list_files(set);
    if (!listing) return std::string(name_of(listing.error().code));
    bytes::digester sum;
    for (const auto& file : listing->files) {
      sum.update(file.name + '/' + std::to_string(file.stamp.inode) + '/' + std::to_string(file.stamp.size) + '/' +
                 std::to_string(file.stamp.modified) + '/' + std::to_string(file.stamp.changed) + ';');
    }
    return bytes::to_hex(sum.value());
  }
  void poll_files() {
    if (has_moved() || !folder.is_open()) {
      const bool was_there = folder.is_open();
      start_watching();
      if (was_there || folder.is_open()) mark_changed(true);
    }
    if (is_watched()) return;
    auto digest = digest_files();
    if (digest != files_digest) mark_changed(true);
    files_digest = std::move(digest);
  }
  void read_events() {
    for (int i = 0; queue && i < max_reads; ++i) {
      const bool has_events = queue->read([this](const watch::event& event) {
        if (event.watch == -1) return mark_changed(true);  // events were lost
        if (event.watch != watch_id) return;
        if ((event.mask & IN_IGNORED) != 0) watch_id = -1;
        if ((event.mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED)) != 0) return mark_changed(true);
        if (is_log_file(event.name)) mark_changed((event.mask & ~static_cast<std::uint32_t>(IN_MODIFY)) != 0);
      });
      if (!has_events) break;
    }
  }
  [[nodiscard]] bool ends_in_partial_line() const {
    // Open the file by name: listing a big folder after every report would take too long.
    constexpr int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY;
    disk::handle opened(folder.is_open() ? ::openat(folder.get(), set.live_name.c_str(), flags) : -1);
    if (!opened.is_open() && errno == ENOENT) {
      // The newest file may have another name, such as one with a date.
      const auto listing = list_files(set);
      auto newest = listing && !listing->files.empty() ? open_listed(*listing, listing->files.back())
                                                       : result<disk::handle>(disk::handle());
      if (newest) opened = std::move(*newest);
    }
    struct stat attributes{};
    return opened.is_open() && ::fstat(opened.get(), &attributes) == 0 && S_ISREG(attributes.st_mode) &&
           has_partial_line(opened.get(), static_cast<std::uint64_t>(attributes.st_size));
  }
  void notify() {
    if (std::exchange(is_check_pending, false)) check();
    is_change_pending = false;
    notified_at = clock::now();
    settles_at.reset();
    {
      const std::lock_guard lock(call_mutex);
      const auto callback = on_change;  // a copy, since the call may end this object
      if (!is_stopped && callback) callback();
    }
    if (!is_stopped && ends_in_partial_line()) settles_at = clock::now() + settle_delay;
  }
  void run_once() {
    auto deadline = clock::now() + (is_watched() ? std::chrono::milliseconds(check_interval) : poll_interval);
    if (is_change_pending) deadline = std::min(deadline, notified_at + report_interval);
    if (settles_at) deadline = std::min(deadline, *settles_at);
    const bool is_signalled = waiter.wait(is_change_pending || !queue ? -1 : queue->descriptor(), deadline);
    if (is_stopped) return;
    read_events();
    const auto now = clock::now();
    if (!is_signalled || !is_watched()) poll_files();
    if (settles_at && now >= *settles_at) mark_changed(true);
    if (is_change_pending && now >= notified_at + report_interval) notify();
  }
  void run() noexcept {
    while (!is_stopped) {
      try {
        run_once();
      } catch (const std::exception&) {
        // Out of memory: check for changes again.
        is_change_pending = is_check_pending = true;
        notified_at = clock::now();
      }
    }
  }
};

log_watcher::log_watcher(log_file_set set, std::function<void()> on_change, std::function<void()> check)
    : state_(std::make_shared<state>(std::move(set), std::move(on_change), std::move(check))) {
  state_->start_watching();
  if (!state_->is_watched() && state_->folder.is_open()) state_->mark_changed(true);
  state_->files_digest = state_->is_watched() ? std::string() : state_->digest_files();
  try {
    const executor::signal_blocker blocker;
    std::thread([shared_state = state_] { shared_state->run(); }).detach();
  } catch (const std::system_error&) {
    // No thread could be created, so there are no notifications.
    state_->is_stopped = true;
  }
}

log_watcher::~log_watcher() {
  state_->is_stopped = true;
  state_->waiter.wake();
  const std::lock_guard lock(state_->call_mutex);
  state_->on_change = nullptr;
}

}  // namespace hondana::records
