/// Opening and reading very many streams.
#include "crowd.hpp"

#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <stdexcept>

#include "../process/child.hpp"

namespace feed_bench {
namespace {

constexpr std::size_t connections_an_address = 2'000;
constexpr int patience_seconds = 60;

sockaddr_in loopback(std::uint32_t last, std::uint16_t port) {
  sockaddr_in out{};
  out.sin_family = AF_INET;
  out.sin_port = htons(port);
  out.sin_addr.s_addr = htonl(INADDR_LOOPBACK - 1 + last);
  return out;
}

std::string receive_until(int socket, std::string_view end) {
  std::string had;
  std::array<char, 4096> buffer{};
  while (had.find(end) == std::string::npos) {
    const auto count = ::recv(socket, buffer.data(), buffer.size(), 0);
    if (count <= 0) throw std::runtime_error("a stream did not open; so far: " + had);
    had.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return had;
}

std::string with_session(std::string text, const std::string& session) {
  constexpr std::string_view place = "{session}";
  const auto at = text.find(place);
  if (at != std::string::npos) text.replace(at, place.size(), session);
  return text;
}

}  // namespace

crowd::crowd(std::uint16_t port) : port_(port), poll_(::epoll_create1(EPOLL_CLOEXEC)) {
  if (poll_ < 0) bench::fail("epoll_create1");
}

crowd::~crowd() {
  for (const int one : sockets_) ::close(one);
  ::close(poll_);
}

int crowd::connect_one() {
  const int made = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (made < 0) bench::fail("socket");
  sockets_.push_back(made);
  const timeval patience{patience_seconds, 0};
  ::setsockopt(made, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  const auto own = loopback(static_cast<std::uint32_t>(2 + sockets_.size() / connections_an_address), 0);
  const auto to = loopback(1, port_);
  if (::bind(made, reinterpret_cast<const sockaddr*>(&own), sizeof own) != 0) bench::fail("bind");
  if (::connect(made, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) bench::fail("connect");
  return made;
}

void crowd::join(std::size_t count, const opening& how) {
  for (std::size_t i = 0; i < count; ++i) {
    const int one = connect_one();
    std::string session;
    for (const auto& step : how.steps) {
      const auto text = with_session(step.text, session);
      if (::send(one, text.data(), text.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(text.size())) bench::fail("send");
      const auto answer = receive_until(one, step.until);
      constexpr std::string_view field = "Mcp-Session-Id: ";
      if (const auto at = answer.find(field); at != std::string::npos) {
        session = answer.substr(at + field.size(), answer.find("\r\n", at) - at - field.size());
      }
    }
    epoll_event wanted{};
    wanted.events = EPOLLIN;
    wanted.data.u32 = static_cast<std::uint32_t>(sockets_.size() - 1);
    if (::epoll_ctl(poll_, EPOLL_CTL_ADD, one, &wanted) != 0) bench::fail("epoll_ctl");
  }
}

arrival crowd::await_event(std::string_view mark, std::vector<std::string>* texts) {
  arrival out;
  if (texts != nullptr) texts->resize(sockets_.size());
  std::array<epoll_event, 512> ready{};
  std::array<char, 4096> buffer{};
  std::vector<bool> is_told(sockets_.size());
  for (std::size_t had = 0; had < sockets_.size();) {
    const int count = ::epoll_wait(poll_, ready.data(), static_cast<int>(ready.size()), patience_seconds * 1000);
    if (count <= 0) throw std::runtime_error("an event reached " + std::to_string(had) + " streams and no more");
    for (int i = 0; i < count; ++i) {
      const auto which = ready.at(static_cast<std::size_t>(i)).data.u32;
      const auto size = ::recv(sockets_[which], buffer.data(), buffer.size(), 0);
      if (size <= 0) throw std::runtime_error("a stream has ended");
      // An event of a few hundred bytes is sent, and comes, in one piece; signs of life come between events.
      std::string_view text(buffer.data(), static_cast<std::size_t>(size));
      const auto at = text.rfind(mark);
      // On a busy machine one change can be told twice.
      if (at == std::string_view::npos || is_told[which]) continue;
      is_told[which] = true;
      // What nobody has read yet, a sign of life or an event, comes in the same piece, in a chunk of its own before this one.
      constexpr std::string_view end_of_another = "\n\n\r\n";
      if (const auto end = text.rfind(end_of_another, at); end != std::string_view::npos) {
        text.remove_prefix(end + end_of_another.size());
      }
      if (out.first == 0) out.first = bench::clock::now().time_since_epoch().count();
      ++had;
      out.bytes += text.size();
      if (texts != nullptr) (*texts)[which] = text;
    }
  }
  out.last = bench::clock::now().time_since_epoch().count();
  return out;
}

}  // namespace feed_bench
