/// The kernel's queue of file events, and watched folders whose events are reported as paths.
#include "os/watch/inotify.hpp"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "base/executor/batching.hpp"

namespace hondana::watch {
namespace {

// Events for deleted files that are still open are not needed.
constexpr std::uint32_t wanted = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_CLOSE_WRITE | IN_MODIFY | IN_ATTRIB |
                                 IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR | IN_EXCL_UNLINK;

std::uint64_t next_id() noexcept {
  static std::atomic<std::uint64_t> latest{0};
  return ++latest;
}

/// A queue that was found empty in a round of this thread.
struct silence {
  std::uint64_t queue = 0;
  std::uint64_t round = 0;
};
constexpr std::size_t queues_at_a_time = 8;
thread_local constinit std::array<silence, queues_at_a_time> silences{};

}  // namespace

bool each_event(std::string_view bytes, const std::function<void(const event&)>& take) {
  while (!bytes.empty()) {
    inotify_event head{};
    if (bytes.size() < sizeof head) return false;
    std::memcpy(&head, bytes.data(), sizeof head);
    bytes.remove_prefix(sizeof head);
    if (bytes.size() < head.len) return false;
    // The name is padded with NULs.
    auto name = bytes.substr(0, head.len);
    name = name.substr(0, name.find('\0'));
    bytes.remove_prefix(head.len);
    take({head.wd, head.mask, name});
  }
  return true;
}

result<inotify> inotify::open() {
  const int descriptor = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  if (descriptor >= 0) return inotify(descriptor);
  const int why = errno;
  return fail(errc::source_unavailable,
              "Changes cannot be watched: " + std::string(std::strerror(why)) +
                  (why == EMFILE ? ". Raise fs.inotify.max_user_instances, or stop other programs that watch files." : "."));
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
  const int watch = ::inotify_add_watch(descriptor_, path.c_str(), wanted);
  if (watch < 0) return tl::unexpected(errno);
  return watch;
}

void inotify::remove(int watch) const noexcept { (void)::inotify_rm_watch(descriptor_, watch); }  // may be removed already

bool inotify::is_silent() const noexcept {
  const auto round = executor::round::present();
  auto& known = silences[id_ % queues_at_a_time];
  if (round != 0 && known.queue == id_ && known.round == round) return true;
  // FIONREAD would compute the size of all pending events.
  pollfd waiting{descriptor_, POLLIN, 0};
  if (::poll(&waiting, 1, 0) != 0) return false;
  known = {id_, round};
  return true;
}

bool inotify::read(const std::function<void(const event&)>& take) {
  const auto count = ::read(descriptor_, buffer_.data(), buffer_.size());
  if (count <= 0) return false;
  (void)each_event({buffer_.data(), static_cast<std::size_t>(count)}, take);  // the kernel writes complete events
  return true;
}

int folders::add(std::size_t tree, const std::string& path, int descriptor) {
  const std::lock_guard lock(mutex_);
  if (by_path_.size() >= most_ && !by_path_.contains({tree, path})) return ENOSPC;
  const auto watch = queue_.add(descriptor);
  if (!watch) return watch.error();
  if (const auto known = by_watch_.find(*watch); known != by_watch_.end()) {
    if (known->second.tree == tree && known->second.path == path) return 0;
    lose();
    by_path_.erase({known->second.tree, known->second.path});
    by_watch_.erase(known);
  }
  const auto [where, is_new] = by_path_.try_emplace({tree, path}, *watch);
  if (!is_new && where->second != *watch) {
    // A different folder is now at the path of a watched one.
    lose();
    by_watch_.erase(where->second);
    queue_.remove(where->second);
    where->second = *watch;
  }
  by_watch_.insert_or_assign(*watch, place{tree, path});
  return 0;
}

void folders::forget(std::size_t tree, const std::string& path) {
  const std::lock_guard lock(mutex_);
  if (const auto itself = by_path_.find({tree, path}); itself != by_path_.end()) drop(itself, std::next(itself));
  // The paths below the folder are contiguous: '0' is the character after '/'.
  drop(by_path_.lower_bound({tree, path + '/'}), by_path_.lower_bound({tree, path + '0'}));
}

void folders::forget(std::size_t tree) {
  const std::lock_guard lock(mutex_);
  drop(by_path_.lower_bound({tree, {}}), by_path_.lower_bound({tree + 1, {}}));
}

/// The lock must be held.
void folders::drop(std::map<std::pair<std::size_t, std::string>, int>::iterator begin,
                   std::map<std::pair<std::size_t, std::string>, int>::iterator end) {
  if (begin != end) lose();
  for (auto one = begin; one != end; ++one) {
    by_watch_.erase(one->second);
    queue_.remove(one->second);
  }
  by_path_.erase(begin, end);
}

bool folders::read(const std::function<void(happening)>& take, const std::function<void()>& lost) {
  std::vector<happening> happened;
  bool is_lost = false;
  const bool any = queue_.read([&](const event& one) {
    if ((one.what & IN_Q_OVERFLOW) != 0) {
      is_lost = true;
      return;
    }
    happening what;
    if (translate(one, what)) happened.push_back(std::move(what));
  });
  for (auto& one : happened) take(std::move(one));
  if (is_lost) lost();
  return any;
}

/// Converts an event. Returns false for events that need not be reported.
bool folders::translate(const event& from, happening& into) {
  using kind = happening::kind;
  const std::lock_guard lock(mutex_);
  const auto found = by_watch_.find(from.watch);
  if (found == by_watch_.end()) return false;
  into.tree = found->second.tree;
  into.path = found->second.path;
  if ((from.what & IN_IGNORED) != 0) {
    // The kernel has removed the watch, and never reuses its number.
    lose();
    by_path_.erase({into.tree, into.path});
    by_watch_.erase(found);
    return false;
  }
  if (from.name.empty()) {
    const bool ends = (from.what & (IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT)) != 0;
    into.is_folder = true;
    // For other folders, the parent folder reports the same event.
    if (ends) {
      into.what = kind::tree_gone;
      return into.path.empty();
    }
    into.what = kind::modified;
    return true;
  }
  if (!into.path.empty()) into.path += '/';
  into.path += from.name;
  into.is_folder = (from.what & IN_ISDIR) != 0;
  if ((from.what & (IN_DELETE | IN_MOVED_FROM)) != 0) {
    into.what = kind::gone;
  } else if ((from.what & IN_MOVED_TO) != 0) {
    into.what = kind::moved_in;
  } else if ((from.what & IN_CREATE) != 0) {
    into.what = kind::appeared;
  } else if ((from.what & IN_CLOSE_WRITE) != 0) {
    into.what = kind::closed;
  } else {
    into.what = kind::modified;
  }
  return true;
}

bool folders::reaches(std::size_t tree, std::string_view path) const {
  const std::lock_guard lock(mutex_);
  for (;;) {
    if (!by_path_.contains({tree, std::string(path)})) return false;
    if (path.empty()) return true;
    const auto slash = path.rfind('/');
    path = path.substr(0, slash == std::string_view::npos ? 0 : slash);
  }
}

std::size_t folders::size() const {
  const std::lock_guard lock(mutex_);
  return by_path_.size();
}

}  // namespace hondana::watch
