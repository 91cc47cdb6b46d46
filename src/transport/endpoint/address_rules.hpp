/// Rules for the addresses of services in the configuration.
#pragma once

#include <sys/socket.h>

#include <string>

namespace hondana::endpoint {

/// True for loopback, private and public unicast addresses. False for link-local (169.254.0.0/16, fe80::/10), multicast,
/// reserved, unspecified and cloud metadata addresses, also inside IPv6 addresses (mapped, compatible, NAT64, 6to4).
[[nodiscard]] bool is_allowed_address(const sockaddr& address) noexcept;

/// Whether `host`, spelled as by `uri::parse_host_port`, is a literal of exactly this address. False for IPv6 addresses that
/// contain an IPv4 address, and for cloud metadata addresses.
[[nodiscard]] bool matches_literal(const sockaddr& address, const std::string& host);

/// Whether `host` is a literal cloud metadata address, or a literal IPv6 address that contains one.
[[nodiscard]] bool is_cloud_metadata_host(const std::string& host);

/// True for `localhost`, names below it, and literal loopback addresses.
[[nodiscard]] bool is_local_host(const std::string& host) noexcept;

}  // namespace hondana::endpoint
