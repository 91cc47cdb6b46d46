/// The kernel's queue of file events, and watched folders whose events are reported as paths.
#include "os/watch/inotify.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "base/executor/batching.hpp"

namespace hondana::watch {
namespace {

// Events for deleted files that are still open are not needed.
constexpr std::uint32_t watched_events = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_CLOSE_WRITE | IN_MODIFY |
                                         IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR | IN_EXCL_UNLINK;

std::uint64_t next_id() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

/// A queue that was found empty in a batch of this thread.
struct idle_observation {
  std::uint64_t queue = 0;
  std::uint64_t batch = 0;
};
constexpr std::size_t max_observed_queues = 8;
thread_local constinit std::array<idle_observation, max_observed_queues> idle_observations{};

}  // namespace

bool for_each_event(std::string_view bytes, const std::function<void(const event&)>& on_event) {
  while (!bytes.empty()) {
    inotify_event header{};
    if (bytes.size() < sizeof header) return false;
    std::memcpy(&header, bytes.data(), sizeof header);
    bytes.remove_prefix(sizeof header);
    if (bytes.size() < header.len) return false;
    // The name is padded with NULs.
    auto name = bytes.substr(0, header.len);
    name = name.substr(0, name.find('\0'));
    bytes.remove_prefix(header.len);
    on_event({header.wd, header.mask, name});
  }
  return true;
}

result<inotify> inotify::open() {
  const int descriptor = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  if (descriptor >= 0) return inotify(descriptor);
  const int error = errno;
  return fail(errc::source_unavailable,
              "Changes cannot be watched: " + std::string(std::strerror(error)) +
                  (error == EMFILE ? ". Raise fs.inotify.max_user_instances, or stop other programs that watch files." : "."));
}

inotify::inotify(int descriptor) : descriptor_(descriptor), id_(next_id()), buffer_(64u << 10) {}
inotify::inotify(inotify&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), id_(other.id_), buffer_(std::move(other.buffer_)) {}

inotify::~inotify() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

tl::expected<int, int> inotify::add(int folder) const {
  // Through its descriptor, so that exactly this folder is watched, even if its path changes.
  const auto path = "/proc/self/fd/" + std::to_string(folder);
  const int watch = ::inotify_add_watch(descriptor_, path.c_str(), watched_events);
  if (watch < 0) return tl::unexpected(errno);
  return watch;
}

void inotify::remove(int watch) const noexcept { (void)::inotify_rm_watch(descriptor_, watch); }  // may be removed already

bool inotify::is_idle() const noexcept {
  const auto batch = executor::message_batch::current_id();
  auto& observation = idle_observations[id_ % max_observed_queues];
  if (batch != 0 && observation.queue == id_ && observation.batch == batch) return true;
  // FIONREAD would compute the size of all pending events.
  pollfd pending{descriptor_, POLLIN, 0};
  if (::poll(&pending, 1, 0) != 0) return false;
  observation = {id_, batch};
  return true;
}

bool inotify::read(const std::function<void(const event&)>& on_event) {
  const auto count = ::read(descriptor_, buffer_.data(), buffer_.size());
  if (count <= 0) return false;
  (void)for_each_event({buffer_.data(), static_cast<std::size_t>(count)}, on_event);  // the kernel writes complete events
  return true;
}

event_waiter::event_waiter() noexcept : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void event_waiter::wake() const noexcept { (void)::eventfd_write(event_.get(), 1); }  // fails if full: then it is signalled

bool event_waiter::wait(int queue, monotonic_clock::time_point deadline) const {
  std::array<pollfd, 2> sources{pollfd{event_.get(), POLLIN, 0}, pollfd{queue, POLLIN, 0}};
  const auto remaining = std::chrono::ceil<std::chrono::milliseconds>(deadline - monotonic_clock::now()).count();
  const int count = ::poll(sources.data(), sources.size(), monotonic_clock::poll_timeout(std::max<std::int64_t>(remaining, 0)));
  eventfd_t wakeups = 0;
  (void)::eventfd_read(event_.get(), &wakeups);
  return count != 0;
}

int watched_folders::add(std::size_t tree, const std::string& path, int descriptor) {
  const std::lock_guard lock(mutex_);
  if (by_path_.size() >= max_folders_ && !by_path_.contains({tree, path})) return ENOSPC;
  const auto watch = queue_.add(descriptor);
  if (!watch) return watch.error();
  if (const auto existing = by_watch_.find(*watch); existing != by_watch_.end()) {
    if (existing->second.tree == tree && existing->second.path == path) return 0;
    record_loss();
    by_path_.erase({existing->second.tree, existing->second.path});
    by_watch_.erase(existing);
  }
  const auto [entry, is_new] = by_path_.try_emplace({tree, path}, *watch);
  if (!is_new && entry->second != *watch) {
    // A different folder is now at the path of a watched one.
    record_loss();
    by_watch_.erase(entry->second);
    queue_.remove(entry->second);
    entry->second = *watch;
  }
  by_watch_.insert_or_assign(*watch, location{tree, path});
  return 0;
}

void watched_folders::remove(std::size_t tree, const std::string& path) {
  const std::lock_guard lock(mutex_);
  if (const auto match = by_path_.find({tree, path}); match != by_path_.end()) erase_range(match, std::next(match));
  // The paths below the folder are contiguous: '0' is the character after '/'.
  erase_range(by_path_.lower_bound({tree, path + '/'}), by_path_.lower_bound({tree, path + '0'}));
}

void watched_folders::remove(std::size_t tree) {
  const std::lock_guard lock(mutex_);
  erase_range(by_path_.lower_bound({tree, {}}), by_path_.lower_bound({tree + 1, {}}));
}

/// The lock must be held.
void watched_folders::erase_range(std::map<std::pair<std::size_t, std::string>, int>::iterator begin,
                                  std::map<std::pair<std::size_t, std::string>, int>::iterator end) {
  if (begin != end) record_loss();
  for (auto entry = begin; entry != end; ++entry) {
    by_watch_.erase(entry->second);
    queue_.remove(entry->second);
  }
  by_path_.erase(begin, end);
}

bool watched_folders::read(const std::function<void(folder_event)>& on_event, const std::function<void()>& on_overflow) {
  std::vector<folder_event> events;
  bool has_overflowed = false;
  const bool has_read = queue_.read([&](const event& raw) {
    if ((raw.mask & IN_Q_OVERFLOW) != 0) {
      has_overflowed = true;
      return;
    }
    folder_event translated;
    if (translate(raw, translated)) events.push_back(std::move(translated));
  });
  for (auto& event : events) on_event(std::move(event));
  if (has_overflowed) on_overflow();
  return has_read;
}

/// Converts an event. Returns false for events that need not be reported.
bool watched_folders::translate(const event& raw, folder_event& out) {
  using kind = folder_event::event_kind;
  const std::lock_guard lock(mutex_);
  const auto match = by_watch_.find(raw.watch);
  if (match == by_watch_.end()) return false;
  out.tree = match->second.tree;
  out.path = match->second.path;
  if ((raw.mask & IN_IGNORED) != 0) {
    // The kernel has removed the watch, and never reuses its number.
    record_loss();
    by_path_.erase({out.tree, out.path});
    by_watch_.erase(match);
    return false;
  }
  if (raw.name.empty()) {
    const bool is_end = (raw.mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT)) != 0;
    out.is_folder = true;
    // For other folders, the parent folder reports the same event.
    if (is_end) {
      out.kind = kind::tree_removed;
      return out.path.empty();
    }
    out.kind = kind::modified;
    return true;
  }
  if (!out.path.empty()) out.path += '/';
  out.path += raw.name;
  out.is_folder = (raw.mask & IN_ISDIR) != 0;
  if ((raw.mask & (IN_DELETE | IN_MOVED_FROM)) != 0) {
    out.kind = kind::removed;
  } else if ((raw.mask & IN_MOVED_TO) != 0) {
    out.kind = kind::moved_in;
  } else if ((raw.mask & IN_CREATE) != 0) {
    out.kind = kind::appeared;
  } else if ((raw.mask & IN_CLOSE_WRITE) != 0) {
    out.kind = kind::closed;
  } else {
    out.kind = kind::modified;
  }
  return true;
}

bool watched_folders::is_watched(std::size_t tree, std::string_view path) const {
  const std::lock_guard lock(mutex_);
  for (;;) {
    if (!by_path_.contains({tree, std::string(path)})) return false;
    if (path.empty()) return true;
    const auto slash = path.rfind('/');
    path = path.substr(0, slash == std::string_view::npos ? 0 : slash);
  }
}

std::size_t watched_folders::size() const {
  const std::lock_guard lock(mutex_);
  return by_path_.size();
}

}  // namespace hondana::watch
