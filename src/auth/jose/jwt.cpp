/// Parses and verifies JSON Web Tokens.
#include "auth/jose/jwt.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/json/base64.hpp"

namespace hondana::jose {
namespace {

constexpr std::size_t longest_member = 256;
constexpr std::size_t most_values = 2'000;

tl::unexpected<failure> malformed(std::string_view what) {
  return fail(errc::invalid_argument, "the token " + std::string(what));
}

tl::unexpected<failure> unfit(std::string_view what) { return fail(errc::access_denied, "the token " + std::string(what)); }

/// Splits header, claims and signature; empty unless there are exactly three parts.
std::optional<std::array<std::string_view, 3>> parts_of(std::string_view compact) {
  const auto first = compact.find('.');
  const auto second = first == std::string_view::npos ? first : compact.find('.', first + 1);
  if (second == std::string_view::npos || compact.find('.', second + 1) != std::string_view::npos) return {};
  return std::array{compact.substr(0, first), compact.substr(first + 1, second - first - 1), compact.substr(second + 1)};
}

result<value> object_of(std::string_view part, std::string_view name) {
  const auto text = json::decode_base64url(part);
  if (!text) return malformed("has a " + std::string(name) + " that is not base64url without padding");
  auto parsed = value::parse(*text, {.bytes = longest_token, .values = most_values});
  if (!parsed || parsed->as_object() == nullptr) return malformed("has a " + std::string(name) + " that is not a JSON object");
  return parsed;
}

/// An optional string member of the header; empty if it is absent. Errors: invalid_argument for another type or a long string.
result<std::string> text_of(const value& header, std::string_view name) {
  const auto* member = header.find(name);
  if (member == nullptr) return std::string();
  if (member->as_string() == nullptr || member->as_string()->size() > longest_member)
    return malformed("has a header whose " + std::string(name) + " is not a string, or too long");
  return *member->as_string();
}

std::optional<double> time_in(const value& claims, std::string_view name) {
  const auto* member = claims.find(name);
  if (member == nullptr) return {};
  return member->as_number();
}

}  // namespace

result<unverified_token> read_token(std::string_view compact) {
  if (compact.size() > longest_token) return malformed("is longer than " + std::to_string(longest_token) + " bytes");
  const auto parts = parts_of(compact);
  if (!parts) {
    const bool is_encrypted = std::count(compact.begin(), compact.end(), '.') == 4;
    return malformed(is_encrypted ? "is encrypted, which is not supported"
                                  : "is not a JSON Web Token: it does not have three parts");
  }
  const auto& [first, second, third] = *parts;
  HONDANA_TRY(const auto header, object_of(first, "header"));
  HONDANA_TRY(const auto name, text_of(header, "alg"));
  const auto by = algorithm_named(name);
  if (!by) return malformed("is not signed with RS256, ES256 or EdDSA");
  if (header.find("crit") != nullptr) return malformed("has an unknown critical extension");
  HONDANA_TRY(auto id, text_of(header, "kid"));
  HONDANA_TRY(auto type, text_of(header, "typ"));
  HONDANA_TRY(auto claims, object_of(second, "payload"));
  auto signature = json::decode_base64url(third);
  if (!signature) return malformed("has a signature that is not base64url without padding");
  return unverified_token{*by,
                          std::move(id),
                          std::move(type),
                          std::move(claims),
                          std::string(compact.substr(0, first.size() + 1 + second.size())),
                          std::move(*signature)};
}

bool has_token_header(std::string_view compact) {
  const auto parts = compact.size() > longest_token ? std::nullopt : parts_of(compact);
  if (!parts) return false;
  const auto header = object_of(parts->front(), "header");
  return header && header->find("alg") != nullptr;
}

result<void> verify(const unverified_token& token, const std::vector<public_key>& keys) {
  const bool is_signed = std::any_of(keys.begin(), keys.end(), [&token](const public_key& key) {
    // The algorithm comes from the key. The token's `alg` only selects among keys.
    return key.by() == token.by && key.verifies(token.text, token.signature);
  });
  if (!is_signed) return unfit("is not signed by a key of its issuer");
  return {};
}

result<std::chrono::sys_time<std::chrono::seconds>> check_claims(const value& claims, const expectations& of) {
  const auto* issuer = claims.find("iss");
  if (issuer == nullptr || issuer->as_string() == nullptr || *issuer->as_string() != of.issuer)
    return unfit("was not issued by " + of.issuer);
  const auto* audience = claims.find("aud");
  const auto is_ours = [&of](const value& one) {
    return one.as_string() != nullptr &&
           std::find(of.audiences.begin(), of.audiences.end(), *one.as_string()) != of.audiences.end();
  };
  const auto* several = audience == nullptr ? nullptr : audience->as_array();
  const bool is_for_us =
      audience != nullptr && (several == nullptr ? is_ours(*audience) : std::any_of(several->begin(), several->end(), is_ours));
  if (!is_for_us) return unfit("is for another audience");

  const auto now = static_cast<double>(of.now.time_since_epoch().count());
  const auto skew = static_cast<double>(of.skew.count());
  for (const auto* name : {"exp", "nbf", "iat"}) {
    if (claims.find(name) != nullptr && !time_in(claims, name))
      return malformed("has a " + std::string(name) + " that is not a number");
  }
  const auto expiry = time_in(claims, "exp");
  if (!expiry) return unfit("never expires, which is not allowed");
  if (*expiry + skew <= now) return unfit("has expired");
  if (const auto begin = time_in(claims, "nbf"); begin && *begin > now + skew) return unfit("is not valid yet");
  if (const auto issued = time_in(claims, "iat"); issued && *issued > now + skew) return unfit("was issued in the future");
  // A later expiry would overflow. It is replaced by the year 9999.
  constexpr double latest = 253'402'300'799;  // the year 9999
  return std::chrono::sys_time<std::chrono::seconds>(
      std::chrono::seconds(static_cast<std::int64_t>(std::min(*expiry, latest))));
}

}  // namespace hondana::jose
