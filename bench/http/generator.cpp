/// Connections on one epoll loop.
#include "generator.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "answer_reader.hpp"

namespace http_bench {
namespace {

using clock_type = std::chrono::steady_clock;

std::runtime_error failed(const char* what) { return std::runtime_error(std::string(what) + ": " + std::strerror(errno)); }

/// A descriptor, closed at the end.
struct held {
  explicit held(int one) : descriptor(one) {
    if (one < 0) throw failed("no descriptor");
  }
  ~held() { ::close(descriptor); }
  held(const held&) = delete;
  held& operator=(const held&) = delete;
  int descriptor;
};

struct asker {
  explicit asker(std::uint16_t port) : socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(socket.descriptor, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) throw failed("connect");
    const int on = 1;
    ::setsockopt(socket.descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  void ask(const std::string& request) const {
    // Requests are small, and only one is under way.
    if (::send(socket.descriptor, request.data(), request.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(request.size())) {
      throw failed("send");
    }
  }
  held socket;
  answer_reader answer;
};

}  // namespace

outcome generate(std::uint16_t port, const std::string& request, std::size_t body_size, int connections,
                 std::chrono::milliseconds time) {
  const held poll(::epoll_create1(EPOLL_CLOEXEC));
  std::vector<std::unique_ptr<asker>> all;
  for (int i = 0; i < connections; ++i) {
    all.push_back(std::make_unique<asker>(port));
    epoll_event event{EPOLLIN, {.ptr = all.back().get()}};
    if (::epoll_ctl(poll.descriptor, EPOLL_CTL_ADD, all.back()->socket.descriptor, &event) != 0) throw failed("epoll_ctl");
  }
  outcome out;
  std::vector<char> buffer(256 << 10);
  std::array<epoll_event, 256> events;
  const auto begin = clock_type::now();
  const auto until = begin + time;
  for (const auto& one : all) one->ask(request);
  int under_way = connections;
  // Answers under way at the end are awaited and counted, so that what was worked on and what is counted agree.
  while (under_way > 0) {
    const int ready = ::epoll_wait(poll.descriptor, events.data(), static_cast<int>(events.size()), 30'000);
    if (ready <= 0) throw failed("no answer within 30 s");
    const bool goes_on = clock_type::now() < until;
    for (int i = 0; i < ready; ++i) {
      auto& one = *static_cast<asker*>(events[static_cast<std::size_t>(i)].data.ptr);
      const auto count = ::recv(one.socket.descriptor, buffer.data(), buffer.size(), 0);
      if (count <= 0) throw failed("the server has closed");
      if (!one.answer.take({buffer.data(), static_cast<std::size_t>(count)})) continue;
      if (one.answer.size() != body_size) {
        throw std::runtime_error("a body of " + std::to_string(one.answer.size()) + " bytes instead of " +
                                 std::to_string(body_size));
      }
      ++out.answers;
      if (goes_on) {
        one.ask(request);
      } else {
        --under_way;
      }
    }
  }
  out.seconds = std::chrono::duration<double>(clock_type::now() - begin).count();
  return out;
}

std::string fetch(std::uint16_t port, const std::string& request) {
  asker one(port);
  one.ask(request);
  std::string body;
  std::vector<char> buffer(256 << 10);
  for (;;) {
    const auto count = ::recv(one.socket.descriptor, buffer.data(), buffer.size(), 0);
    if (count <= 0) throw failed("the server has closed");
    if (one.answer.take({buffer.data(), static_cast<std::size_t>(count)}, &body)) return body;
  }
}

}  // namespace http_bench
