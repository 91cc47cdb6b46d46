/// Reading and writing the kernel's queue.
#include "os/watch/inotify.hpp"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "base/executor/round.hpp"

namespace hondana::watch {
namespace {

// Names that were deleted and are still open are of no interest.
constexpr std::uint32_t wanted = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_CLOSE_WRITE | IN_MODIFY | IN_ATTRIB |
                                 IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR | IN_EXCL_UNLINK;

std::uint64_t next_id() noexcept {
  static std::atomic<std::uint64_t> latest{0};
  return ++latest;
}

/// A queue that was found silent in a round of this thread.
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
  // Through its descriptor, so that it is this very folder, whatever its path leads to by now.
  const auto path = "/proc/self/fd/" + std::to_string(folder);
  const int watch = ::inotify_add_watch(descriptor_, path.c_str(), wanted);
  if (watch < 0) return tl::unexpected(errno);
  return watch;
}

void inotify::remove(int watch) const noexcept { (void)::inotify_rm_watch(descriptor_, watch); }  // it may have gone by itself

bool inotify::is_silent() const noexcept {
  const auto round = executor::round::present();
  auto& known = silences[id_ % queues_at_a_time];
  if (round != 0 && known.queue == id_ && known.round == round) return true;
  // FIONREAD would add up all that waits.
  pollfd waiting{descriptor_, POLLIN, 0};
  if (::poll(&waiting, 1, 0) != 0) return false;
  known = {id_, round};
  return true;
}

bool inotify::read(const std::function<void(const event&)>& take) {
  const auto count = ::read(descriptor_, buffer_.data(), buffer_.size());
  if (count <= 0) return false;
  (void)each_event({buffer_.data(), static_cast<std::size_t>(count)}, take);  // the kernel writes whole events
  return true;
}

}  // namespace hondana::watch
