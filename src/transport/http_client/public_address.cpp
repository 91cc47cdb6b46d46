/// Decides which addresses are public, so that requests to untrusted URLs may reach them.
#include "transport/http_client/public_address.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>

namespace hondana::transport::http_client {
namespace {

struct ipv4_block {
  std::uint32_t first;
  unsigned bits;
};

constexpr std::array<ipv4_block, 16> special_blocks{{
    {ipv4_number(0, 0), 8},               // this network
    {ipv4_number(10, 0), 8},              // private
    {ipv4_number(100, 64), 10},           // shared by carriers (CGNAT)
    {ipv4_number(127, 0), 8},             // loopback
    {ipv4_number(169, 254), 16},          // link-local, with the metadata services of clouds
    {ipv4_number(172, 16), 12},           // private
    {ipv4_number(192, 0, 0), 24},         // protocol assignments
    {ipv4_number(192, 0, 2), 24},         // documentation
    {ipv4_number(192, 88, 99), 24},       // 6to4 relays
    {ipv4_number(192, 168), 16},          // private
    {ipv4_number(198, 18), 15},           // benchmarks
    {ipv4_number(198, 51, 100), 24},      // documentation
    {ipv4_number(203, 0, 113), 24},       // documentation
    {ipv4_number(168, 63, 129, 16), 32},  // metadata service of Azure, at a public address
    {ipv4_number(224, 0), 4},             // multicast
    {ipv4_number(240, 0), 4},             // reserved, broadcast
}};

}  // namespace

bool starts_with(const ipv6_bytes& address, std::initializer_list<std::uint8_t> prefix) noexcept {
  return std::equal(prefix.begin(), prefix.end(), address.begin());
}

std::uint32_t ipv4_at(const ipv6_bytes& address, std::size_t offset) noexcept {
  return ipv4_number(address[offset], address[offset + 1], address[offset + 2], address[offset + 3]);
}

std::optional<std::uint32_t> ipv4_of(const sockaddr& address) noexcept {
  if (address.sa_family != AF_INET) return {};
  sockaddr_in native{};
  std::memcpy(&native, &address, sizeof native);
  return ntohl(native.sin_addr.s_addr);
}

std::optional<ipv6_bytes> ipv6_of(const sockaddr& address) noexcept {
  if (address.sa_family != AF_INET6) return {};
  sockaddr_in6 native{};
  std::memcpy(&native, &address, sizeof native);
  ipv6_bytes bytes{};
  std::memcpy(bytes.data(), &native.sin6_addr, bytes.size());
  return bytes;
}

bool is_public_ipv4(std::uint32_t address) noexcept {
  return std::none_of(special_blocks.begin(), special_blocks.end(),
                      [&](const ipv4_block& block) { return (address ^ block.first) >> (32 - block.bits) == 0; });
}

bool is_public_ipv6(const ipv6_bytes& address) noexcept {
  if (starts_with(address, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff})) return is_public_ipv4(ipv4_at(address, 12));
  if (starts_with(address, {0x00, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0})) return is_public_ipv4(ipv4_at(address, 12));
  // Only 2000::/3 has been allocated.
  if ((address[0] & 0xe0U) != 0x20) return false;
  if (starts_with(address, {0x20, 0x02})) return is_public_ipv4(ipv4_at(address, 2));
  if (starts_with(address, {0x20, 0x01, 0x0d, 0xb8})) return false;               // documentation
  if (starts_with(address, {0x20, 0x01}) && address[2] < 2) return false;         // protocol assignments, Teredo
  return !(address[0] == 0x3f && address[1] == 0xff && (address[2] >> 4U) == 0);  // documentation
}

bool is_public(const sockaddr& address) noexcept {
  if (const auto ipv4 = ipv4_of(address)) return is_public_ipv4(*ipv4);
  const auto ipv6 = ipv6_of(address);
  return ipv6 && is_public_ipv6(*ipv6);
}

bool is_private_origin(std::string_view origin) {
  auto host = origin.substr(origin.find("://") + 3);
  host = host.substr(0, host.rfind(':'));
  while (host.ends_with('.')) host.remove_suffix(1);
  if (host == "localhost" || host.ends_with(".localhost")) return true;
  if (host.starts_with('[')) {
    ipv6_bytes bytes{};
    const std::string literal(host.substr(1, host.find_first_of("]%") - 1));
    return ::inet_pton(AF_INET6, literal.c_str(), bytes.data()) != 1 || !is_public_ipv6(bytes);
  }
  in_addr bytes{};
  return ::inet_pton(AF_INET, std::string(host).c_str(), &bytes) == 1 && !is_public_ipv4(ntohl(bytes.s_addr));
}

bool is_loopback(const ipv6_bytes& address) noexcept {
  if (starts_with(address, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff})) return is_loopback(ipv4_at(address, 12));
  return address == ipv6_bytes{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
}

bool is_loopback(const sockaddr& address) noexcept {
  if (const auto ipv4 = ipv4_of(address)) return is_loopback(*ipv4);
  const auto ipv6 = ipv6_of(address);
  return ipv6 && is_loopback(*ipv6);
}

}  // namespace hondana::transport::http_client
