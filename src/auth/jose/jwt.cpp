/// Parses and verifies JSON Web Tokens.
#include "auth/jose/jwt.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/json/base64.hpp"

namespace hondana::jose {
namespace {

constexpr std::size_t max_member_bytes = 256;
constexpr std::size_t max_values = 2'000;

tl::unexpected<failure> malformed(std::string_view reason) {
  return fail(errc::invalid_argument, "the token " + std::string(reason));
}

tl::unexpected<failure> reject(std::string_view reason) {
  return fail(errc::access_denied, "the token " + std::string(reason));
}

/// Splits header, claims and signature; empty unless there are exactly three parts.
std::optional<std::array<std::string_view, 3>> split_parts(std::string_view compact) {
  const auto first = compact.find('.');
  const auto second = first == std::string_view::npos ? first : compact.find('.', first + 1);
  if (second == std::string_view::npos || compact.find('.', second + 1) != std::string_view::npos) return {};
  return std::array{compact.substr(0, first), compact.substr(first + 1, second - first - 1), compact.substr(second + 1)};
}

result<value> decode_object(std::string_view part, std::string_view name) {
  const auto text = json::decode_base64url(part);
  if (!text) return malformed("has a " + std::string(name) + " that is not base64url without padding");
  auto parsed = value::parse(*text, {.max_bytes = max_token_bytes, .max_values = max_values});
  if (!parsed || parsed->as_object() == nullptr) return malformed("has a " + std::string(name) + " that is not a JSON object");
  return parsed;
}

/// An optional string member of the header; empty if it is absent. Errors: invalid_argument for another type or a long string.
result<std::string> string_member(const value& header, std::string_view name) {
  const auto* member = header.find(name);
  if (member == nullptr) return std::string();
  if (member->as_string() == nullptr || member->as_string()->size() > max_member_bytes)
    return malformed("has a header whose " + std::string(name) + " is not a string, or too long");
  return *member->as_string();
}

std::optional<double> time_claim(const value& claims, std::string_view name) {
  const auto* member = claims.find(name);
  if (member == nullptr) return {};
  return member->as_number();
}

}  // namespace

result<unverified_token> read_token(std::string_view compact) {
  if (compact.size() > max_token_bytes) return malformed("is longer than " + std::to_string(max_token_bytes) + " bytes");
  const auto parts = split_parts(compact);
  if (!parts) {
    const bool is_encrypted = std::count(compact.begin(), compact.end(), '.') == 4;
    return malformed(is_encrypted ? "is encrypted, which is not supported"
                                  : "is not a JSON Web Token: it does not have three parts");
  }
  const auto& [first, second, third] = *parts;
  HONDANA_TRY(const auto header, decode_object(first, "header"));
  HONDANA_TRY(const auto name, string_member(header, "alg"));
  const auto alg = parse_algorithm(name);
  if (!alg) return malformed("is not signed with RS256, ES256 or EdDSA");
  if (header.find("crit") != nullptr) return malformed("has an unknown critical extension");
  HONDANA_TRY(auto id, string_member(header, "kid"));
  HONDANA_TRY(auto type, string_member(header, "typ"));
  HONDANA_TRY(auto claims, decode_object(second, "payload"));
  auto signature = json::decode_base64url(third);
  if (!signature) return malformed("has a signature that is not base64url without padding");
  return unverified_token{*alg,
                          std::move(id),
                          std::move(type),
                          std::move(claims),
                          std::string(compact.substr(0, first.size() + 1 + second.size())),
                          std::move(*signature)};
}

bool has_token_header(std::string_view compact) {
  const auto parts = compact.size() > max_token_bytes ? std::nullopt : split_parts(compact);
  if (!parts) return false;
  const auto header = decode_object(parts->front(), "header");
  return header && header->find("alg") != nullptr;
}

result<void> verify(const unverified_token& token, const std::vector<public_key>& keys) {
  const bool is_signed = std::any_of(keys.begin(), keys.end(), [&token](const public_key& key) {
    // The algorithm comes from the key. The token's `alg` only selects among keys.
    return key.alg() == token.alg && key.verifies(token.text, token.signature);
  });
  if (!is_signed) return reject("is not signed by a key of its issuer");
  return {};
}

result<std::chrono::sys_time<std::chrono::seconds>> check_claims(const value& claims, const expectations& expected) {
  const auto* issuer = claims.find("iss");
  if (issuer == nullptr || issuer->as_string() == nullptr || *issuer->as_string() != expected.issuer)
    return reject("was not issued by " + expected.issuer);
  const auto* audience = claims.find("aud");
  const auto is_accepted = [&expected](const value& candidate) {
    return candidate.as_string() != nullptr &&
           std::find(expected.audiences.begin(), expected.audiences.end(), *candidate.as_string()) != expected.audiences.end();
  };
  const auto* audiences = audience == nullptr ? nullptr : audience->as_array();
  const bool is_intended =
      audience != nullptr &&
      (audiences == nullptr ? is_accepted(*audience) : std::any_of(audiences->begin(), audiences->end(), is_accepted));
  if (!is_intended) return reject("is for another audience");

  const auto now = static_cast<double>(expected.now.time_since_epoch().count());
  const auto skew = static_cast<double>(expected.skew.count());
  for (const auto* name : {"exp", "nbf", "iat"}) {
    if (claims.find(name) != nullptr && !time_claim(claims, name))
      return malformed("has a " + std::string(name) + " that is not a number");
  }
  const auto expiry = time_claim(claims, "exp");
  if (!expiry) return reject("never expires, which is not allowed");
  if (*expiry + skew <= now) return reject("has expired");
  if (const auto begin = time_claim(claims, "nbf"); begin && *begin > now + skew) return reject("is not valid yet");
  if (const auto issued = time_claim(claims, "iat"); issued && *issued > now + skew) return reject("was issued in the future");
  // A later expiry would overflow. It is replaced by the year 9999.
  constexpr double latest = 253'402'300'799;  // the year 9999
  return std::chrono::sys_time<std::chrono::seconds>(
      std::chrono::seconds(static_cast<std::int64_t>(std::min(*expiry, latest))));
}

}  // namespace hondana::jose
