/// Which addresses a configured service may have.
#pragma once

#include <sys/socket.h>

#include <string>

namespace hondana::endpoint {

/// True for loopback, private and public unicast addresses. False for link-local (169.254.0.0/16, fe80::/10), multicast,
/// broadcast, unspecified and cloud metadata addresses, also if IPv6 contains them (mapped, compatible, NAT64, 6to4).
[[nodiscard]] bool may_serve(const sockaddr& address) noexcept;

/// True for 127.0.0.0/8 and ::1, also if IPv6 contains the former.
[[nodiscard]] bool is_this_machine(const sockaddr& address) noexcept;

/// Whether `host`, in the form of `uri::parse_host_port`, is exactly this address. False for IPv4 inside IPv6 and for cloud
/// metadata addresses.
[[nodiscard]] bool is_literally(const sockaddr& address, const std::string& host);

/// Whether `host` is a literal cloud metadata address.
[[nodiscard]] bool names_metadata_of_clouds(const std::string& host);

/// True for `localhost`, names below it, and literal addresses of this machine.
[[nodiscard]] bool names_this_machine(const std::string& host) noexcept;

}  // namespace hondana::endpoint
