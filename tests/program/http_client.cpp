/// Just enough HTTP for answers that are whole.
#include "program/http_client.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <stdexcept>

namespace program_test {

http_client::http_client(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  const timeval patience{30, 0};
  ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  ::setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(socket_, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) {
    const auto why = errno;
    ::close(socket_);
    throw std::runtime_error(std::string("cannot connect: ") + std::strerror(why));
  }
}

http_client::~http_client() { ::close(socket_); }

void http_client::fill() {
  std::array<char, 1 << 16> buffer;
  const auto count = ::recv(socket_, buffer.data(), buffer.size(), 0);
  if (count <= 0) throw std::runtime_error("no answer; so far: " + input_);
  input_.append(buffer.data(), static_cast<std::size_t>(count));
}

std::string http_client::post(std::string_view message, std::string_view method) {
  const auto text = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json\r\n" +
                    ("MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: " + std::string(method)) +
                    "\r\nContent-Length: " + std::to_string(message.size()) + "\r\n\r\n" + std::string(message);
  if (::send(socket_, text.data(), text.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(text.size())) {
    throw std::runtime_error(std::string("cannot send: ") + std::strerror(errno));
  }
  while (input_.find("\r\n\r\n") == std::string::npos) fill();
  if (!input_.starts_with("HTTP/1.1 200 ")) throw std::runtime_error(input_);
  constexpr std::string_view field = "\r\nContent-Length: ";
  const auto at = input_.find(field);
  if (at == std::string::npos) throw std::runtime_error("no length: " + input_);
  std::size_t length = 0;
  std::from_chars(input_.data() + at + field.size(), input_.data() + input_.size(), length);
  const auto begin = input_.find("\r\n\r\n") + 4;
  while (input_.size() < begin + length) fill();
  auto body = input_.substr(begin, length);
  input_.erase(0, begin + length);
  return body;
}

}  // namespace program_test
