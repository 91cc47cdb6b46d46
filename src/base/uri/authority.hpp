/// The bracketed addresses a URI's authority may name (RFC 3986 section 3.2.2).
#pragma once

#include <string_view>

namespace hondana::uri {

/// True for IPv6address and IPvFuture, given without their brackets. Zone identifiers (RFC 6874) are not taken.
[[nodiscard]] bool is_ip_literal(std::string_view text) noexcept;

}  // namespace hondana::uri
