/// A port of this machine where no server listens.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "os/disk/file_descriptor.hpp"

namespace hondana_test {

/// Connections to it are refused; while it lives, no other process gets it.
class closed_port {
 public:
  closed_port() {
    sockaddr_in here{};
    here.sin_family = AF_INET;
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof here;
    auto* const address = reinterpret_cast<sockaddr*>(&here);
    if (::bind(socket_.get(), address, size) != 0 || ::getsockname(socket_.get(), address, &size) != 0)
      throw std::runtime_error("no port can be bound");
    port_ = ntohs(here.sin_port);
  }
  [[nodiscard]] std::string url(std::string_view path) const {
    return "http://127.0.0.1:" + std::to_string(port_) + std::string(path);
  }

 private:
  hondana::disk::handle socket_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  std::uint16_t port_ = 0;
};

}  // namespace hondana_test
