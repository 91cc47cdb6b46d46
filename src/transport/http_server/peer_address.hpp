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
  /// Returns the own address of a socket, not that of its peer; empty if it has none.
  [[nodiscard]] static std::optional<peer_address> of_socket(int descriptor);

  [[nodiscard]] sa_family_t family() const noexcept { return storage_.ss_family; }
  /// Whether it is an IPv4 or IPv6 address; false for a Unix socket.
  [[nodiscard]] bool is_network() const noexcept { return family() == AF_INET || family() == AF_INET6; }
  /// Also true for IPv4 loopback mapped into IPv6; false for a Unix socket.
  [[nodiscard]] bool is_loopback() const noexcept;
  /// Whether it means all addresses of the machine: 0.0.0.0 or ::.
  [[nodiscard]] bool is_wildcard() const noexcept;
  /// 0 for a Unix socket.
  [[nodiscard]] std::uint16_t port() const noexcept;
  /// The literal address without port; "unix" for a Unix socket.
  [[nodiscard]] std::string text() const;
  /// "192.0.2.1:80", "[2001:db8::1]:80" or "unix".
  [[nodiscard]] std::string text_with_port() const;
  /// What a connection from this address is counted by.
  [[nodiscard]] counted_address counted() const noexcept;

  [[nodiscard]] const sockaddr* data() const noexcept { return reinterpret_cast<const sockaddr*>(&storage_); }
  [[nodiscard]] sockaddr* data() noexcept { return reinterpret_cast<sockaddr*>(&storage_); }
  [[nodiscard]] socklen_t size() const noexcept { return size_; }
  /// For system calls that write an address to `data()`: contains the capacity; the call replaces it by the size.
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
