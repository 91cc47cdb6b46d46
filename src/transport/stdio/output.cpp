/// Writes to a descriptor that other processes may share, within a timeout that can be shortened.
#include "transport/stdio/output.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

#include <hondana/clock.hpp>

#include "base/counters/process_metrics.hpp"

namespace hondana::transport::stdio {

write_timeout::write_timeout(std::chrono::milliseconds stall_timeout)
    : change_event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), stall_timeout_(stall_timeout) {}

write_timeout::~write_timeout() {
  if (change_event_ >= 0) ::close(change_event_);
}

void write_timeout::shorten(std::chrono::milliseconds stall_timeout, clock::time_point deadline) {
  {
    const std::lock_guard lock(mutex_);
    stall_timeout_ = std::min(stall_timeout_, stall_timeout);
    deadline_ = std::min(deadline_, deadline);
  }
  eventfd_write(change_event_, 1);
}

write_timeout::clock::time_point write_timeout::expires_at(clock::time_point last_progress) const {
  const std::lock_guard lock(mutex_);
  return std::min(last_progress + stall_timeout_, deadline_);
}

void write_timeout::acknowledge() const noexcept {
  eventfd_t count = 0;
  eventfd_read(change_event_, &count);
}

namespace {

// A writable pipe accepts this many bytes without blocking (PIPE_BUF). Used if the pipe cannot be opened again.
constexpr std::size_t atomic_write_bytes = 4096;
constexpr long max_poll_ms = 3'600'000;  // timeout of one poll, in milliseconds

tl::unexpected<failure> peer_closed() {
  return tl::unexpected(
      failure{errc::source_unavailable, "The peer closed the connection.", std::string("write: ") + std::strerror(errno)});
}

}  // namespace

output::output(int descriptor) : descriptor_(descriptor) {
  struct stat status{};
  if (::fstat(descriptor, &status) != 0) return;
  if (S_ISSOCK(status.st_mode)) {
    mode_ = write_mode::socket;
  } else if (S_ISFIFO(status.st_mode)) {
    const auto path = "/proc/self/fd/" + std::to_string(descriptor);
    const int reopened = ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    if (reopened < 0) return;
    descriptor_ = reopened;
    mode_ = write_mode::own_pipe;
    struct sigaction current_action{};
    ignores_signal_ = ::sigaction(SIGPIPE, nullptr, &current_action) == 0 && current_action.sa_handler == SIG_IGN;
  }
}

output::~output() {
  if (mode_ == write_mode::own_pipe) ::close(descriptor_);
}

result<void> output::wait(const write_timeout& timeout, write_timeout::clock::time_point last_progress) const {
  for (;;) {
    const auto remaining =
        std::chrono::ceil<std::chrono::milliseconds>(timeout.expires_at(last_progress) - write_timeout::clock::now()).count();
    if (remaining <= 0) return fail(errc::timed_out, "The peer does not read.");
    pollfd events[] = {{descriptor_, POLLOUT, 0}, {timeout.descriptor(), POLLIN, 0}};
    const int ready = ::poll(events, 2, monotonic_clock::poll_timeout(std::min<decltype(remaining)>(remaining, max_poll_ms)));
    if (events[1].revents != 0) timeout.acknowledge();
    if (ready > 0 && events[0].revents != 0) return {};
  }
}

ssize_t output::try_write(std::string_view bytes) const noexcept {
  const auto count = mode_ == write_mode::socket
                         ? ::send(descriptor_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL)
                         : ::write(descriptor_, bytes.data(),
                                   mode_ == write_mode::plain ? std::min(bytes.size(), atomic_write_bytes) : bytes.size());
  if (count > 0)
    counters::traffic_counters::global().add_sent(counters::transport_kind::stdio, static_cast<std::size_t>(count));
  return count;
}

result<std::size_t> output::write_some(std::string_view bytes) {
  if (!can_write_some()) return 0;
  for (;;) {
    const auto count = try_write(bytes);
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno == EAGAIN) return 0;
    if (errno != EINTR) return peer_closed();
  }
}

result<void> output::write_all(std::string_view bytes, const write_timeout& timeout) {
  auto last_progress = write_timeout::clock::now();
  while (!bytes.empty()) {
    if (mode_ == write_mode::plain) {
      HONDANA_TRY(wait(timeout, last_progress));
    }
    const auto count = try_write(bytes);
    if (count > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(count));
      last_progress = write_timeout::clock::now();
    } else if (count < 0 && errno == EAGAIN) {
      HONDANA_TRY(wait(timeout, last_progress));
    } else if (count < 0 && errno != EINTR) {
      return peer_closed();
    }
  }
  return {};
}

}  // namespace hondana::transport::stdio
