/// Finds the client behind proxies, from the header fields that trusted proxies add.
///
/// The fields come from the peer and may be malformed.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

#include "transport/http_server/request_head.hpp"

namespace hondana::transport::http_server {

/// What one proxy says about its client.
struct forwarded_hop {
  std::string address;              ///< A literal address without port, "unknown", or an obfuscated identifier: "_gazonk".
  std::optional<bool> is_secure{};  ///< Whether the client used https; empty: not stated.
  friend bool operator==(const forwarded_hop&, const forwarded_hop&) = default;
};

/// Maximum number of hops in one request.
inline constexpr std::size_t max_hops = 32;

/// Parses all values of `Forwarded`, joined by commas. The entry of the nearest proxy is the last. Empty optional: the values
/// are malformed, empty, or have more than `max_hops`. Spec: RFC 7239 sections 4 to 6.
[[nodiscard]] std::optional<std::vector<forwarded_hop>> parse_forwarded(std::string_view values);
/// Like `parse_forwarded`, for X-Forwarded-For: addresses, with or without port (IPv6 with port in brackets), "unknown", or
/// obfuscated identifiers.
[[nodiscard]] std::optional<std::vector<forwarded_hop>> parse_forwarded_for(std::string_view values);

/// The proxies whose headers are trusted. Immutable. Threads: any.
class trusted_proxies {
 public:
  /// Parses literal addresses, networks ("10.0.0.0/8") and "unix" (every peer at a Unix socket). Errors: invalid_argument,
  /// naming the malformed one.
  [[nodiscard]] static result<trusted_proxies> make(const std::vector<std::string>& texts);
  /// Whether `address`, a literal address or "unix", is a trusted proxy.
  [[nodiscard]] bool trusts(const std::string& address) const;

 private:
  struct network {
    std::array<unsigned char, 16> bytes;  // IPv4 is mapped into IPv6
    unsigned bits;                        // length of the prefix, of all 128 bits
  };
  std::vector<network> networks_;
  bool trusts_unix_ = false;
};

/// The client that a request came from.
struct request_origin {
  std::string address;           ///< See `forwarded_hop::address`; "unix" for a Unix socket.
  bool is_secure = false;        ///< The client used https.
  bool is_behind_proxy = false;  ///< The peer is a trusted proxy, so the socket does not identify the client.
};

/// Finds the client in `Forwarded`, or else in X-Forwarded-For and X-Forwarded-Proto: from the last entry backwards, the first
/// address that is not a trusted proxy. `peer` and `is_secure` describe the connection. They are returned if the peer is not
/// trusted, if the fields are malformed, or if both fields name different clients. Many proxies pass on the field that they do
/// not write.
[[nodiscard]] request_origin find_request_origin(const request_head& head, const std::string& peer, bool is_secure,
                                                 const trusted_proxies& proxies);

}  // namespace hondana::transport::http_server
