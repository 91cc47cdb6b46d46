/// The loop of waiting and accepting.
#include "transport/http_server/listener.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "transport/http_server/descriptors.hpp"

namespace hondana::transport::http_server {
namespace {

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
      readiness_(loop_->io),
      timer_(loop_->io, *this) {}

void listener::start() {
  readiness_.open(socket_.descriptor(), *this);
  readiness_.await_input();
}

void listener::stop() {
  if (std::exchange(stopped_, true)) return;
  timer_.cancel();
  readiness_.close();
  const auto closes = std::move(socket_);
}

void listener::ready(bool, bool) { accept(); }
void listener::due() { accept(); }

void listener::accept() {
  try {
    if (!accept_some()) return timer_.set(reactor::clock::now() + pause_time_);
  } catch (...) {
    readiness_.await_input();  // others are accepted all the same
    throw;
  }
  readiness_.await_input();
}

/// False: there is a shortage that has to pass.
bool listener::accept_some() {
  for (int i = 0; i < accepts_in_a_row; ++i) {
    peer_address from;
    const int accepted = ::accept4(socket_.descriptor(), from.data(), from.room(), SOCK_NONBLOCK | SOCK_CLOEXEC);
    disk::handle connection(accepted);
    if (accepted >= 0 && leaves_enough(accepted)) {
      is_short_ = false;
      admit_(std::move(connection), from);
      continue;
    }
    const int why = errno;
    if (accepted >= 0)
      return note_shortage("the last file descriptors are reserved for the server's own work; raise the limit (ulimit -n)");
    if (why == EAGAIN || why == EWOULDBLOCK) break;
    if (is_the_peers(why)) continue;
    return note_shortage(std::strerror(why));
  }
  return true;
}

/// Always false. The log is told once in a row.
bool listener::note_shortage(std::string_view why) {
  if (!std::exchange(is_short_, true)) log_("cannot accept connections for now: " + std::string(why));
  return false;
}

}  // namespace hondana::transport::http_server
