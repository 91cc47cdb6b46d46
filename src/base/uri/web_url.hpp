/// Hosts, ports and origins of the web, and well-known URLs (RFC 8615).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hondana::uri {

/// A host in one spelling: names in lower case, IPv6 addresses in brackets and in their shortest form.
struct host_port {
  std::string host;
  std::optional<std::uint16_t> port;
  friend bool operator==(const host_port&, const host_port&) = default;
};

/// Reads `name`, `name:port`, `192.0.2.1:port`, `[2001:db8::1]:port`. Nothing for anything else: names have letters, digits,
/// hyphens, underscores and single dots between them, at most 253 in all, and one that ends in a number must be an IPv4 address
/// in its usual form, so that no two readers disagree about where it leads.
[[nodiscard]] std::optional<host_port> parse_host_port(std::string_view text);

/// A web page's origin; the port is always set.
struct web_origin {
  bool is_secure = false;  ///< https
  host_port where;
  friend bool operator==(const web_origin&, const web_origin&) = default;
};

/// Reads `http://host[:port]` and `https://host[:port]`. Nothing for `null`, other schemes, or anything behind the port.
/// Spec: RFC 6454 6.2.
[[nodiscard]] std::optional<web_origin> parse_origin(std::string_view text);

/// Where the metadata of an authorization server may be, in the order to try them: RFC 8414, and OpenID Connect Discovery with
/// the issuer's path inserted and appended. `issuer`: a URL without a query.
/// Spec: basic/authorization/authorization-server-discovery, RFC 8414 section 3.1, OpenID Connect Discovery section 4.
[[nodiscard]] std::vector<std::string> issuer_metadata_places(std::string_view issuer);

}  // namespace hondana::uri
