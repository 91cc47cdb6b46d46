/// Finds the client behind proxies, from the header fields that trusted proxies add.
///
/// The fields come from the peer and may be malformed.
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
constexpr std::size_t max_obfuscated_bytes = 64;
constexpr std::size_t max_parameters = 16;  // of one hop
constexpr unsigned address_bits = 128;
constexpr unsigned mapped_prefix_bits = 96;

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ') || text.starts_with('\t')) text.remove_prefix(1);
  while (text.ends_with(' ') || text.ends_with('\t')) text.remove_suffix(1);
  return text;
}

/// The address as IPv6, with IPv4 mapped; empty if it is not a literal address.
std::optional<std::array<unsigned char, 16>> parse_address_bytes(const std::string& literal) {
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
bool is_obfuscated(std::string_view text) {
  const auto is_allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
  };
  return text.size() > 1 && text.size() <= max_obfuscated_bytes && text.front() == '_' &&
         std::all_of(text.begin(), text.end(), is_allowed);
}

/// Parses `192.0.2.1`, `[2001:db8::1]`, "unknown" or an obfuscated identifier, each with or without a port.
std::optional<std::string> parse_node(std::string_view text) {
  std::string_view port;
  if (text.starts_with('[')) {
    const auto end = text.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    port = text.substr(end + 1);
    if (!port.empty() && (port.front() != ':' || !(is_port_number(port.substr(1)) || is_obfuscated(port.substr(1)))))
      return std::nullopt;
    return address_text(text.substr(1, end - 1), AF_INET6);
  }
  const auto colon = text.find(':');
  const auto name = text.substr(0, colon);
  if (colon != std::string_view::npos) {
    port = text.substr(colon + 1);
    if (!is_port_number(port) && !is_obfuscated(port)) return std::nullopt;
  }
  if (ascii::equals_ignore_case(name, unknown)) return std::string(unknown);
  if (is_obfuscated(name)) return std::string(name);
  return address_text(name, AF_INET);
}

std::optional<bool> parse_scheme(std::string_view text) {
  if (ascii::equals_ignore_case(text, "https")) return true;
  if (ascii::equals_ignore_case(text, "http")) return false;
  return std::nullopt;
}

/// Splits one value of `Forwarded` into its parameters.
class parameter_parser {
 public:
  explicit parameter_parser(std::string_view text) : remaining_(text) {}

  struct pair {
    std::string_view name;
    std::string value;
  };
  [[nodiscard]] std::optional<pair> next() {
    pair out;
    const auto equals = remaining_.find('=');
    if (equals == std::string_view::npos || !is_token(remaining_.substr(0, equals))) return std::nullopt;
    out.name = remaining_.substr(0, equals);
    remaining_.remove_prefix(equals + 1);
    if (remaining_.starts_with('"')) {
      auto quoted = parse_quoted();
      if (!quoted) return std::nullopt;
      out.value = std::move(*quoted);
    } else {
      const auto value = remaining_.substr(0, remaining_.find_first_of(",; \t"));
      if (!is_token(value)) return std::nullopt;
      out.value = std::string(value);
      remaining_.remove_prefix(value.size());
    }
    return out;
  }
  /// Skips `delimiter` and returns true if it comes next.
  bool skip(char delimiter) {
    skip_blanks();
    if (!remaining_.starts_with(delimiter)) return false;
    remaining_.remove_prefix(1);
    skip_blanks();
    return true;
  }
  [[nodiscard]] bool is_at_end() {
    skip_blanks();
    return remaining_.empty();
  }
  [[nodiscard]] bool is_at(char delimiter) const { return remaining_.starts_with(delimiter); }

 private:
  void skip_blanks() {
    while (remaining_.starts_with(' ') || remaining_.starts_with('\t')) remaining_.remove_prefix(1);
  }
  std::optional<std::string> parse_quoted() {
    std::string out;
    for (std::size_t i = 1; i < remaining_.size(); ++i) {
      if (remaining_[i] == '"') {
        remaining_.remove_prefix(i + 1);
        return out;
      }
      if (remaining_[i] == '\\' && ++i == remaining_.size()) break;
      out += remaining_[i];
    }
    return std::nullopt;
  }

  std::string_view remaining_;
};

/// Parses the entry of one proxy, up to the next comma or the end.
std::optional<forwarded_hop> parse_hop(parameter_parser& parser) {
  forwarded_hop out;
  std::vector<std::string_view> names;
  while (!parser.is_at_end() && !parser.is_at(',')) {
    if (parser.skip(';')) continue;
    const auto parameter = parser.next();
    if (!parameter || names.size() == max_parameters) return std::nullopt;
    if (std::any_of(names.begin(), names.end(), [&](auto name) { return ascii::equals_ignore_case(name, parameter->name); }))
      return std::nullopt;
    names.push_back(parameter->name);
    if (ascii::equals_ignore_case(parameter->name, "for")) {
      auto node = parse_node(parameter->value);
      if (!node) return std::nullopt;
      out.address = std::move(*node);
    } else if (ascii::equals_ignore_case(parameter->name, "proto")) {
      out.is_secure = parse_scheme(parameter->value);
      if (!out.is_secure) return std::nullopt;
    }
    if (!parser.is_at_end() && !parser.is_at(',') && !parser.is_at(';')) return std::nullopt;
  }
  if (names.empty()) return std::nullopt;
  if (out.address.empty()) out.address = unknown;
  return out;
}

/// The index of the first hop, from the nearest outwards, that is not a trusted proxy; 0 if all are. Precondition: `chain` is
/// not empty.
std::size_t first_untrusted(const hops& chain, const trusted_proxies& proxies) {
  auto index = chain.size() - 1;
  while (index > 0 && proxies.trusts(chain[index].address)) --index;
  return index;
}

/// The scheme by X-Forwarded-Proto, which may have one value for each address, or one in all.
std::optional<bool> scheme_of(const request_head& head, std::size_t index, std::size_t count) {
  const auto values = head.joined_values("X-Forwarded-Proto");
  if (!values) return std::nullopt;
  std::vector<std::string_view> schemes;
  for (std::string_view remaining = *values;;) {
    const auto comma = remaining.find(',');
    schemes.push_back(trimmed(remaining.substr(0, comma)));
    if (comma == std::string_view::npos) break;
    remaining.remove_prefix(comma + 1);
  }
  return parse_scheme(schemes.size() == count ? schemes[index] : schemes.back());
}

}  // namespace

std::optional<hops> parse_forwarded(std::string_view values) {
  hops out;
  parameter_parser parser(values);
  while (!parser.is_at_end()) {
    auto hop = parse_hop(parser);
    if (!hop || out.size() == max_hops) return std::nullopt;
    out.push_back(std::move(*hop));
    if (parser.is_at_end()) return out;
    if (!parser.skip(',')) return std::nullopt;
  }
  return std::nullopt;  // empty, or nothing after its last comma
}

std::optional<hops> parse_forwarded_for(std::string_view values) {
  hops out;
  for (auto remaining = values;;) {
    const auto comma = remaining.find(',');
    const auto text = trimmed(remaining.substr(0, comma));
    auto address = address_text(text, AF_INET6);  // without brackets, as usual in this header
    if (!address) address = parse_node(text);
    if (!address || out.size() == max_hops) return std::nullopt;
    out.push_back({std::move(*address), std::nullopt});
    if (comma == std::string_view::npos) return out;
    remaining.remove_prefix(comma + 1);
  }
}

result<trusted_proxies> trusted_proxies::make(const std::vector<std::string>& texts) {
  trusted_proxies out;
  for (const auto& text : texts) {
    if (text == "unix") {
      out.trusts_unix_ = true;
      continue;
    }
    const auto slash = text.find('/');
    const auto address = text.substr(0, slash);
    const auto bytes = parse_address_bytes(address);
    const unsigned max_bits = address.find(':') == std::string::npos ? address_bits - mapped_prefix_bits : address_bits;
    unsigned bits = max_bits;
    bool is_valid = bytes.has_value();
    if (slash != std::string::npos) {
      const auto* const end = text.data() + text.size();
      const auto parsed = std::from_chars(text.data() + slash + 1, end, bits);
      is_valid = is_valid && parsed.ec == std::errc{} && parsed.ptr == end && bits <= max_bits;
    }
    if (!is_valid) {
      return fail(errc::invalid_argument,
                  "Cannot trust the proxy \"" + text +
                      "\": write an address such as 127.0.0.1 or ::1, a network such as 10.0.0.0/8, or unix.");
    }
    out.networks_.push_back({*bytes, bits + address_bits - max_bits});
  }
  return out;
}

bool trusted_proxies::trusts(const std::string& address) const {
  if (address == "unix") return trusts_unix_;
  if (networks_.empty()) return false;
  const auto bytes = parse_address_bytes(address);
  if (!bytes) return false;
  return std::any_of(networks_.begin(), networks_.end(), [&bytes](const network& entry) {
    const auto full_bytes = entry.bits / 8;
    if (!std::equal(entry.bytes.begin(), entry.bytes.begin() + full_bytes, bytes->begin())) return false;
    const auto partial_bits = entry.bits % 8;
    return partial_bits == 0 || ((entry.bytes.at(full_bytes) ^ bytes->at(full_bytes)) >> (8 - partial_bits)) == 0;
  });
}

request_origin find_request_origin(const request_head& head, const std::string& peer, bool is_secure,
                                   const trusted_proxies& proxies) {
  request_origin out{peer, is_secure, proxies.trusts(peer)};
  if (!out.is_behind_proxy) return out;
  const auto forwarded = head.joined_values("Forwarded");
  const auto forwarded_for = head.joined_values("X-Forwarded-For");
  if (!forwarded && !forwarded_for) {
    out.is_secure = scheme_of(head, 0, 1).value_or(is_secure);
    return out;
  }
  const auto chain = forwarded ? parse_forwarded(*forwarded) : parse_forwarded_for(*forwarded_for);
  if (!chain) return out;
  const auto index = first_untrusted(*chain, proxies);
  const auto& client = (*chain)[index];
  if (forwarded && forwarded_for) {
    const auto other_chain = parse_forwarded_for(*forwarded_for);
    if (!other_chain || (*other_chain)[first_untrusted(*other_chain, proxies)].address != client.address) return out;
  }
  out.address = client.address;
  const auto scheme = forwarded ? client.is_secure : scheme_of(head, index, chain->size());
  out.is_secure = scheme.value_or(is_secure);
  return out;
}

}  // namespace hondana::transport::http_server
