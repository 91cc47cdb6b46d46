/// Opening and watching very many connections.
#include "load/crowd.hpp"

#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "program/http_client.hpp"
#include "program/process.hpp"

namespace load_test {
namespace {

constexpr std::size_t connections_an_address = 2'000;
constexpr rlim_t spare_descriptors = 200;

sockaddr_in loopback(std::uint32_t last, std::uint16_t port) {
  sockaddr_in out{};
  out.sin_family = AF_INET;
  out.sin_port = htons(port);
  out.sin_addr.s_addr = htonl(INADDR_LOOPBACK - 1 + last);
  return out;
}

std::runtime_error failed(const std::string& what) { return std::runtime_error(what + ": " + std::strerror(errno)); }

}  // namespace

bool is_full() {
  const char* asked = std::getenv("HONDANA_LOAD");
  return asked != nullptr && std::string_view(asked) == "full";
}

void make_room_for(std::size_t count) {
  rlimit now{};
  if (::getrlimit(RLIMIT_NOFILE, &now) != 0) throw failed("getrlimit");
  now.rlim_cur = now.rlim_max;
  if (::setrlimit(RLIMIT_NOFILE, &now) != 0) throw failed("setrlimit");
  if (now.rlim_cur < count + spare_descriptors) throw std::runtime_error("the descriptor limit is too low for this test");
}

crowd::~crowd() {
  for (const int one : sockets_) ::close(one);
}

int crowd::join(std::string_view text, int receive_buffer) {
  const int made = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (made < 0) throw failed("socket");
  sockets_.push_back(made);
  const timeval patience{program_test::patience.count(), 0};
  ::setsockopt(made, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  ::setsockopt(made, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  if (receive_buffer != 0) ::setsockopt(made, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
  const auto own = loopback(static_cast<std::uint32_t>(2 + sockets_.size() / connections_an_address), 0);
  const auto to = loopback(1, port_);
  if (::bind(made, reinterpret_cast<const sockaddr*>(&own), sizeof own) != 0) throw failed("bind");
  if (::connect(made, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) throw failed("connect");
  if (!text.empty() && ::send(made, text.data(), text.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(text.size())) {
    throw failed("send");
  }
  return made;
}

void crowd::await_each(std::string_view end, std::chrono::seconds patience) {
  const timeval limit{patience.count(), 0};
  std::array<char, 4096> buffer;
  for (const int one : sockets_) {
    ::setsockopt(one, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    std::string had;
    while (had.find(end) == std::string::npos) {
      const auto count = ::recv(one, buffer.data(), buffer.size(), 0);
      if (count <= 0) throw std::runtime_error("no answer; so far: " + had);
      had.append(buffer.data(), static_cast<std::size_t>(count));
    }
  }
}

bool crowd::is_sent_away(std::chrono::seconds patience) {
  const auto until = std::chrono::steady_clock::now() + patience;
  for (const int one : sockets_) {
    // What was sent before the end is not looked at; only the end is an event.
    pollfd watched{one, POLLRDHUP, 0};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()).count();
    if (::poll(&watched, 1, static_cast<int>(std::max<long long>(left, 0))) <= 0) return false;
  }
  return true;
}

double median_of_requests(std::uint16_t port, std::string_view message, std::string_view method, int count,
                          std::string_view name) {
  std::vector<double> times;
  for (int i = 0; i < count; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    program_test::http_client peer(port);
    peer.post(message, method, name);
    times.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

std::uint16_t port_in(const std::string& line) {
  constexpr std::string_view before = "http://127.0.0.1:";
  const auto at = line.find(before);
  std::uint16_t port = 0;
  if (at != std::string::npos) std::from_chars(line.data() + at + before.size(), line.data() + line.size(), port);
  if (port == 0) throw std::runtime_error("no port: " + line);
  return port;
}

}  // namespace load_test
