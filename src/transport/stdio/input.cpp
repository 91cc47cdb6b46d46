/// Reads a descriptor until it is stopped, and splits the input into lines.
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

input::input(int descriptor) : descriptor_(descriptor), wake_event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  struct stat status{};
  if (::fstat(descriptor, &status) != 0 || !S_ISFIFO(status.st_mode)) return;
  // Only to test that it can be opened. While a write end is open here, the peer cannot end the input.
  const int write_end = open_write_end();
  if (write_end < 0) return;
  ::close(write_end);
  spare_descriptor_ = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  is_pipe_ = spare_descriptor_ >= 0;
}

input::~input() {
  for (const int fd : {wake_event_, spare_descriptor_}) {
    if (fd >= 0) ::close(fd);
  }
}

int input::open_write_end() const {
  const auto path = "/proc/self/fd/" + std::to_string(descriptor_);
  return ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
}

void input::poll() const {
  pollfd events[] = {{descriptor_, POLLIN, 0}, {wake_event_, POLLIN, 0}};
  (void)::poll(events, 2, -1);
}

result<std::optional<std::size_t>> input::read(char* buffer, std::size_t max_bytes) {
  bool must_poll = !is_pipe_;
  while (!is_stopped_) {
    if (must_poll) {
      poll();
      if (is_stopped_) break;
    }
    const auto count = ::read(descriptor_, buffer, max_bytes);
    if (count >= 0) {
      if (is_stopped_) break;
      counters::traffic_counters::global().add_received(counters::transport_kind::stdio, static_cast<std::size_t>(count));
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

void input::stop() {
  if (is_stopped_.exchange(true)) return;
  eventfd_write(wake_event_, 1);
  if (!is_pipe_) return;
  ::close(std::exchange(spare_descriptor_, -1));
  const int write_end = open_write_end();
  if (write_end < 0) return;  // no descriptor is free: the next input of the peer ends the wait
  // If the pipe is full, the reader is not waiting.
  (void)!::write(write_end, "\n", 1);
  ::close(write_end);
}

bool input::has_peer_closed() const {
  pollfd events{descriptor_, POLLRDHUP, 0};
  return ::poll(&events, 1, 0) > 0 && (events.revents & (POLLHUP | POLLRDHUP)) != 0;
}

}  // namespace hondana::transport::stdio
