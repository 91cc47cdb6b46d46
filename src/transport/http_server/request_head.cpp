/// The header of an HTTP request, and the values of its fields.
///
/// Values come from the peer and may be malformed; malformed values count as not allowed.
#include "transport/http_server/request_head.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include "base/ascii/ascii.hpp"

namespace hondana::transport::http_server {
namespace {

constexpr bool is_token_char(char c) noexcept {
  return ascii::is_digit(c) || ascii::is_letter(c) || std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

std::string_view trim(std::string_view text) noexcept {
  while (!text.empty() && ascii::is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && ascii::is_blank(text.back())) text.remove_suffix(1);
  return text;
}

/// Removes and returns the part of `rest` before the first unquoted `at`.
std::string_view cut(std::string_view& rest, char at) noexcept {
  bool quoted = false;
  for (std::size_t i = 0; i < rest.size(); ++i) {
    if (quoted && rest[i] == '\\') {
      ++i;
    } else if (rest[i] == '"') {
      quoted = !quoted;
    } else if (!quoted && rest[i] == at) {
      const auto part = rest.substr(0, i);
      rest.remove_prefix(i + 1);
      return part;
    }
  }
  return std::exchange(rest, std::string_view());
}

/// An address in network byte order; IPv4 uses four bytes.
struct address_bytes {
  int family = 0;
  std::array<unsigned char, 16> bytes{};
  bool operator==(const address_bytes&) const = default;
};

std::optional<address_bytes> read_address(int family, std::string_view text) noexcept {
  std::array<char, INET6_ADDRSTRLEN> terminated{};
  if (text.empty() || text.size() >= terminated.size() || text.find('\0') != std::string_view::npos) return std::nullopt;
  std::memcpy(terminated.data(), text.data(), text.size());
  address_bytes out;
  out.family = family;
  if (::inet_pton(family, terminated.data(), out.bytes.data()) != 1) return std::nullopt;
  return out;
}

bool is_port(std::string_view text) noexcept {
  if (text.empty() || text.size() > 5 || !std::all_of(text.begin(), text.end(), ascii::is_digit)) return false;
  unsigned value = 0;
  for (const char c : text) value = value * 10 + static_cast<unsigned>(c - '0');
  return value <= 65535;
}

/// Whether a literal is 127.0.0.1, ::1 or the address that the server is bound to.
bool is_ours(const address_bytes& literal, std::string_view bound_address) noexcept {
  if (literal == read_address(AF_INET, "127.0.0.1") || literal == read_address(AF_INET6, "::1")) return true;
  return literal == read_address(literal.family, bound_address);
}

struct media_type {
  std::string_view type;
  std::string_view subtype;
  std::string_view parameters;  ///< After the first semicolon.
};

std::optional<media_type> read_media_type(std::string_view text) noexcept {
  media_type out;
  auto name = trim(cut(text, ';'));
  out.parameters = text;
  const auto slash = name.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  out.type = name.substr(0, slash);
  out.subtype = name.substr(slash + 1);
  if (!is_token(out.type) || !is_token(out.subtype)) return std::nullopt;
  return out;
}

struct parameter {
  std::string_view name;
  std::string_view value;  ///< Without quotes; escapes are not decoded.
};

/// Removes and returns the next `name=value`; empty if the name is not a token.
parameter next_parameter(std::string_view& rest) noexcept {
  auto text = trim(cut(rest, ';'));
  const auto equals = text.find('=');
  if (equals == std::string_view::npos || !is_token(text.substr(0, equals))) return {};
  parameter out{text.substr(0, equals), text.substr(equals + 1)};
  if (out.value.size() >= 2 && out.value.front() == '"' && out.value.back() == '"') {
    out.value = out.value.substr(1, out.value.size() - 2);
  }
  return out;
}

/// A weight in thousandths, 0 to 1000; malformed ones count as 1000. Spec: RFC 9110 12.4.2.
int thousandths(std::string_view weight) noexcept {
  if (weight.empty() || weight.front() != '0') return 1000;
  int out = 0;
  int worth = 100;
  for (const char c : weight.substr(std::min<std::size_t>(2, weight.size()))) {
    if (!ascii::is_digit(c)) break;
    out += worth * (c - '0');
    worth /= 10;
  }
  return out;
}

/// Whether a weight is 0, 0.0, 0.00 or 0.000.
bool is_zero(std::string_view weight) noexcept {
  return !weight.empty() && weight.front() == '0' && weight.find_first_not_of("0.") == std::string_view::npos;
}

}  // namespace

bool is_token(std::string_view text) noexcept { return !text.empty() && std::all_of(text.begin(), text.end(), is_token_char); }

bool names_this_machine(std::string_view authority, std::string_view bound_address) noexcept {
  if (authority.starts_with('[')) {
    const auto end = authority.find(']');
    if (end == std::string_view::npos) return false;
    const auto after = authority.substr(end + 1);
    if (!after.empty() && (after.front() != ':' || !is_port(after.substr(1)))) return false;
    const auto literal = read_address(AF_INET6, authority.substr(1, end - 1));
    return literal && is_ours(*literal, bound_address);
  }
  const auto colon = authority.find(':');
  if (colon != std::string_view::npos && !is_port(authority.substr(colon + 1))) return false;
  const auto host = authority.substr(0, colon);
  if (ascii::is_same(host, "localhost")) return true;
  const auto literal = read_address(AF_INET, host);
  return literal && is_ours(*literal, bound_address);
}

bool is_local_origin(std::string_view origin, std::string_view bound_address) noexcept {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (origin.size() > scheme.size() && ascii::is_same(origin.substr(0, scheme.size()), scheme)) {
      return names_this_machine(origin.substr(scheme.size()), bound_address);
    }
  }
  return false;
}

bool is_json_content(std::string_view content_type) noexcept {
  auto type = read_media_type(content_type);
  if (!type || !ascii::is_same(type->type, "application") || !ascii::is_same(type->subtype, "json")) return false;
  while (!type->parameters.empty()) {
    const auto one = next_parameter(type->parameters);
    if (ascii::is_same(one.name, "charset") && !ascii::is_same(one.value, "utf-8")) return false;
  }
  return true;
}

namespace {

bool admits(std::string_view accept, std::string_view type, std::string_view subtype) noexcept {
  if (trim(accept).empty()) return true;
  int best = 0;  // 1: */*, 2: type/*, 3: type/subtype
  bool admitted = false;
  while (!accept.empty()) {
    auto range = read_media_type(cut(accept, ','));
    if (!range) continue;
    int precision = 0;
    if (range->type == "*" && range->subtype == "*") precision = 1;
    if (ascii::is_same(range->type, type) && range->subtype == "*") precision = 2;
    if (ascii::is_same(range->type, type) && ascii::is_same(range->subtype, subtype)) precision = 3;
    if (precision == 0 || precision < best) continue;
    bool wanted = true;
    while (!range->parameters.empty()) {
      const auto one = next_parameter(range->parameters);
      if (ascii::is_same(one.name, "q")) wanted = !is_zero(one.value);
    }
    admitted = precision == best ? admitted || wanted : wanted;
    best = precision;
  }
  return admitted;
}

}  // namespace

bool admits_json(std::string_view accept) noexcept { return admits(accept, "application", "json"); }
bool admits_events(std::string_view accept) noexcept { return admits(accept, "text", "event-stream"); }

bool prefers_open_metrics(std::string_view accept) noexcept {
  int ours = 0;
  int others = 0;
  while (!accept.empty()) {
    auto range = read_media_type(cut(accept, ','));
    if (!range) continue;
    bool is_ours = ascii::is_same(range->type, "application") && ascii::is_same(range->subtype, "openmetrics-text");
    int weight = 1000;
    while (!range->parameters.empty()) {
      const auto one = next_parameter(range->parameters);
      if (ascii::is_same(one.name, "q")) weight = thousandths(one.value);
      if (ascii::is_same(one.name, "version") && one.value != "1.0.0") is_ours = false;
    }
    auto& best = is_ours ? ours : others;
    best = std::max(best, weight);
  }
  return ours > 0 && ours >= others;
}

request_head::occurrences request_head::find(std::string_view name) const noexcept {
  occurrences out;
  for (const auto& one : fields) {
    if (!ascii::is_same(one.name, name)) continue;
    if (out.count++ == 0) out.first = one.value;
  }
  return out;
}

std::optional<std::string> request_head::all_of(std::string_view name) const {
  std::optional<std::string> out;
  for (const auto& one : fields) {
    if (!ascii::is_same(one.name, name)) continue;
    if (!out) {
      out.emplace(one.value);
    } else {
      *out += ',';
      *out += one.value;
    }
  }
  return out;
}

}  // namespace hondana::transport::http_server
