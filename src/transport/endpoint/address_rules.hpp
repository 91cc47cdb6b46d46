/// Which addresses a configured service may have.
#pragma once

#include <sys/socket.h>

#include <string>

namespace hondana::endpoint {

/// Loopback, private and public unicast addresses. Not link-local ones (169.254.0.0/16, fe80::/10), multicast, broadcast and
/// unspecified ones, nor the few others at which clouds tell machines their secrets, also where IPv6 carries them (mapped,
/// compatible, NAT64, 6to4).
[[nodiscard]] bool may_serve(const sockaddr& address) noexcept;

/// True for 127.0.0.0/8, ::1, and what IPv6 carries of the former.
[[nodiscard]] bool is_this_machine(const sockaddr& address) noexcept;

/// Whether `host`, as `uri::parse_host_port` spells it, is this very address; never of an IPv4 one that IPv6 carries, nor of
/// clouds' metadata.
[[nodiscard]] bool is_literally(const sockaddr& address, const std::string& host);

/// Whether `host`, spelled so, is an address at which clouds tell machines their secrets, and nothing else is.
[[nodiscard]] bool names_metadata_of_clouds(const std::string& host);

/// True for `localhost`, names below it, and literal addresses of this machine.
[[nodiscard]] bool names_this_machine(const std::string& host) noexcept;

}  // namespace hondana::endpoint
