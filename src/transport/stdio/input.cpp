/// Reads lines from a descriptor until it is stopped.
#include "transport/stdio/input.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "base/counters/process_metrics.hpp"

namespace hondana::transport::stdio {

input::input(int descriptor) : descriptor_(descriptor), bell_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  struct stat about{};
  if (::fstat(descriptor, &about) != 0 || !S_ISFIFO(about.st_mode)) return;
  // Only to test that it can be opened. While a write end is open here, the peer cannot end the input.
  const int other = other_end();
  if (other < 0) return;
  ::close(other);
  spare_ = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  is_pipe_ = spare_ >= 0;
}

input::~input() {
  for (const int one : {bell_, spare_}) {
    if (one >= 0) ::close(one);
  }
}

int input::other_end() const {
  const auto path = "/proc/self/fd/" + std::to_string(descriptor_);
  return ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
}

void input::poll() const {
  pollfd events[] = {{descriptor_, POLLIN, 0}, {bell_, POLLIN, 0}};
  (void)::poll(events, 2, -1);
}

result<std::optional<std::size_t>> input::read(char* into, std::size_t most) {
  bool must_poll = !is_pipe_;
  while (!is_woken_) {
    if (must_poll) {
      poll();
      if (is_woken_) break;
    }
    const auto count = ::read(descriptor_, into, most);
    if (count >= 0) {
      if (is_woken_) break;
      counters::traffic::here().received(counters::way::stdio, static_cast<std::size_t>(count));
      return static_cast<std::size_t>(count);
    }
    // Another process may have made the descriptor non-blocking.
    if (errno == EAGAIN) {
      must_poll = true;
    } else if (errno != EINTR) {
      return fail(errc::source_unavailable, "cannot read", std::strerror(errno));
    }
  }
  return std::nullopt;
}

void input::wake() {
  if (is_woken_.exchange(true)) return;
  eventfd_write(bell_, 1);
  if (!is_pipe_) return;
  ::close(std::exchange(spare_, -1));
  const int other = other_end();
  if (other < 0) return;  // no descriptor is free: the next input of the peer ends the wait
  // If the pipe is full, the reader is not waiting.
  (void)!::write(other, "\n", 1);
  ::close(other);
}

bool input::has_ended() const {
  pollfd events{descriptor_, POLLRDHUP, 0};
  return ::poll(&events, 1, 0) > 0 && (events.revents & (POLLHUP | POLLRDHUP)) != 0;
}

}  // namespace hondana::transport::stdio
