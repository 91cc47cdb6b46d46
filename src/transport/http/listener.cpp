/// The loop of waiting and accepting.
#include "transport/http/listener.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/error.hpp>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

namespace hondana::transport::http {
namespace {

using boost::system::error_code;

// Connections before the others have their turn.
constexpr int accepts_in_a_row = 64;

/// Of accept(2): errors of the connection that was to be accepted, which are its own problem.
bool is_the_peers(int error) noexcept {
  switch (error) {
    case ECONNABORTED:
    case EINTR:
    case EPERM:
    case EPROTO:
    case ENETDOWN:
    case ENOPROTOOPT:
    case EHOSTDOWN:
    case ENONET:
    case EHOSTUNREACH:
    case EOPNOTSUPP:
    case ENETUNREACH:
      return true;
    default:
      return false;
  }
}

}  // namespace

listener::listener(std::shared_ptr<loop> on, listening_socket with, std::chrono::milliseconds pause, admit_function admit,
                   std::function<void(std::string_view)> log)
    : loop_(std::move(on)),
      socket_(std::move(with)),
      pause_time_(pause),
      admit_(std::move(admit)),
      log_(std::move(log)),
      handle_(loop_->io.get_executor()),
      timer_(loop_->io.get_executor()) {}

listener::~listener() {
  // The descriptor belongs to the socket, which may have a file to remove first.
  if (handle_.is_open()) (void)handle_.release();
}

void listener::start() {
  error_code failed;
  (void)handle_.assign(socket_.descriptor(), failed);
  if (failed) return log_("cannot watch the listening socket: " + failed.message());
  wait();
}

void listener::stop() {
  if (std::exchange(stopped_, true)) return;
  timer_.cancel();
  if (handle_.is_open()) (void)handle_.release();
  const auto closes = std::move(socket_);
}

void listener::wait() {
  handle_.async_wait(boost::asio::posix::descriptor_base::wait_read, [this](error_code failed) {
    if (!failed && !stopped_) accept();
  });
}

void listener::accept() {
  for (int i = 0; i < accepts_in_a_row; ++i) {
    peer_address from;
    const int accepted = ::accept4(socket_.descriptor(), from.data(), from.room(), SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (accepted >= 0) {
      is_short_ = false;
      admit_(accepted, from);
      continue;
    }
    const int why = errno;
    if (why == EAGAIN || why == EWOULDBLOCK) break;
    if (is_the_peers(why)) continue;
    // The rest is a shortage that has to pass.
    if (!std::exchange(is_short_, true)) log_(std::string("cannot accept connections for now: ") + std::strerror(why));
    return pause();
  }
  wait();
}

void listener::pause() {
  timer_.expires_after(pause_time_);
  timer_.async_wait([this](error_code cancelled) {
    if (!cancelled && !stopped_) accept();
  });
}

}  // namespace hondana::transport::http
