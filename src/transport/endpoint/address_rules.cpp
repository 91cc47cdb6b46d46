/// Which addresses a configured service may have.
#include "transport/endpoint/address_rules.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <optional>

namespace hondana::endpoint {
namespace {

using ipv6_bytes = std::array<std::uint8_t, 16>;

constexpr std::uint32_t ipv4_number(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) noexcept {
  return a << 24U | b << 16U | c << 8U | d;
}

/// Addresses of cloud metadata services, which give out credentials.
constexpr std::array metadata_of_clouds{ipv4_number(169, 254, 169, 254), ipv4_number(169, 254, 170, 2),
                                        ipv4_number(169, 254, 170, 23),  ipv4_number(100, 100, 100, 200),
                                        ipv4_number(168, 63, 129, 16),   ipv4_number(192, 0, 0, 192)};
constexpr std::array metadata_of_clouds6{ipv6_bytes{0xfd, 0x00, 0x0e, 0xc2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x02, 0x54},
                                         ipv6_bytes{0xfd, 0x00, 0x0e, 0xc2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x00, 0x23},
                                         ipv6_bytes{0xfd, 0x20, 0x00, 0xce, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x02, 0x54},
                                         ipv6_bytes{0xfd, 0x00, 0x00, 0xc1, 0, 0, 0, 0, 0, 0, 0, 0, 0xa9, 0xfe, 0xa9, 0xfe},
                                         ipv6_bytes{0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xa9, 0xfe, 0xa9, 0xfe}};

template <class All, class Address>
bool is_among(const All& all, const Address& address) noexcept {
  return std::find(all.begin(), all.end(), address) != all.end();
}

bool may_serve_ipv4(std::uint32_t address) noexcept {
  const auto first = address >> 24U;
  if (first == 0 || first >= 224) return false;  // unspecified; multicast, reserved, broadcast
  if (address >> 16U == (169U << 8U | 254U)) return false;
  return !is_among(metadata_of_clouds, address);
}

bool begins(const ipv6_bytes& address, std::initializer_list<std::uint8_t> prefix) noexcept {
  return std::equal(prefix.begin(), prefix.end(), address.begin());
}

std::uint32_t ipv4_within(const ipv6_bytes& address, std::size_t at) noexcept {
  return ipv4_number(address[at], address[at + 1], address[at + 2], address[at + 3]);
}

/// The IPv4 address that an IPv6 address contains.
std::optional<std::uint32_t> carried_by(const ipv6_bytes& address) noexcept {
  if (begins(address, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff})) return ipv4_within(address, 12);
  if (begins(address, {0x00, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0})) return ipv4_within(address, 12);
  if (begins(address, {0x00, 0x64, 0xff, 0x9b, 0x00, 0x01})) return ipv4_within(address, 12);
  if (begins(address, {0x20, 0x02})) return ipv4_within(address, 2);
  constexpr std::uint32_t loopback = 1;
  if (begins(address, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}) && ipv4_within(address, 12) > loopback)
    return ipv4_within(address, 12);
  return std::nullopt;
}

bool may_serve_ipv6(const ipv6_bytes& address) noexcept {
  if (const auto inner = carried_by(address)) return may_serve_ipv4(*inner);
  if (address[0] == 0xff || address == ipv6_bytes{} || is_among(metadata_of_clouds6, address)) return false;
  // Link-local, and the deprecated site-local.
  return !(address[0] == 0xfe && address[1] >= 0x80);
}

std::optional<std::uint32_t> as_ipv4(const sockaddr& address) noexcept {
  if (address.sa_family != AF_INET) return std::nullopt;
  sockaddr_in known{};
  std::memcpy(&known, &address, sizeof known);
  return ntohl(known.sin_addr.s_addr);
}

std::optional<ipv6_bytes> as_ipv6(const sockaddr& address) noexcept {
  if (address.sa_family != AF_INET6) return std::nullopt;
  sockaddr_in6 known{};
  std::memcpy(&known, &address, sizeof known);
  ipv6_bytes bytes{};
  std::memcpy(bytes.data(), &known.sin6_addr, bytes.size());
  return bytes;
}

constexpr std::uint32_t loopback_network = 127;

bool is_own_ipv6(const ipv6_bytes& address) noexcept {
  constexpr ipv6_bytes loopback{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  if (begins(address, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff})) return address[12] == loopback_network;
  return address == loopback;
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

bool may_serve(const sockaddr& address) noexcept {
  if (const auto known = as_ipv4(address)) return may_serve_ipv4(*known);
  const auto known = as_ipv6(address);
  return known && may_serve_ipv6(*known);
}

bool is_this_machine(const sockaddr& address) noexcept {
  if (const auto known = as_ipv4(address)) return *known >> 24U == loopback_network;
  const auto known = as_ipv6(address);
  return known && is_own_ipv6(*known);
}

bool is_literally(const sockaddr& address, const std::string& host) {
  if (names_metadata_of_clouds(host)) return false;
  if (const auto known = as_ipv4(address)) return known == literal_ipv4(host);
  const auto known = as_ipv6(address);
  return known && !carried_by(*known) && known == literal_ipv6(host);
}

bool names_metadata_of_clouds(const std::string& host) {
  if (const auto known = literal_ipv4(host)) return is_among(metadata_of_clouds, *known);
  const auto known = literal_ipv6(host);
  if (!known) return false;
  const auto inner = carried_by(*known);
  return inner ? is_among(metadata_of_clouds, *inner) : is_among(metadata_of_clouds6, *known);
}

bool names_this_machine(const std::string& host) noexcept {
  if (host == "localhost" || host.ends_with(".localhost")) return true;
  if (const auto known = literal_ipv4(host)) return *known >> 24U == loopback_network;
  const auto known = literal_ipv6(host);
  return known && is_own_ipv6(*known);
}

}  // namespace hondana::endpoint
