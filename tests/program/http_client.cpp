/// Just enough HTTP for answers that are whole.
#include "program/http_client.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <stdexcept>

#include "program/process.hpp"

namespace program_test {

http_client::http_client(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  connect(&to, sizeof to);
}

http_client::http_client(const std::string& path) : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  if (path.size() >= sizeof to.sun_path) throw std::runtime_error("the path is too long: " + path);
  std::memcpy(to.sun_path, path.data(), path.size());
  connect(&to, sizeof to);
}

http_client::~http_client() { ::close(socket_); }

void http_client::connect(const void* address, std::size_t size) {
  const timeval wait{patience.count(), 0};
  ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
  ::setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait);
  if (::connect(socket_, static_cast<const sockaddr*>(address), static_cast<socklen_t>(size)) != 0) {
    const auto why = errno;
    ::close(socket_);
    throw std::runtime_error(std::string("cannot connect: ") + std::strerror(why));
  }
}

void http_client::fill() {
  std::array<char, 1 << 16> buffer;
  const auto count = ::recv(socket_, buffer.data(), buffer.size(), 0);
  if (count <= 0) throw std::runtime_error("no answer; so far: " + input_);
  input_.append(buffer.data(), static_cast<std::size_t>(count));
}

void http_client::send(std::string_view text) {
  if (::send(socket_, text.data(), text.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(text.size())) {
    throw std::runtime_error(std::string("cannot send: ") + std::strerror(errno));
  }
}

std::string http_client::receive() {
  while (input_.find("\r\n\r\n") == std::string::npos) fill();
  const auto begin = input_.find("\r\n\r\n") + 4;
  head_ = input_.substr(0, begin);
  constexpr std::string_view field = "\r\nContent-Length: ";
  const auto at = head_.find(field);
  if (at == std::string::npos) throw std::runtime_error("no length: " + input_);
  std::size_t length = 0;
  std::from_chars(head_.data() + at + field.size(), head_.data() + head_.size(), length);
  while (input_.size() < begin + length) fill();
  auto body = input_.substr(begin, length);
  input_.erase(0, begin + length);
  return body;
}

std::string http_client::post(std::string_view message, std::string_view method, std::string_view name) {
  send("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json\r\n" +
       ("MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: " + std::string(method)) +
       (name.empty() ? std::string() : "\r\nMcp-Name: " + std::string(name)) +
       "\r\nContent-Length: " + std::to_string(message.size()) + "\r\n\r\n" + std::string(message));
  auto body = receive();
  if (!head_.starts_with("HTTP/1.1 200 ")) throw std::runtime_error(head_ + body);
  return body;
}

std::string http_client::get(std::string_view target, std::string_view fields) {
  send("GET " + std::string(target) + " HTTP/1.1\r\n" + std::string(fields) + "\r\n");
  const auto body = receive();
  return head_ + body;
}

int http_client::status_of(std::string_view target) {
  send("GET " + std::string(target) + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
  (void)receive();
  int status = 0;
  std::from_chars(head_.data() + sizeof "HTTP/1.1", head_.data() + head_.size(), status);
  return status;
}

}  // namespace program_test
