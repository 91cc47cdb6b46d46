/// The address of a socket or of its peer.
#include "transport/http_server/peer_address.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace hondana::transport::http_server {
namespace {

constexpr std::array<unsigned char, 12> ipv4_mapped_prefix{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

}  // namespace

std::optional<peer_address> peer_address::parse(const std::string& literal, std::uint16_t port) {
  peer_address out;
  if (literal.find('\0') != std::string::npos) return std::nullopt;
  sockaddr_in ipv4{};
  sockaddr_in6 ipv6{};
  if (::inet_pton(AF_INET, literal.c_str(), &ipv4.sin_addr) == 1) {
    ipv4.sin_family = AF_INET;
    ipv4.sin_port = htons(port);
    std::memcpy(&out.storage_, &ipv4, sizeof ipv4);
    out.size_ = sizeof ipv4;
  } else if (::inet_pton(AF_INET6, literal.c_str(), &ipv6.sin6_addr) == 1) {
    ipv6.sin6_family = AF_INET6;
    ipv6.sin6_port = htons(port);
    std::memcpy(&out.storage_, &ipv6, sizeof ipv6);
    out.size_ = sizeof ipv6;
  } else {
    return std::nullopt;
  }
  return out;
}

std::optional<peer_address> peer_address::of_socket(int descriptor) {
  peer_address out;
  if (::getsockname(descriptor, out.data(), out.mutable_size()) != 0) return std::nullopt;
  return out;
}

const unsigned char* peer_address::bytes() const noexcept {
  const auto* raw = reinterpret_cast<const unsigned char*>(&storage_);
  return raw + (family() == AF_INET ? offsetof(sockaddr_in, sin_addr) : offsetof(sockaddr_in6, sin6_addr));
}

bool peer_address::is_loopback() const noexcept {
  if (family() == AF_INET) return bytes()[0] == 127;
  if (family() != AF_INET6) return false;
  if (std::equal(ipv4_mapped_prefix.begin(), ipv4_mapped_prefix.end(), bytes())) return bytes()[12] == 127;
  return std::memcmp(bytes(), &in6addr_loopback, sizeof in6addr_loopback) == 0;
}

bool peer_address::is_wildcard() const noexcept {
  if (!is_network()) return false;
  const auto count = family() == AF_INET ? 4 : 16;
  return std::all_of(bytes(), bytes() + count, [](unsigned char byte) { return byte == 0; });
}

std::uint16_t peer_address::port() const noexcept {
  if (!is_network()) return 0;
  // The port has the same offset in IPv4 and IPv6 addresses.
  std::uint16_t port = 0;
  std::memcpy(&port, reinterpret_cast<const unsigned char*>(&storage_) + offsetof(sockaddr_in, sin_port), sizeof port);
  return ntohs(port);
}

std::string peer_address::text() const {
  std::array<char, INET6_ADDRSTRLEN> out{};
  if (!is_network()) return "unix";
  if (::inet_ntop(family(), bytes(), out.data(), out.size()) == nullptr) return "unknown";
  return out.data();
}

std::string peer_address::text_with_port() const {
  if (!is_network()) return text();
  return (family() == AF_INET6 ? '[' + text() + ']' : text()) + ':' + std::to_string(port());
}

counted_address peer_address::counted() const noexcept {
  counted_address out;
  out.is_network = is_network();
  out.is_loopback = is_loopback();
  if (!out.is_network) return out;
  const bool is_mapped = family() == AF_INET6 && std::equal(ipv4_mapped_prefix.begin(), ipv4_mapped_prefix.end(), bytes());
  const auto* source = is_mapped ? bytes() + 12 : bytes();
  const auto count = family() == AF_INET || is_mapped ? sizeof(std::uint32_t) : sizeof(std::uint64_t);
  std::memcpy(&out.bits, source, count);
  return out;
}

}  // namespace hondana::transport::http_server
