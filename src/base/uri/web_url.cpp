/// Web hosts, ports and origins, and well-known URLs (RFC 8615).
#include "base/uri/web_url.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/ascii/ascii.hpp"

namespace hondana::uri {
namespace {

constexpr std::size_t max_name_bytes = 253;
constexpr std::uint16_t http_port = 80;
constexpr std::uint16_t https_port = 443;

constexpr bool is_name_char(char c) noexcept { return ascii::is_digit(c) || (c >= 'a' && c <= 'z') || c == '-' || c == '_'; }

std::optional<std::uint16_t> parse_port(std::string_view text) noexcept {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc{} || end != text.data() + text.size() || text.size() > 5) return std::nullopt;
  return port;
}

/// The normalized text of an IP address; nothing when `text` is not an address.
std::optional<std::string> normalized_address(int family, const std::string& text) {
  std::array<unsigned char, 16> bytes{};
  std::array<char, INET6_ADDRSTRLEN> out{};
  if (text.find('\0') != std::string::npos || ::inet_pton(family, text.c_str(), bytes.data()) != 1) return std::nullopt;
  if (::inet_ntop(family, bytes.data(), out.data(), out.size()) == nullptr) return std::nullopt;
  return std::string(out.data());
}

std::optional<std::string> parse_name(std::string_view text) {
  if (text.empty() || text.size() > max_name_bytes) return std::nullopt;
  auto name = ascii::to_lower(text);
  std::string_view label;
  for (std::string_view remaining = name;;) {
    const auto dot = remaining.find('.');
    label = remaining.substr(0, dot);
    if (label.empty() || !std::all_of(label.begin(), label.end(), is_name_char)) return std::nullopt;
    if (dot == std::string_view::npos) break;
    remaining.remove_prefix(dot + 1);
  }
  // Browsers treat such names as IPv4 addresses in older notations.
  const bool ends_in_number = std::all_of(label.begin(), label.end(), ascii::is_digit) || label.starts_with("0x");
  return ends_in_number ? normalized_address(AF_INET, name) : std::optional(std::move(name));
}

}  // namespace

std::optional<host_port> parse_host_port(std::string_view text) {
  std::string_view port_text;
  host_port out;
  if (text.starts_with('[')) {
    const auto end = text.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    const auto address = normalized_address(AF_INET6, std::string(text.substr(1, end - 1)));
    if (!address) return std::nullopt;
    out.host = '[' + *address + ']';
    port_text = text.substr(end + 1);
  } else {
    const auto colon = text.find(':');
    auto name = parse_name(text.substr(0, colon));
    if (!name) return std::nullopt;
    out.host = std::move(*name);
    port_text = colon == std::string_view::npos ? std::string_view() : text.substr(colon);
  }
  if (port_text.empty()) return out;
  out.port = port_text.front() == ':' ? parse_port(port_text.substr(1)) : std::nullopt;
  if (!out.port) return std::nullopt;
  return out;
}

std::optional<web_origin> parse_origin(std::string_view text) {
  for (const bool is_secure : {false, true}) {
    const std::string_view scheme = is_secure ? "https://" : "http://";
    if (text.size() <= scheme.size() || !ascii::starts_with_ignore_case(text, scheme)) continue;
    auto authority = parse_host_port(text.substr(scheme.size()));
    if (!authority) return std::nullopt;
    if (!authority->port) authority->port = is_secure ? https_port : http_port;
    return web_origin{is_secure, std::move(*authority)};
  }
  return std::nullopt;
}

std::vector<std::string> issuer_metadata_urls(std::string_view issuer) {
  const auto scheme = issuer.find("://");
  const auto authority_start = scheme == std::string_view::npos ? 0 : scheme + 3;
  const auto slash = std::min(issuer.find('/', authority_start), issuer.size());
  const std::string origin(issuer.substr(0, slash));
  std::string path(issuer.substr(slash));
  while (path.ends_with('/')) path.pop_back();
  std::vector<std::string> out{origin + "/.well-known/oauth-authorization-server" + path,
                               origin + "/.well-known/openid-configuration" + path};
  if (!path.empty()) out.push_back(origin + path + "/.well-known/openid-configuration");
  return out;
}

}  // namespace hondana::uri
