/// The header of an HTTP request, and checks of its fields.
///
/// Values come from the peer and may be malformed; the checks treat malformed values as not allowed.
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

/// Removes and returns the part of `remaining` before the first unquoted `delimiter`.
std::string_view split_off(std::string_view& remaining, char delimiter) noexcept {
  bool is_quoted = false;
  for (std::size_t i = 0; i < remaining.size(); ++i) {
    if (is_quoted && remaining[i] == '\\') {
      ++i;
    } else if (remaining[i] == '"') {
      is_quoted = !is_quoted;
    } else if (!is_quoted && remaining[i] == delimiter) {
      const auto part = remaining.substr(0, i);
      remaining.remove_prefix(i + 1);
      return part;
    }
  }
  return std::exchange(remaining, std::string_view());
}

/// An address in network byte order; IPv4 uses four bytes.
struct address_bytes {
  int family = 0;
  std::array<unsigned char, 16> bytes{};
  bool operator==(const address_bytes&) const = default;
};

std::optional<address_bytes> parse_address(int family, std::string_view text) noexcept {
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
bool is_local_literal(const address_bytes& literal, std::string_view bound_address) noexcept {
  if (literal == parse_address(AF_INET, "127.0.0.1") || literal == parse_address(AF_INET6, "::1")) return true;
  return literal == parse_address(literal.family, bound_address);
}

struct media_type {
  std::string_view type;
  std::string_view subtype;
  std::string_view parameters;  ///< After the first semicolon.
};

std::optional<media_type> parse_media_type(std::string_view text) noexcept {
  media_type out;
  auto name = trim(split_off(text, ';'));
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
parameter next_parameter(std::string_view& remaining) noexcept {
  auto text = trim(split_off(remaining, ';'));
  const auto equals = text.find('=');
  if (equals == std::string_view::npos || !is_token(text.substr(0, equals))) return {};
  parameter out{text.substr(0, equals), text.substr(equals + 1)};
  if (out.value.size() >= 2 && out.value.front() == '"' && out.value.back() == '"') {
    out.value = out.value.substr(1, out.value.size() - 2);
  }
  return out;
}

/// A weight in thousandths, 0 to 1000; malformed ones count as 1000. Spec: RFC 9110 12.4.2.
int parse_weight(std::string_view weight) noexcept {
  if (weight.empty() || weight.front() != '0') return 1000;
  int out = 0;
  int digit_value = 100;
  for (const char c : weight.substr(std::min<std::size_t>(2, weight.size()))) {
    if (!ascii::is_digit(c)) break;
    out += digit_value * (c - '0');
    digit_value /= 10;
  }
  return out;
}

/// Whether a weight is 0, 0.0, 0.00 or 0.000.
bool is_zero(std::string_view weight) noexcept {
  return !weight.empty() && weight.front() == '0' && weight.find_first_not_of("0.") == std::string_view::npos;
}

}  // namespace

bool is_token(std::string_view text) noexcept { return !text.empty() && std::all_of(text.begin(), text.end(), is_token_char); }

bool is_local_authority(std::string_view authority, std::string_view bound_address) noexcept {
  if (authority.starts_with('[')) {
    const auto end = authority.find(']');
    if (end == std::string_view::npos) return false;
    const auto suffix = authority.substr(end + 1);
    if (!suffix.empty() && (suffix.front() != ':' || !is_port(suffix.substr(1)))) return false;
    const auto literal = parse_address(AF_INET6, authority.substr(1, end - 1));
    return literal && is_local_literal(*literal, bound_address);
  }
  const auto colon = authority.find(':');
  if (colon != std::string_view::npos && !is_port(authority.substr(colon + 1))) return false;
  const auto host = authority.substr(0, colon);
  if (ascii::equals_ignore_case(host, "localhost")) return true;
  const auto literal = parse_address(AF_INET, host);
  return literal && is_local_literal(*literal, bound_address);
}

bool is_local_origin(std::string_view origin, std::string_view bound_address) noexcept {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (origin.size() > scheme.size() && ascii::equals_ignore_case(origin.substr(0, scheme.size()), scheme)) {
      return is_local_authority(origin.substr(scheme.size()), bound_address);
    }
  }
  return false;
}

bool is_json_content(std::string_view content_type) noexcept {
  auto type = parse_media_type(content_type);
  if (!type || !ascii::equals_ignore_case(type->type, "application") || !ascii::equals_ignore_case(type->subtype, "json"))
    return false;
  while (!type->parameters.empty()) {
    const auto parameter = next_parameter(type->parameters);
    if (ascii::equals_ignore_case(parameter.name, "charset") && !ascii::equals_ignore_case(parameter.value, "utf-8"))
      return false;
  }
  return true;
}

namespace {

bool accepts_media_type(std::string_view accept, std::string_view type, std::string_view subtype) noexcept {
  if (trim(accept).empty()) return true;
  int best_precision = 0;  // 1: */*, 2: type/*, 3: type/subtype
  bool is_accepted = false;
  while (!accept.empty()) {
    auto range = parse_media_type(split_off(accept, ','));
    if (!range) continue;
    int precision = 0;
    if (range->type == "*" && range->subtype == "*") precision = 1;
    if (ascii::equals_ignore_case(range->type, type) && range->subtype == "*") precision = 2;
    if (ascii::equals_ignore_case(range->type, type) && ascii::equals_ignore_case(range->subtype, subtype)) precision = 3;
    if (precision == 0 || precision < best_precision) continue;
    bool is_range_accepted = true;
    while (!range->parameters.empty()) {
      const auto parameter = next_parameter(range->parameters);
      if (ascii::equals_ignore_case(parameter.name, "q")) is_range_accepted = !is_zero(parameter.value);
    }
    is_accepted = precision == best_precision ? is_accepted || is_range_accepted : is_range_accepted;
    best_precision = precision;
  }
  return is_accepted;
}

}  // namespace

bool accepts_json(std::string_view accept) noexcept { return accepts_media_type(accept, "application", "json"); }
bool accepts_events(std::string_view accept) noexcept { return accepts_media_type(accept, "text", "event-stream"); }

bool prefers_open_metrics(std::string_view accept) noexcept {
  int openmetrics_weight = 0;
  int other_weight = 0;
  while (!accept.empty()) {
    auto range = parse_media_type(split_off(accept, ','));
    if (!range) continue;
    bool is_openmetrics =
        ascii::equals_ignore_case(range->type, "application") && ascii::equals_ignore_case(range->subtype, "openmetrics-text");
    int weight = 1000;
    while (!range->parameters.empty()) {
      const auto parameter = next_parameter(range->parameters);
      if (ascii::equals_ignore_case(parameter.name, "q")) weight = parse_weight(parameter.value);
      if (ascii::equals_ignore_case(parameter.name, "version") && parameter.value != "1.0.0") is_openmetrics = false;
    }
    auto& best = is_openmetrics ? openmetrics_weight : other_weight;
    best = std::max(best, weight);
  }
  return openmetrics_weight > 0 && openmetrics_weight >= other_weight;
}

request_head::occurrences request_head::find(std::string_view name) const noexcept {
  occurrences out;
  for (const auto& field : fields) {
    if (!ascii::equals_ignore_case(field.name, name)) continue;
    if (out.count++ == 0) out.first = field.value;
  }
  return out;
}

std::optional<std::string> request_head::joined_values(std::string_view name) const {
  std::optional<std::string> out;
  for (const auto& field : fields) {
    if (!ascii::equals_ignore_case(field.name, name)) continue;
    if (!out) {
      out.emplace(field.value);
    } else {
      *out += ',';
      *out += field.value;
    }
  }
  return out;
}

}  // namespace hondana::transport::http_server
