/// Web hosts, ports and origins, and well-known URLs (RFC 8615).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hondana::uri {

/// A normalized host: names in lower case, IPv6 addresses in brackets and in their shortest form.
struct host_port {
  std::string host;
  std::optional<std::uint16_t> port;
  friend bool operator==(const host_port&, const host_port&) = default;
};

/// Parses `name`, `name:port`, `192.0.2.1:port` or `[2001:db8::1]:port`. Returns nothing for anything else.
/// Names consist of letters, digits, hyphens and underscores, separated by single dots, with at most 253 characters. A name
/// that ends in a number must be an IPv4 address in dotted-decimal form. Otherwise programs could disagree about its meaning.
[[nodiscard]] std::optional<host_port> parse_host_port(std::string_view text);

/// The origin of a web page. The port is always set.
struct web_origin {
  bool is_secure = false;  ///< The scheme is https.
  host_port authority;
  friend bool operator==(const web_origin&, const web_origin&) = default;
};

/// Parses `http://host[:port]` and `https://host[:port]`. Nothing for `null`, other schemes, or text after the port.
/// Spec: RFC 6454 6.2.
[[nodiscard]] std::optional<web_origin> parse_origin(std::string_view text);

/// The possible metadata URLs of an authorization server, in the order to try them.
/// These are the RFC 8414 URL, then OpenID Connect Discovery with the issuer's path inserted and appended. `issuer`: a URL
/// without a query.
/// Spec: basic/authorization/authorization-server-discovery, RFC 8414 section 3.1, OpenID Connect Discovery section 4.
[[nodiscard]] std::vector<std::string> issuer_metadata_urls(std::string_view issuer);

}  // namespace hondana::uri
