/// Allow-lists of hosts and origins.
#include "transport/http_server/site.hpp"

#include <algorithm>
#include <utility>

#include "transport/http_server/field_values.hpp"

namespace hondana::transport::http_server {

site::site(std::string bound_address, offer what) : bound_address_(std::move(bound_address)), offer_(what) {}

result<std::shared_ptr<const site>> site::make(std::string bound_address, offer what, const std::vector<std::string>& hosts,
                                               const std::vector<std::string>& origins) {
  auto made = std::make_shared<site>(std::move(bound_address), what);
  for (const auto& one : hosts) {
    auto host = uri::parse_host_port(one);
    if (!host) {
      return fail(errc::invalid_argument,
                  "Cannot allow the host \"" + one + "\": that is not a host. Write name, name:port, or [IPv6 address]:port.");
    }
    made->hosts_.push_back(std::move(*host));
  }
  for (const auto& one : origins) {
    auto origin = uri::parse_origin(one);
    if (!origin) {
      return fail(errc::invalid_argument,
                  "Cannot allow the origin \"" + one +
                      "\": that is not an origin. Write https://name or http://name:port, without a path.");
    }
    made->origins_.push_back(std::move(*origin));
  }
  return std::shared_ptr<const site>(std::move(made));
}

bool site::admits_host(std::string_view authority) const {
  if (names_this_machine(authority, bound_address_)) return true;
  if (hosts_.empty()) return false;
  const auto asked = uri::parse_host_port(authority);
  return asked && std::any_of(hosts_.begin(), hosts_.end(), [&asked](const uri::host_port& one) {
           return one.host == asked->host && (!one.port || one.port == asked->port);
         });
}

bool site::admits_origin(std::string_view origin, std::string_view authority) const {
  if (is_local_origin(origin, bound_address_)) return true;
  const auto page = uri::parse_origin(origin);
  if (!page) return false;
  if (std::find(origins_.begin(), origins_.end(), *page) != origins_.end()) return true;
  // A server behind a proxy does not see whether the page came by TLS, so a port left out may be either's.
  auto asked = uri::parse_host_port(authority);
  if (!asked) return false;
  if (!asked->port) asked->port = page->is_secure ? 443 : 80;
  return *asked == page->where;
}

}  // namespace hondana::transport::http_server
