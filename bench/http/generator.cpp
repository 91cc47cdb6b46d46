/// Connections on one epoll loop.
#include "generator.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "../process/child.hpp"
#include "answer_reader.hpp"

namespace http_bench {
namespace {

using bench::clock;

/// A descriptor, closed at the end.
struct held {
  explicit held(int one) : descriptor(one) {
    if (one < 0) bench::fail("no descriptor");
  }
  ~held() { ::close(descriptor); }
  held(const held&) = delete;
  held& operator=(const held&) = delete;
  int descriptor;
};

struct asker {
  asker(std::uint16_t port, std::string what)
      : socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)), request(std::move(what)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(socket.descriptor, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) bench::fail("connect");
    const int on = 1;
    ::setsockopt(socket.descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  void ask() {
    since = clock::now();
    // Requests are small, and only one is under way.
    if (::send(socket.descriptor, request.data(), request.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(request.size())) {
      bench::fail("send");
    }
  }
  held socket;
  std::string request;
  clock::time_point since;
  answer_reader reader;
};

std::string with_own_id(std::string request, int number) {
  const auto at = request.find(same_width_id);
  if (at == std::string::npos) return request;
  return request.replace(at, same_width_id.size(), std::to_string(1'000'001 + number));
}

}  // namespace

bench::outcome generate(std::uint16_t port, const std::string& request, std::size_t body_size, int connections,
                        std::chrono::milliseconds time) {
  // What is measured allocates nothing while it is measured.
  bench::outcome out;
  out.round_trips.reserve(static_cast<std::size_t>(time.count()) * 400);
  const held poll(::epoll_create1(EPOLL_CLOEXEC));
  std::vector<std::unique_ptr<asker>> all;
  for (int i = 0; i < connections; ++i) {
    all.push_back(std::make_unique<asker>(port, with_own_id(request, i)));
    epoll_event event{EPOLLIN, {.ptr = all.back().get()}};
    if (::epoll_ctl(poll.descriptor, EPOLL_CTL_ADD, all.back()->socket.descriptor, &event) != 0) bench::fail("epoll_ctl");
  }
  std::vector<char> buffer(256 << 10);
  std::array<epoll_event, 256> events;
  const auto begin = clock::now();
  const auto until = begin + time;
  for (const auto& one : all) one->ask();
  int under_way = connections;
  // Answers under way at the end are awaited and counted, so that what was worked on and what is counted agree.
  while (under_way > 0) {
    const int ready = ::epoll_wait(poll.descriptor, events.data(), static_cast<int>(events.size()), 30'000);
    if (ready <= 0) throw std::runtime_error("no answer within 30 s");
    const bool goes_on = clock::now() < until;
    for (int i = 0; i < ready; ++i) {
      auto& one = *static_cast<asker*>(events[static_cast<std::size_t>(i)].data.ptr);
      const auto count = ::recv(one.socket.descriptor, buffer.data(), buffer.size(), 0);
      if (count <= 0) throw std::runtime_error("the server has closed");
      if (!one.reader.take({buffer.data(), static_cast<std::size_t>(count)})) continue;
      if (one.reader.size() != body_size) {
        throw std::runtime_error("a body of " + std::to_string(one.reader.size()) + " bytes instead of " +
                                 std::to_string(body_size));
      }
      ++out.answers;
      out.round_trips.push_back(std::chrono::duration<float, std::micro>(clock::now() - one.since).count());
      if (goes_on) {
        one.ask();
      } else {
        --under_way;
      }
    }
  }
  out.seconds = std::chrono::duration<double>(clock::now() - begin).count();
  return out;
}

answer fetch(std::uint16_t port, const std::string& request) {
  asker one(port, request);
  one.ask();
  answer out;
  std::vector<char> buffer(256 << 10);
  for (;;) {
    const auto count = ::recv(one.socket.descriptor, buffer.data(), buffer.size(), 0);
    if (count <= 0) throw std::runtime_error("the server has closed");
    if (one.reader.take({buffer.data(), static_cast<std::size_t>(count)}, &out.body)) break;
  }
  out.session = one.reader.session();
  return out;
}

}  // namespace http_bench
