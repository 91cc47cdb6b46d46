/// Forwarded headers of proxies: the client behind them, and which proxies are trusted.
///
/// Values come from the peer and are never trusted to be well-formed.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

#include "transport/http_server/request_head.hpp"

namespace hondana::transport::http_server {

/// One proxy's word: who connected to it, and how.
struct forwarded_hop {
  std::string address;  ///< A literal address without its port, "unknown", or a name that hides it: "_gazonk".
  std::optional<bool> is_secure{};
  friend bool operator==(const forwarded_hop&, const forwarded_hop&) = default;
};

/// Hops in one request at most.
inline constexpr std::size_t most_hops = 32;

/// All values of `Forwarded`, joined by commas; the nearest proxy's word comes last. Nothing for what is malformed, empty or
/// longer than `most_hops`. Spec: RFC 7239 sections 4 to 6.
[[nodiscard]] std::optional<std::vector<forwarded_hop>> read_forwarded(std::string_view values);
/// The same for X-Forwarded-For: addresses, IPv4 and bracketed IPv6 with ports too, or "unknown".
[[nodiscard]] std::optional<std::vector<forwarded_hop>> read_forwarded_for(std::string_view values);

/// Peers whose word is taken. Immutable. Threads: any.
class trusted_proxies {
 public:
  /// Of literal addresses, networks ("10.0.0.0/8") and "unix". Errors: invalid_argument, naming the malformed one.
  [[nodiscard]] static result<trusted_proxies> make(const std::vector<std::string>& texts);
  /// Whether a literal address, or "unix", is one of them.
  [[nodiscard]] bool trusts(const std::string& address) const;

 private:
  struct network {
    std::array<unsigned char, 16> bytes;  // of IPv4 as mapped into IPv6
    unsigned bits;                        // of those, that count
  };
  std::vector<network> networks_;
  bool trusts_unix_ = false;
};

/// Where a request came from.
struct origin_of_request {
  std::string address;
  bool is_secure = false;
  bool is_behind_proxy = false;  ///< The socket's peer is a trusted proxy, so nothing of the socket tells of the client.
};

/// Reads `Forwarded`, or else X-Forwarded-For and X-Forwarded-Proto, from the right, as far as trusted proxies are named. When
/// `peer` is none, or what is there is malformed, or the two fields disagree (many proxies pass on the one they do not write),
/// it is `peer` with `is_secure`.
[[nodiscard]] origin_of_request origin_of(const request_head& head, const std::string& peer, bool is_secure,
                                          const trusted_proxies& proxies);

}  // namespace hondana::transport::http_server
