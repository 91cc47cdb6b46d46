/// A server that refuses everybody.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

namespace program_test {

/// Answers everything with one status, on a free port.
class refusing_server {
 public:
  explicit refusing_server(std::string_view status, std::string_view challenge = "Bearer")
      : answer_("HTTP/1.1 " + std::string(status) + "\r\nWWW-Authenticate: " + std::string(challenge) +
                "\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"),
        socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (::bind(socket_, reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(socket_, 8) != 0 ||
        ::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size) != 0)
      throw std::runtime_error("cannot listen");
    url_ = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port)) + "/mcp";
    serving_ = std::thread([this] { serve(); });
  }
  ~refusing_server() {
    ::shutdown(socket_, SHUT_RDWR);
    serving_.join();
    ::close(socket_);
  }
  refusing_server(const refusing_server&) = delete;
  refusing_server& operator=(const refusing_server&) = delete;
  [[nodiscard]] const std::string& url() const noexcept { return url_; }

 private:
  void serve() const {
    for (int peer = ::accept(socket_, nullptr, nullptr); peer >= 0; peer = ::accept(socket_, nullptr, nullptr)) {
      std::array<char, 65536> asked{};
      if (::recv(peer, asked.data(), asked.size(), 0) > 0) ::send(peer, answer_.data(), answer_.size(), MSG_NOSIGNAL);
      ::shutdown(peer, SHUT_WR);
      while (::recv(peer, asked.data(), asked.size(), 0) > 0) continue;
      ::close(peer);
    }
  }

  std::string answer_;
  int socket_;
  std::string url_;
  std::thread serving_;
};

}  // namespace program_test
