/// Decides which addresses are public, so that requests to untrusted URLs may reach them.
#pragma once

#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

namespace hondana::transport::http_client {

/// In network byte order.
using ipv6_bytes = std::array<std::uint8_t, 16>;

/// An IPv4 address in host byte order.
[[nodiscard]] constexpr std::uint32_t ipv4_number(std::uint32_t a, std::uint32_t b, std::uint32_t c = 0,
                                                  std::uint32_t d = 0) noexcept {
  return a << 24U | b << 16U | c << 8U | d;
}
/// Returns the address in host byte order; empty for other families.
[[nodiscard]] std::optional<std::uint32_t> ipv4_of(const sockaddr& address) noexcept;
/// Returns the address; empty for other families.
[[nodiscard]] std::optional<ipv6_bytes> ipv6_of(const sockaddr& address) noexcept;
[[nodiscard]] bool starts_with(const ipv6_bytes& address, std::initializer_list<std::uint8_t> prefix) noexcept;
/// Returns the IPv4 address that begins at byte `offset`, in host byte order.
[[nodiscard]] std::uint32_t ipv4_at(const ipv6_bytes& address, std::size_t offset) noexcept;

/// True only for unicast addresses of the public Internet. False for this machine, private and shared networks, link-local,
/// multicast, documentation, reserved and cloud metadata addresses. An IPv6 address that contains an IPv4 address (mapped,
/// 6to4, NAT64) is public if the IPv4 address is. Teredo and IPv4-compatible addresses are not public. Source: IANA's
/// special-purpose address registries (RFC 6890).
[[nodiscard]] bool is_public(const sockaddr& address) noexcept;
/// See `is_public`. `address` is in host byte order.
[[nodiscard]] bool is_public_ipv4(std::uint32_t address) noexcept;
/// See `is_public`.
[[nodiscard]] bool is_public_ipv6(const ipv6_bytes& address) noexcept;

/// Whether the host of an origin (see `origin_of`) is a literal address that is not public, or `localhost` or a name below it.
[[nodiscard]] bool is_private_origin(std::string_view origin);
/// True for 127.0.0.0/8, ::1, and 127.0.0.0/8 mapped into IPv6.
[[nodiscard]] bool is_loopback(const sockaddr& address) noexcept;
/// The same for addresses in host byte order, and for IPv6.
[[nodiscard]] constexpr bool is_loopback(std::uint32_t address) noexcept { return address >> 24U == 127; }
[[nodiscard]] bool is_loopback(const ipv6_bytes& address) noexcept;

}  // namespace hondana::transport::http_client
