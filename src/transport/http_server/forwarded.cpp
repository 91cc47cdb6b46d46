/// Parses the forwarding headers of proxies: the client's address, and which proxies are trusted.
///
/// Values come from the peer and may be malformed.
#include "transport/http_server/forwarded.hpp"

#include <arpa/inet.h>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <utility>

#include "base/ascii/ascii.hpp"
#include "transport/http_server/peer_address.hpp"
#include "transport/http_server/request_head.hpp"

namespace hondana::transport::http_server {
namespace {

using hops = std::vector<forwarded_hop>;

constexpr std::string_view unknown = "unknown";
// Obfuscated identifiers appear in the log.
constexpr std::size_t longest_hidden_name = 64;
constexpr std::size_t most_parameters = 16;  // of one hop
constexpr unsigned all_bits = 128;
constexpr unsigned mapped_bits = 96;

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ') || text.starts_with('\t')) text.remove_prefix(1);
  while (text.ends_with(' ') || text.ends_with('\t')) text.remove_suffix(1);
  return text;
}

/// The address as IPv6, with IPv4 mapped; empty if it is not a literal address.
std::optional<std::array<unsigned char, 16>> bytes_of(const std::string& literal) {
  std::array<unsigned char, 16> out{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  if (literal.find('\0') != std::string::npos) return std::nullopt;
  if (::inet_pton(AF_INET, literal.c_str(), out.data() + 12) == 1) return out;
  if (::inet_pton(AF_INET6, literal.c_str(), out.data()) == 1) return out;
  return std::nullopt;
}

std::optional<std::string> address_text(std::string_view literal, sa_family_t family) {
  const auto address = peer_address::parse(std::string(literal), 0);
  if (!address || address->family() != family) return std::nullopt;
  return address->text();
}

bool is_port_number(std::string_view text) {
  return !text.empty() && text.size() <= 5 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// Whether it is an obfuscated identifier: `_` followed by letters, digits, dots, hyphens and underscores.
bool is_hidden_name(std::string_view text) {
  const auto may_be = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
  };
  return text.size() > 1 && text.size() <= longest_hidden_name && text.front() == '_' &&
         std::all_of(text.begin(), text.end(), may_be);
}

/// Parses `192.0.2.1`, `[2001:db8::1]`, "unknown" or an obfuscated identifier, each with or without a port.
std::optional<std::string> read_node(std::string_view text) {
  std::string_view port;
  if (text.starts_with('[')) {
    const auto end = text.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    port = text.substr(end + 1);
    if (!port.empty() && (port.front() != ':' || !(is_port_number(port.substr(1)) || is_hidden_name(port.substr(1)))))
      return std::nullopt;
    return address_text(text.substr(1, end - 1), AF_INET6);
  }
  const auto colon = text.find(':');
  const auto name = text.substr(0, colon);
  if (colon != std::string_view::npos) {
    port = text.substr(colon + 1);
    if (!is_port_number(port) && !is_hidden_name(port)) return std::nullopt;
  }
  if (ascii::is_same(name, unknown)) return std::string(unknown);
  if (is_hidden_name(name)) return std::string(name);
  return address_text(name, AF_INET);
}

std::optional<bool> read_scheme(std::string_view text) {
  if (ascii::is_same(text, "https")) return true;
  if (ascii::is_same(text, "http")) return false;
  return std::nullopt;
}

/// Splits one value of `Forwarded` into its parameters.
class parameters {
 public:
  explicit parameters(std::string_view text) : rest_(text) {}

  struct pair {
    std::string_view name;
    std::string value;
  };
  [[nodiscard]] std::optional<pair> next() {
    pair out;
    const auto equals = rest_.find('=');
    if (equals == std::string_view::npos || !is_token(rest_.substr(0, equals))) return std::nullopt;
    out.name = rest_.substr(0, equals);
    rest_.remove_prefix(equals + 1);
    if (rest_.starts_with('"')) {
      auto quoted = read_quoted();
      if (!quoted) return std::nullopt;
      out.value = std::move(*quoted);
    } else {
      const auto value = rest_.substr(0, rest_.find_first_of(",; \t"));
      if (!is_token(value)) return std::nullopt;
      out.value = std::string(value);
      rest_.remove_prefix(value.size());
    }
    return out;
  }
  /// Skips `sign` and returns true if it comes next.
  bool skip(char sign) {
    skip_blanks();
    if (!rest_.starts_with(sign)) return false;
    rest_.remove_prefix(1);
    skip_blanks();
    return true;
  }
  [[nodiscard]] bool is_at_end() {
    skip_blanks();
    return rest_.empty();
  }
  [[nodiscard]] bool is_at(char sign) const { return rest_.starts_with(sign); }

 private:
  void skip_blanks() {
    while (rest_.starts_with(' ') || rest_.starts_with('\t')) rest_.remove_prefix(1);
  }
  std::optional<std::string> read_quoted() {
    std::string out;
    for (std::size_t i = 1; i < rest_.size(); ++i) {
      if (rest_[i] == '"') {
        rest_.remove_prefix(i + 1);
        return out;
      }
      if (rest_[i] == '\\' && ++i == rest_.size()) break;
      out += rest_[i];
    }
    return std::nullopt;
  }

  std::string_view rest_;
};

/// Parses the entry of one proxy, up to the next comma or the end.
std::optional<forwarded_hop> read_hop(parameters& from) {
  forwarded_hop out;
  std::vector<std::string_view> seen;
  while (!from.is_at_end() && !from.is_at(',')) {
    if (from.skip(';')) continue;
    const auto one = from.next();
    if (!one || seen.size() == most_parameters) return std::nullopt;
    if (std::any_of(seen.begin(), seen.end(), [&](auto name) { return ascii::is_same(name, one->name); })) return std::nullopt;
    seen.push_back(one->name);
    if (ascii::is_same(one->name, "for")) {
      auto node = read_node(one->value);
      if (!node) return std::nullopt;
      out.address = std::move(*node);
    } else if (ascii::is_same(one->name, "proto")) {
      out.is_secure = read_scheme(one->value);
      if (!out.is_secure) return std::nullopt;
    }
    if (!from.is_at_end() && !from.is_at(',') && !from.is_at(';')) return std::nullopt;
  }
  if (seen.empty()) return std::nullopt;
  if (out.address.empty()) out.address = unknown;
  return out;
}

/// The index of the first hop, from the nearest outwards, that is not a trusted proxy; 0 if all are. Precondition: `all` is not
/// empty.
std::size_t outermost(const hops& all, const trusted_proxies& proxies) {
  auto at = all.size() - 1;
  while (at > 0 && proxies.trusts(all[at].address)) --at;
  return at;
}

/// The scheme by X-Forwarded-Proto, which may have one value for each address, or one in all.
std::optional<bool> scheme_of(const request_head& head, std::size_t at, std::size_t count) {
  const auto values = head.all_of("X-Forwarded-Proto");
  if (!values) return std::nullopt;
  std::vector<std::string_view> all;
  for (std::string_view rest = *values;;) {
    const auto comma = rest.find(',');
    all.push_back(trimmed(rest.substr(0, comma)));
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  return read_scheme(all.size() == count ? all[at] : all.back());
}

}  // namespace

std::optional<hops> read_forwarded(std::string_view values) {
  hops out;
  parameters from(values);
  while (!from.is_at_end()) {
    auto one = read_hop(from);
    if (!one || out.size() == most_hops) return std::nullopt;
    out.push_back(std::move(*one));
    if (from.is_at_end()) return out;
    if (!from.skip(',')) return std::nullopt;
  }
  return std::nullopt;  // empty, or nothing after its last comma
}

std::optional<hops> read_forwarded_for(std::string_view values) {
  hops out;
  for (auto rest = values;;) {
    const auto comma = rest.find(',');
    const auto text = trimmed(rest.substr(0, comma));
    auto address = address_text(text, AF_INET6);  // without brackets, as usual in this header
    if (!address) address = read_node(text);
    if (!address || out.size() == most_hops) return std::nullopt;
    out.push_back({std::move(*address), std::nullopt});
    if (comma == std::string_view::npos) return out;
    rest.remove_prefix(comma + 1);
  }
}

result<trusted_proxies> trusted_proxies::make(const std::vector<std::string>& texts) {
  trusted_proxies out;
  for (const auto& one : texts) {
    if (one == "unix") {
      out.trusts_unix_ = true;
      continue;
    }
    const auto slash = one.find('/');
    const auto address = one.substr(0, slash);
    const auto bytes = bytes_of(address);
    const unsigned most = address.find(':') == std::string::npos ? all_bits - mapped_bits : all_bits;
    unsigned bits = most;
    bool is_sound = bytes.has_value();
    if (slash != std::string::npos) {
      const auto* const end = one.data() + one.size();
      const auto read = std::from_chars(one.data() + slash + 1, end, bits);
      is_sound = is_sound && read.ec == std::errc{} && read.ptr == end && bits <= most;
    }
    if (!is_sound) {
      return fail(errc::invalid_argument,
                  "Cannot trust the proxy \"" + one +
                      "\": write an address such as 127.0.0.1 or ::1, a network such as 10.0.0.0/8, or unix.");
    }
    out.networks_.push_back({*bytes, bits + all_bits - most});
  }
  return out;
}

bool trusted_proxies::trusts(const std::string& address) const {
  if (address == "unix") return trusts_unix_;
  if (networks_.empty()) return false;
  const auto bytes = bytes_of(address);
  if (!bytes) return false;
  return std::any_of(networks_.begin(), networks_.end(), [&bytes](const network& one) {
    const auto whole = one.bits / 8;
    if (!std::equal(one.bytes.begin(), one.bytes.begin() + whole, bytes->begin())) return false;
    const auto rest = one.bits % 8;
    return rest == 0 || ((one.bytes.at(whole) ^ bytes->at(whole)) >> (8 - rest)) == 0;
  });
}

origin_of_request origin_of(const request_head& head, const std::string& peer, bool is_secure, const trusted_proxies& proxies) {
  origin_of_request out{peer, is_secure, proxies.trusts(peer)};
  if (!out.is_behind_proxy) return out;
  const auto standard = head.all_of("Forwarded");
  const auto usual = head.all_of("X-Forwarded-For");
  if (!standard && !usual) {
    out.is_secure = scheme_of(head, 0, 1).value_or(is_secure);
    return out;
  }
  const auto all = standard ? read_forwarded(*standard) : read_forwarded_for(*usual);
  if (!all) return out;
  const auto at = outermost(*all, proxies);
  const auto& client = (*all)[at];
  if (standard && usual) {
    const auto also = read_forwarded_for(*usual);
    if (!also || (*also)[outermost(*also, proxies)].address != client.address) return out;
  }
  out.address = client.address;
  const auto scheme = standard ? client.is_secure : scheme_of(head, at, all->size());
  out.is_secure = scheme.value_or(is_secure);
  return out;
}

}  // namespace hondana::transport::http_server
