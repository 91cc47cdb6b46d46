/// Rules for the addresses of services in the configuration.
#include "transport/endpoint/address_rules.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "transport/http_client/public_address.hpp"

namespace hondana::endpoint {
namespace {

using transport::http_client::ipv4_at;
using transport::http_client::ipv4_number;
using transport::http_client::ipv4_of;
using transport::http_client::ipv6_bytes;
using transport::http_client::ipv6_of;
using transport::http_client::is_loopback;
using transport::http_client::starts_with;

/// Addresses of cloud metadata services, which give out credentials.
constexpr std::array cloud_metadata_ipv4{ipv4_number(169, 254, 169, 254), ipv4_number(169, 254, 170, 2),
                                         ipv4_number(169, 254, 170, 23),  ipv4_number(100, 100, 100, 200),
                                         ipv4_number(168, 63, 129, 16),   ipv4_number(192, 0, 0, 192)};
constexpr std::array cloud_metadata_ipv6{ipv6_bytes{0xfd, 0x00, 0x0e, 0xc2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x02, 0x54},
                                         ipv6_bytes{0xfd, 0x00, 0x0e, 0xc2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x00, 0x23},
                                         ipv6_bytes{0xfd, 0x20, 0x00, 0xce, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x02, 0x54},
                                         ipv6_bytes{0xfd, 0x00, 0x00, 0xc1, 0, 0, 0, 0, 0, 0, 0, 0, 0xa9, 0xfe, 0xa9, 0xfe},
                                         ipv6_bytes{0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xa9, 0xfe, 0xa9, 0xfe}};

template <class Addresses, class Address>
bool contains(const Addresses& addresses, const Address& address) noexcept {
  return std::find(addresses.begin(), addresses.end(), address) != addresses.end();
}

bool is_allowed_ipv4(std::uint32_t address) noexcept {
  const auto first = address >> 24U;
  if (first == 0 || first >= 224) return false;  // unspecified; multicast, reserved, broadcast
  if (address >> 16U == (169U << 8U | 254U)) return false;
  return !contains(cloud_metadata_ipv4, address);
}

/// The IPv4 address that an IPv6 address contains.
std::optional<std::uint32_t> embedded_ipv4(const ipv6_bytes& address) noexcept {
  if (starts_with(address, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff})) return ipv4_at(address, 12);
  if (starts_with(address, {0x00, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0})) return ipv4_at(address, 12);
  if (starts_with(address, {0x00, 0x64, 0xff, 0x9b, 0x00, 0x01})) return ipv4_at(address, 12);
  if (starts_with(address, {0x20, 0x02})) return ipv4_at(address, 2);
  constexpr std::uint32_t loopback = 1;
  if (starts_with(address, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}) && ipv4_at(address, 12) > loopback)
    return ipv4_at(address, 12);
  return std::nullopt;
}

bool is_allowed_ipv6(const ipv6_bytes& address) noexcept {
  if (const auto embedded = embedded_ipv4(address)) return is_allowed_ipv4(*embedded);
  if (address[0] == 0xff || address == ipv6_bytes{} || contains(cloud_metadata_ipv6, address)) return false;
  // Link-local, and the deprecated site-local.
  return !(address[0] == 0xfe && address[1] >= 0x80);
}

std::optional<std::uint32_t> literal_ipv4(const std::string& host) noexcept {
  in_addr bytes{};
  if (::inet_pton(AF_INET, host.c_str(), &bytes) != 1) return std::nullopt;
  return ntohl(bytes.s_addr);
}

std::optional<ipv6_bytes> literal_ipv6(const std::string& host) {
  if (!host.starts_with('[') || !host.ends_with(']')) return std::nullopt;
  ipv6_bytes bytes{};
  if (::inet_pton(AF_INET6, host.substr(1, host.size() - 2).c_str(), bytes.data()) != 1) return std::nullopt;
  return bytes;
}

}  // namespace

bool is_allowed_address(const sockaddr& address) noexcept {
  if (const auto ipv4 = ipv4_of(address)) return is_allowed_ipv4(*ipv4);
  const auto ipv6 = ipv6_of(address);
  return ipv6 && is_allowed_ipv6(*ipv6);
}

bool matches_literal(const sockaddr& address, const std::string& host) {
  if (is_cloud_metadata_host(host)) return false;
  if (const auto ipv4 = ipv4_of(address)) return ipv4 == literal_ipv4(host);
  const auto ipv6 = ipv6_of(address);
  return ipv6 && !embedded_ipv4(*ipv6) && ipv6 == literal_ipv6(host);
}

bool is_cloud_metadata_host(const std::string& host) {
  if (const auto ipv4 = literal_ipv4(host)) return contains(cloud_metadata_ipv4, *ipv4);
  const auto ipv6 = literal_ipv6(host);
  if (!ipv6) return false;
  const auto embedded = embedded_ipv4(*ipv6);
  return embedded ? contains(cloud_metadata_ipv4, *embedded) : contains(cloud_metadata_ipv6, *ipv6);
}

bool is_local_host(const std::string& host) noexcept {
  if (host == "localhost" || host.ends_with(".localhost")) return true;
  if (const auto ipv4 = literal_ipv4(host)) return is_loopback(*ipv4);
  const auto ipv6 = literal_ipv6(host);
  return ipv6 && is_loopback(*ipv6);
}

}  // namespace hondana::endpoint
