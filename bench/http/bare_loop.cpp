/// One epoll loop, level-triggered, one `send` an answer where the socket takes it all.
#include "bare_loop.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <stdexcept>

#include "../process/child.hpp"

namespace http_bench {
namespace {

struct peer {
  int socket;
  std::size_t asked = 0;     ///< Bytes of requests that wait for their answer.
  std::size_t answered = 0;  ///< Bytes of the answer under way.
  bool is_full = false;
};

void watch(int poll, int how, peer& one, std::uint32_t what) {
  epoll_event wanted{what, {.ptr = &one}};
  if (::epoll_ctl(poll, how, one.socket, &wanted) != 0) bench::fail("epoll_ctl");
}

/// False when the peer has gone.
bool take(peer& one, std::array<char, 65536>& buffer) {
  const auto count = ::recv(one.socket, buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (count > 0) one.asked += static_cast<std::size_t>(count);
  return count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR));
}

/// False when the peer has gone.
bool answer_to(peer& one, int poll, std::size_t request_bytes, const std::string& answer) {
  while (one.asked >= request_bytes) {
    const auto count =
        ::send(one.socket, answer.data() + one.answered, answer.size() - one.answered, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0 && errno != EAGAIN && errno != EINTR) return false;
    one.answered += static_cast<std::size_t>(std::max<ssize_t>(count, 0));
    if (one.answered < answer.size()) {
      if (!one.is_full) watch(poll, EPOLL_CTL_MOD, one, EPOLLIN | EPOLLOUT);
      one.is_full = true;
      return true;
    }
    one.answered = 0;
    one.asked -= request_bytes;
  }
  if (one.is_full) watch(poll, EPOLL_CTL_MOD, one, EPOLLIN);
  one.is_full = false;
  return true;
}

int listen_on(std::uint16_t port) {
  const int made = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_port = htons(port);
  where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (made < 0 || ::setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      ::bind(made, reinterpret_cast<const sockaddr*>(&where), sizeof where) != 0 || ::listen(made, 1024) != 0) {
    bench::fail("listen");
  }
  return made;
}

}  // namespace

void serve_bare(std::uint16_t port, std::size_t request_bytes, const std::string& answer) {
  const int poll = ::epoll_create1(EPOLL_CLOEXEC);
  if (poll < 0) bench::fail("epoll_create1");
  peer door{listen_on(port)};
  watch(poll, EPOLL_CTL_ADD, door, EPOLLIN);
  std::array<epoll_event, 256> ready{};
  std::array<char, 65536> buffer{};
  for (;;) {
    const int count = ::epoll_wait(poll, ready.data(), static_cast<int>(ready.size()), -1);
    if (count < 0 && errno != EINTR) bench::fail("epoll_wait");
    for (int i = 0; i < count; ++i) {
      auto& one = *static_cast<peer*>(ready.at(static_cast<std::size_t>(i)).data.ptr);
      if (&one == &door) {
        const int arrived = ::accept4(door.socket, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (arrived < 0) bench::fail("accept4");
        const int on = 1;
        ::setsockopt(arrived, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        watch(poll, EPOLL_CTL_ADD, *std::make_unique<peer>(peer{arrived}).release(), EPOLLIN);
        continue;
      }
      const bool has_room = (ready.at(static_cast<std::size_t>(i)).events & EPOLLIN) == 0 || take(one, buffer);
      if (has_room && answer_to(one, poll, request_bytes, answer)) continue;
      ::close(one.socket);
      delete &one;
    }
  }
}

std::string fixed_answer(std::size_t size) {
  return "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(size) + "\r\n\r\n" +
         std::string(size, 'x');
}

}  // namespace http_bench
