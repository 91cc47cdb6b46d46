/// What one listening address answers to: the hosts it may be called by, the pages that may ask, and what it offers.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

#include "base/uri/host_port.hpp"

namespace hondana::transport::http_server {

/// Immutable and shared by the connections of one listening socket. Threads: any.
class site {
 public:
  enum class offer {
    everything,  ///< Messages and reports.
    messages,    ///< The reports have an address of their own.
    reports,     ///< Health and readiness only.
  };
  /// `bound_address`: the literal address listened on, or empty when there is none (a Unix socket, all addresses).
  explicit site(std::string bound_address, offer what = offer::everything);
  /// With further hosts (`name` at any port, `name:port` at that one) and the origins of pages. Errors: invalid_argument,
  /// naming the malformed one.
  [[nodiscard]] static result<std::shared_ptr<const site>> make(std::string bound_address, offer what,
                                                                const std::vector<std::string>& hosts,
                                                                const std::vector<std::string>& origins);

  /// Whether `host[:port]` is loopback by name or literal, the bound address, or configured.
  /// Spec: basic/transports#security-warning (DNS rebinding).
  [[nodiscard]] bool admits_host(std::string_view authority) const;
  /// Whether a page of `origin` may ask: one of this machine, of the very authority it asks (which was admitted before), or
  /// configured. `null` may not.
  [[nodiscard]] bool admits_origin(std::string_view origin, std::string_view authority) const;
  [[nodiscard]] bool offers_messages() const noexcept { return offer_ != offer::reports; }
  [[nodiscard]] bool offers_reports() const noexcept { return offer_ != offer::messages; }

 private:
  std::string bound_address_;
  offer offer_;
  std::vector<uri::host_port> hosts_;
  std::vector<uri::web_origin> origins_;
};

}  // namespace hondana::transport::http_server
