/// Which addresses are public, so that a URL from a stranger may lead there.
#pragma once

#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <string_view>

namespace hondana::transport::http_client {

/// True for unicast addresses of the public Internet only: not this machine, private and shared networks, link-local,
/// multicast, documentation, reserved. IPv6 addresses that carry an IPv4 address (mapped, 6to4, NAT64) are as public as that
/// one; those of Teredo and the compatible form are not. Source: IANA's special-purpose address registries (RFC 6890).
[[nodiscard]] bool is_public(const sockaddr& address) noexcept;
[[nodiscard]] bool is_public_ipv4(std::uint32_t address) noexcept;  ///< In the host's byte order.
[[nodiscard]] bool is_public_ipv6(const std::array<std::uint8_t, 16>& address) noexcept;

/// What the host of an origin (as `origin_of` spells it) says by itself: a literal address that is not public, or a name of
/// this machine.
[[nodiscard]] bool leads_home(std::string_view origin);
/// True for loopback addresses, IPv4 ones carried in IPv6 included.
[[nodiscard]] bool is_loopback(const sockaddr& address) noexcept;

}  // namespace hondana::transport::http_client
