/// Decides which addresses are public, so that requests to untrusted URLs may reach them.
#pragma once

#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <string_view>

namespace hondana::transport::http_client {

/// True only for unicast addresses of the public Internet. False for this machine, private and shared networks, link-local,
/// multicast, documentation, reserved and cloud metadata addresses. An IPv6 address that contains an IPv4 address (mapped,
/// 6to4, NAT64) is public if the IPv4 address is. Teredo and IPv4-compatible addresses are not public. Source: IANA's
/// special-purpose address registries (RFC 6890).
[[nodiscard]] bool is_public(const sockaddr& address) noexcept;
/// See `is_public`. `address` is in host byte order.
[[nodiscard]] bool is_public_ipv4(std::uint32_t address) noexcept;
/// See `is_public`.
[[nodiscard]] bool is_public_ipv6(const std::array<std::uint8_t, 16>& address) noexcept;

/// Whether the host of an origin (see `origin_of`) is a literal address that is not public, or `localhost` or a name below it.
[[nodiscard]] bool is_private_origin(std::string_view origin);
/// True for 127.0.0.0/8, ::1, and 127.0.0.0/8 mapped into IPv6.
[[nodiscard]] bool is_loopback(const sockaddr& address) noexcept;

}  // namespace hondana::transport::http_client
