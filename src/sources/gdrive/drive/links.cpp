/// Looks at the host of a link.
#include "sources/gdrive/drive/links.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <hondana/uri.hpp>

#include "auth/oauth/places.hpp"
#include "base/ascii/characters.hpp"
#include "base/uri/host_port.hpp"

namespace hondana::drive {
namespace {

bool is_below(std::string_view host, std::string_view domain) noexcept {
  if (host == domain) return true;
  return host.size() > domain.size() && host.ends_with(domain) && host[host.size() - domain.size() - 1] == '.';
}

std::uint16_t port_of(const uri::host_port& where, std::string_view scheme) {
  return where.port.value_or(scheme == "https" ? std::uint16_t{443} : std::uint16_t{80});
}

}  // namespace

link_place place_of_link(const std::string& url, const std::string& base) {
  if (!oauth::check_endpoint(url, "the link")) return {};
  const auto parts = split_uri(url);
  const auto scheme = ascii::in_lower_case(std::string(parts.scheme));
  const auto where = uri::parse_host_port(parts.authority.value_or(std::string_view()));
  if (!where) return {};
  const auto own = split_uri(base);
  const auto own_scheme = ascii::in_lower_case(std::string(own.scheme));
  const auto own_place = uri::parse_host_port(own.authority.value_or(std::string_view()));
  if (own_place && scheme == own_scheme && where->host == own_place->host &&
      port_of(*where, scheme) == port_of(*own_place, own_scheme))
    return {.is_allowed = true, .has_token = true};
  constexpr std::array<std::string_view, 3> domains{"google.com", "googleapis.com", "googleusercontent.com"};
  if (scheme != "https" || where->port.value_or(443) != 443 ||
      std::none_of(domains.begin(), domains.end(), [&](std::string_view one) { return is_below(where->host, one); }))
    return {};
  return {.is_allowed = true,
          .has_token = where->host == "docs.google.com" || where->host == "www.googleapis.com",
          .is_log_in = where->host == "accounts.google.com"};
}

std::string next_link(const std::string& url, const std::string& location) {
  auto to = location.substr(0, location.find('#'));
  if (to.empty()) return {};
  const auto parts = split_uri(url);
  if (to.starts_with("//")) return std::string(parts.scheme) + ':' + to;
  if (to.starts_with('/')) return oauth::base_of(url) + to;
  return to.find("://") == std::string::npos ? std::string() : to;
}

}  // namespace hondana::drive
