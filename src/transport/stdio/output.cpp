/// Non-blocking output by kind of descriptor.
#include "transport/stdio/output.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace hondana::transport::stdio {
namespace {

// What a pipe that polls writable takes without blocking (PIPE_BUF), for when no description of our own can be had.
constexpr std::size_t safe_bytes = 4096;

}  // namespace

output::output(int descriptor) : descriptor_(descriptor) {
  struct stat about {};
  if (::fstat(descriptor, &about) != 0) return;
  if (S_ISSOCK(about.st_mode)) {
    way_ = way::socket;
  } else if (S_ISFIFO(about.st_mode)) {
    const auto path = "/proc/self/fd/" + std::to_string(descriptor);
    const int own = ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    if (own < 0) return;
    descriptor_ = own;
    way_ = way::own_pipe;
  }
}

output::~output() {
  if (way_ == way::own_pipe) ::close(descriptor_);
}

result<void> output::write_all(std::string_view bytes, std::chrono::milliseconds stall) {
  while (!bytes.empty()) {
    const auto count = way_ == way::socket     ? ::send(descriptor_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL)
                       : way_ == way::own_pipe ? ::write(descriptor_, bytes.data(), bytes.size())
                                               : 0;
    if (count > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(count));
      continue;
    }
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno != EAGAIN) {
      return fail(errc::source_unavailable, "The peer has gone.", std::string("write: ") + std::strerror(errno));
    }
    pollfd out{descriptor_, POLLOUT, 0};
    const int ready = ::poll(&out, 1, static_cast<int>(stall.count()));
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0) {
      return fail(errc::timed_out, "The peer took no bytes for " + std::to_string(stall.count()) + " ms.");
    }
    if (way_ != way::plain) continue;
    const auto written = ::write(descriptor_, bytes.data(), std::min(bytes.size(), safe_bytes));
    if (written < 0 && errno != EINTR && errno != EAGAIN) {
      return fail(errc::source_unavailable, "The peer has gone.", std::string("write: ") + std::strerror(errno));
    }
    if (written > 0) bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

}  // namespace hondana::transport::stdio
