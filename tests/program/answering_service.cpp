/// How it listens and reads.
#include "program/answering_service.hpp"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <stdexcept>
#include <utility>

#include "program/process.hpp"

namespace program_test {

std::string page(std::string_view content, std::string_view status, std::string_view fields) {
  const bool has_type = fields.find("Content-Type: ") != std::string_view::npos;
  return "HTTP/1.1 " + std::string(status) + "\r\n" + (has_type ? "" : "Content-Type: text/plain; version=0.0.4\r\n") +
         std::string(fields) + "Connection: close\r\nContent-Length: " + std::to_string(content.size()) + "\r\n\r\n" +
         std::string(content);
}

answering_service::answering_service(script plays)
    : plays_(std::move(plays)), socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (::bind(socket_, reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(socket_, 64) != 0 ||
      ::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size) != 0)
    throw std::runtime_error("cannot listen");
  port_ = ntohs(address.sin_port);
  serving_ = std::thread([this] { serve(); });
}

answering_service::~answering_service() {
  ::shutdown(socket_, SHUT_RDWR);
  serving_.join();
  ::close(socket_);
}

std::string answering_service::url(std::string_view path) const {
  return "http://127.0.0.1:" + std::to_string(port_) + std::string(path);
}

std::size_t answering_service::count() const {
  const std::lock_guard lock(mutex_);
  return heard_.size();
}

std::vector<asked> answering_service::requests(std::size_t count) const {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, patience, [&] { return heard_.size() >= count; });
  return heard_;
}

bool answering_service::is_asked_again(std::size_t times) const {
  const auto wanted = count() + times;
  return requests(wanted).size() >= wanted;
}

void answering_service::serve() {
  for (int peer = ::accept(socket_, nullptr, nullptr); peer >= 0; peer = ::accept(socket_, nullptr, nullptr)) {
    const timeval most{patience.count(), 0};
    ::setsockopt(peer, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
    answer(peer);
    ::close(peer);
  }
}

void answering_service::answer(int peer) {
  std::string bytes;
  std::array<char, 65536> more{};
  auto whole = std::string::npos;
  while (bytes.size() < whole) {
    const auto got = ::recv(peer, more.data(), more.size(), 0);
    if (got <= 0) return;
    bytes.append(more.data(), static_cast<std::size_t>(got));
    const auto head = bytes.find("\r\n\r\n");
    if (head == std::string::npos) continue;
    const auto size = bytes.find("\nContent-Length: ");
    whole = head + 4 + (size < head ? std::stoul(bytes.substr(size + 17)) : 0);
  }
  asked one;
  one.head = bytes.substr(0, bytes.find("\r\n\r\n") + 2);
  one.body = bytes.substr(one.head.size() + 2);
  one.method = one.head.substr(0, one.head.find(' '));
  const auto begin = one.method.size() + 1;
  one.target = one.head.substr(begin, one.head.find(' ', begin) - begin);
  const auto text = plays_(one);
  {
    const std::lock_guard lock(mutex_);
    heard_.push_back(std::move(one));
    changed_.notify_all();
  }
  ::send(peer, text.data(), text.size(), MSG_NOSIGNAL);
  ::shutdown(peer, SHUT_WR);
  while (::recv(peer, more.data(), more.size(), 0) > 0) continue;
}

}  // namespace program_test
