/// Decodes answers of token endpoints.
#include "auth/oauth/token_answer.hpp"

#include <algorithm>
#include <charconv>
#include <hondana/value.hpp>

#include "auth/oauth/code_request.hpp"
#include "auth/oauth/places.hpp"
#include "base/ascii/characters.hpp"

namespace hondana::oauth {
namespace {

constexpr std::size_t most_values = 1'000;

/// As it may stand in a header field. Spec: RFC 6750 section 2.1, less strict about the characters.
bool is_token(std::string_view text) noexcept {
  return !text.empty() && text.size() <= longest_token &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

/// Some servers write numbers as strings.
std::optional<std::int64_t> seconds_in(const value& from) {
  if (from.as_integer()) return from.as_integer();
  if (const auto number = from.as_number(); number && *number >= 0 && *number < 1e9) return static_cast<std::int64_t>(*number);
  const auto* text = from.as_string();
  if (text == nullptr) return std::nullopt;
  std::int64_t out = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), out);
  if (error != std::errc() || end != text->data() + text->size()) return std::nullopt;
  return out;
}

/// Servers say with status 400 what others say with 503 or 429. Spec: RFC 6749 section 4.1.2.1, RFC 8628 section 3.5.
bool is_passing(std::string_view error) noexcept {
  return error == "temporarily_unavailable" || error == "server_error" || error == "slow_down";
}

/// Null for a member that is absent or null.
const value* given(const value& of, std::string_view name) {
  const auto* found = of.find(name);
  return found == nullptr || found->is_null() ? nullptr : found;
}

}  // namespace

tl::expected<token_set, token_refusal> read_tokens(const small_answer& answer, const scope_set& asked,
                                                   const std::string& issuer, seconds_since_epoch now) {
  const auto cannot = [&issuer](errc code, const std::string& why, std::string error = {}) {
    return tl::unexpected(
        token_refusal{std::move(error), failure{code, "cannot get a token from " + shown(issuer) + ": " + why, {}}});
  };
  if (answer.status >= 500 || answer.status == 429)
    return cannot(errc::source_unavailable, "it answered with status " + std::to_string(answer.status) + "; try again later");
  const auto said = value::parse(answer.bytes, {longest_metadata, most_values});
  const auto* error = said ? said->find("error") : nullptr;
  // Some servers refuse with status 200.
  if (answer.status != 200 || (error != nullptr && said->find("access_token") == nullptr)) {
    // Without a word a refusal means what was sent.
    const bool is_refusal = answer.status == 400 || answer.status == 401;
    if (error == nullptr || error->as_string() == nullptr)
      return cannot(errc::unauthorized, "it answered with status " + std::to_string(answer.status),
                    is_refusal ? "invalid_grant" : "");
    return cannot(is_passing(*error->as_string()) ? errc::source_unavailable : errc::unauthorized, reason_in(answer),
                  cleaned(*error->as_string()));
  }
  if (!said || said->as_object() == nullptr) return cannot(errc::broken_protocol, "its answer is not a JSON object");
  token_set out;
  out.since = now;
  const auto* access = given(*said, "access_token");
  if (access == nullptr || access->as_string() == nullptr || !is_token(*access->as_string()))
    return cannot(errc::broken_protocol, "its answer has no valid access_token");
  out.access_token = *access->as_string();
  const auto* type = given(*said, "token_type");
  if (type == nullptr || type->as_string() == nullptr || !ascii::is_same("bearer", *type->as_string()))
    return cannot(errc::broken_protocol, "its token is not of type Bearer");
  if (const auto* refresh = given(*said, "refresh_token")) {
    if (refresh->as_string() == nullptr || refresh->as_string()->size() > longest_token)
      return cannot(errc::broken_protocol, "refresh_token is not valid");
    out.refresh_token = *refresh->as_string();
  }
  if (const auto* life = given(*said, "expires_in")) {
    const auto seconds = seconds_in(*life);
    if (!seconds || *seconds < 0) return cannot(errc::broken_protocol, "expires_in is not a number of seconds");
    // Of no life at all is said by servers that do not know.
    if (*seconds > 0) out.expires = now + std::min<std::chrono::seconds>(std::chrono::seconds(*seconds), longest_life);
  }
  out.scope = spelled(asked);
  if (const auto* scope = given(*said, "scope")) {
    const auto granted = scope->as_string() == nullptr ? std::nullopt : read_scopes(*scope->as_string());
    if (!granted) return cannot(errc::broken_protocol, "scope is not a list of scopes");
    out.scope = spelled(*granted);
  }
  return out;
}

std::string reason_in(const small_answer& answer) {
  const auto said = value::parse(answer.bytes, {longest_metadata, most_values});
  const auto* error = said ? said->find("error") : nullptr;
  if (error == nullptr || error->as_string() == nullptr) return {};
  const auto* description = said->find("error_description");
  return error_text(error->as_string(), description == nullptr ? nullptr : description->as_string());
}

}  // namespace hondana::oauth
