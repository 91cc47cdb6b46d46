/// Web hosts, ports and origins, and well-known URLs (RFC 8615).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hondana::uri {

/// A normalized host, and the port if there is one.
struct host_port {
  std::string host;  ///< A name in lower case, an IPv4 address, or an IPv6 address in brackets and in its shortest form.
  std::optional<std::uint16_t> port;
  friend bool operator==(const host_port&, const host_port&) = default;
};

/// Parses `name`, `192.0.2.1` or `[2001:db8::1]`, each with or without `:port`. Returns nullopt for anything else.
/// Names consist of letters, digits, hyphens and underscores, separated by single dots, with at most 253 characters.
/// A name that ends in a number must be an IPv4 address in dotted-decimal form, because programs interpret others differently.
[[nodiscard]] std::optional<host_port> parse_host_port(std::string_view text);

/// The origin of a web page.
struct web_origin {
  bool is_secure = false;  ///< The scheme is https.
  host_port authority;     ///< The port is always set: 80 or 443 if the text has none.
  friend bool operator==(const web_origin&, const web_origin&) = default;
};

/// Parses `http://host[:port]` and `https://host[:port]`. Returns nullopt for `null`, other schemes, or a path.
/// Spec: RFC 6454 6.2.
[[nodiscard]] std::optional<web_origin> parse_origin(std::string_view text);

/// The possible metadata URLs of an authorization server, in the order to try them.
/// `issuer`: the URL of the server, without a query.
/// The first is the URL of RFC 8414. The second is that of OpenID Connect Discovery with the issuer's path at the end. If there
/// is a path, the third one has it before `/.well-known/openid-configuration`.
/// Spec: basic/authorization/authorization-server-discovery, RFC 8414 section 3.1, OpenID Connect Discovery section 4.
[[nodiscard]] std::vector<std::string> issuer_metadata_urls(std::string_view issuer);

}  // namespace hondana::uri
