/// Which addresses a configured service may have.
#pragma once

#include <sys/socket.h>

#include <string>

namespace hondana::endpoint {

/// True for loopback, private and public unicast addresses. False for link-local (169.254.0.0/16, fe80::/10), multicast,
/// broadcast, unspecified and cloud metadata addresses, also if IPv6 contains them (mapped, compatible, NAT64, 6to4).
[[nodiscard]] bool is_allowed_address(const sockaddr& address) noexcept;

/// True for 127.0.0.0/8 and ::1, also if IPv6 contains the former.
[[nodiscard]] bool is_loopback(const sockaddr& address) noexcept;

/// Whether `host`, in the form of `uri::parse_host_port`, is exactly this address. False for IPv4 inside IPv6 and for cloud
/// metadata addresses.
[[nodiscard]] bool matches_literal(const sockaddr& address, const std::string& host);

/// Whether `host` is a literal cloud metadata address.
[[nodiscard]] bool is_cloud_metadata_host(const std::string& host);

/// True for `localhost`, names below it, and literal addresses of this machine.
[[nodiscard]] bool is_local_host(const std::string& host) noexcept;

}  // namespace hondana::endpoint
