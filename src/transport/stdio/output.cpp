/// Writes to a descriptor that other processes may share, without blocking, within a timeout that can be shortened.
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

patience::patience(std::chrono::milliseconds stall) : changed_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), stall_(stall) {}

patience::~patience() {
  if (changed_ >= 0) ::close(changed_);
}

void patience::shorten(std::chrono::milliseconds stall, clock::time_point end) {
  {
    const std::lock_guard lock(mutex_);
    stall_ = std::min(stall_, stall);
    end_ = std::min(end_, end);
  }
  eventfd_write(changed_, 1);
}

patience::clock::time_point patience::until(clock::time_point progress) const {
  const std::lock_guard lock(mutex_);
  return std::min(progress + stall_, end_);
}

void patience::heard() const noexcept {
  eventfd_t count = 0;
  eventfd_read(changed_, &count);
}

namespace {

// A writable pipe accepts this many bytes without blocking (PIPE_BUF). Used if the pipe cannot be opened again.
constexpr std::size_t safe_bytes = 4096;
constexpr long longest_wait = 3'600'000;  // timeout of one poll, in milliseconds

tl::unexpected<failure> gone() {
  return tl::unexpected(
      failure{errc::source_unavailable, "The peer closed the connection.", std::string("write: ") + std::strerror(errno)});
}

}  // namespace

output::output(int descriptor) : descriptor_(descriptor) {
  struct stat about{};
  if (::fstat(descriptor, &about) != 0) return;
  if (S_ISSOCK(about.st_mode)) {
    way_ = way::socket;
  } else if (S_ISFIFO(about.st_mode)) {
    const auto path = "/proc/self/fd/" + std::to_string(descriptor);
    const int own = ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    if (own < 0) return;
    descriptor_ = own;
    way_ = way::own_pipe;
    struct sigaction at_present{};
    ignores_signal_ = ::sigaction(SIGPIPE, nullptr, &at_present) == 0 && at_present.sa_handler == SIG_IGN;
  }
}

output::~output() {
  if (way_ == way::own_pipe) ::close(descriptor_);
}

result<void> output::wait(const patience& with, patience::clock::time_point progress) const {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(with.until(progress) - patience::clock::now()).count();
    if (left <= 0) return fail(errc::timed_out, "The peer does not read.");
    pollfd events[] = {{descriptor_, POLLOUT, 0}, {with.descriptor(), POLLIN, 0}};
    const int ready = ::poll(events, 2, monotonic_clock::poll_timeout(std::min<decltype(left)>(left, longest_wait)));
    if (events[1].revents != 0) with.heard();
    if (ready > 0 && events[0].revents != 0) return {};
  }
}

ssize_t output::attempt(std::string_view bytes) const noexcept {
  const auto count = way_ == way::socket ? ::send(descriptor_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL)
                                         : ::write(descriptor_, bytes.data(),
                                                   way_ == way::plain ? std::min(bytes.size(), safe_bytes) : bytes.size());
  if (count > 0) counters::traffic::here().sent(counters::way::stdio, static_cast<std::size_t>(count));
  return count;
}

result<std::size_t> output::write_some(std::string_view bytes) {
  if (!takes_some()) return 0;
  for (;;) {
    const auto count = attempt(bytes);
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno == EAGAIN) return 0;
    if (errno != EINTR) return gone();
  }
}

result<void> output::write_all(std::string_view bytes, const patience& with) {
  auto progress = patience::clock::now();
  while (!bytes.empty()) {
    if (way_ == way::plain) {
      HONDANA_TRY(wait(with, progress));
    }
    const auto count = attempt(bytes);
    if (count > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(count));
      progress = patience::clock::now();
    } else if (count < 0 && errno == EAGAIN) {
      HONDANA_TRY(wait(with, progress));
    } else if (count < 0 && errno != EINTR) {
      return gone();
    }
  }
  return {};
}

}  // namespace hondana::transport::stdio
