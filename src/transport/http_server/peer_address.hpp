/// The address of a socket or of its peer.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>

#include "transport/http_server/connection_limits.hpp"

namespace hondana::transport::http_server {

/// An IPv4, IPv6 or Unix socket address.
class peer_address {
 public:
  peer_address() = default;
  /// Parses a literal IPv4 or IPv6 address; empty for anything else.
  [[nodiscard]] static std::optional<peer_address> parse(const std::string& literal, std::uint16_t port);
  /// The address that a socket is bound to; empty if it has none.
  [[nodiscard]] static std::optional<peer_address> of_socket(int descriptor);

  [[nodiscard]] sa_family_t family() const noexcept { return storage_.ss_family; }
  [[nodiscard]] bool is_network() const noexcept { return family() == AF_INET || family() == AF_INET6; }
  [[nodiscard]] bool is_loopback() const noexcept;
  /// Whether it means all addresses of the machine: 0.0.0.0 or ::.
  [[nodiscard]] bool is_wildcard() const noexcept;
  [[nodiscard]] std::uint16_t port() const noexcept;
  /// Without the port; `unix` for a Unix socket.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::string text_with_port() const;
  [[nodiscard]] counted_address counted() const noexcept;

  [[nodiscard]] const sockaddr* data() const noexcept { return reinterpret_cast<const sockaddr*>(&storage_); }
  [[nodiscard]] sockaddr* data() noexcept { return reinterpret_cast<sockaddr*>(&storage_); }
  [[nodiscard]] socklen_t size() const noexcept { return size_; }
  /// For system calls that write an address: the capacity, and then the written size.
  [[nodiscard]] socklen_t* mutable_size() noexcept {
    size_ = sizeof storage_;
    return &size_;
  }

 private:
  [[nodiscard]] const unsigned char* bytes() const noexcept;

  sockaddr_storage storage_{};
  socklen_t size_ = 0;
};

}  // namespace hondana::transport::http_server
