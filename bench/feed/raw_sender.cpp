/// An epoll loop and send, without anything else.
#include "raw_sender.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdint>

#include "../process/child.hpp"

namespace feed_bench {
namespace {

void add(int poll, int descriptor, std::uint32_t number) {
  epoll_event wanted{};
  wanted.events = EPOLLIN;
  wanted.data.u32 = number;
  if (::epoll_ctl(poll, EPOLL_CTL_ADD, descriptor, &wanted) != 0) bench::fail("epoll_ctl");
}

}  // namespace

void send_raw(int in, int out, const std::vector<std::string>& texts) {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof where;
  if (listener < 0 || ::bind(listener, reinterpret_cast<const sockaddr*>(&where), size) != 0 || ::listen(listener, 4096) != 0 ||
      ::getsockname(listener, reinterpret_cast<sockaddr*>(&where), &size) != 0) {
    bench::fail("listen");
  }
  const auto port = std::to_string(ntohs(where.sin_port)) + '\n';
  if (::write(out, port.data(), port.size()) != static_cast<ssize_t>(port.size())) bench::fail("write");
  const int poll = ::epoll_create1(EPOLL_CLOEXEC);
  const auto last = static_cast<std::uint32_t>(texts.size());
  add(poll, in, last);
  std::vector<int> peers;
  while (peers.size() < texts.size()) {
    const int one = ::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (one < 0) bench::fail("accept4");
    const int at_once = 1;
    ::setsockopt(one, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
    add(poll, one, static_cast<std::uint32_t>(peers.size()));
    peers.push_back(one);
  }
  if (::write(out, "open\n", 5) != 5) bench::fail("write");
  std::array<epoll_event, 64> ready{};
  for (;;) {
    const int count = ::epoll_wait(poll, ready.data(), static_cast<int>(ready.size()), -1);
    if (count < 0) bench::fail("epoll_wait");
    for (int i = 0; i < count; ++i) {
      char command = 0;
      if (ready.at(static_cast<std::size_t>(i)).data.u32 != last || ::read(in, &command, 1) != 1) return;
      for (std::size_t peer = 0; peer < peers.size(); ++peer) {
        const auto& text = texts[peer];
        if (::send(peers[peer], text.data(), text.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(text.size()))
          bench::fail("send");
      }
    }
  }
}

}  // namespace feed_bench
