/// The request of RFC 7662 and its answer.
#include "auth/authentication/introspection.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <hondana/uri.hpp>

#include "auth/authentication/scope_words.hpp"
#include "auth/authentication/time_left.hpp"
#include "base/ascii/characters.hpp"
#include "base/json/base64.hpp"

namespace hondana::authentication {
namespace {

/// Spec: RFC 6749 section 2.3.1: both halves are form-encoded before they are joined.
std::string basic(const introspection_options& of) {
  std::string out = "Basic ";
  json::append_base64(out, percent_encode(of.client_id) + ':' + percent_encode(of.client_secret));
  return out;
}

}  // namespace

result<value> read_introspection(std::string_view text) {
  auto parsed = value::parse(text, {.bytes = most_introspection_bytes, .values = 5000});
  if (!parsed || parsed->as_object() == nullptr) return fail(errc::broken_protocol, "the answer is not a JSON object");
  const auto* active = parsed->find("active");
  if (active == nullptr || !active->as_boolean())
    return fail(errc::broken_protocol, "the answer does not say whether the token is active");
  return parsed;
}

bool is_access_token(const value& answer) {
  constexpr std::array<std::string_view, 7> kinds{"bearer",
                                                  "access",
                                                  "access_token",
                                                  "jwt",
                                                  "at+jwt",
                                                  "application/at+jwt",
                                                  "urn:ietf:params:oauth:token-type:access_token"};
  constexpr std::array<const char*, 3> members{"token_type", "typ", "token_use"};
  return std::all_of(members.begin(), members.end(), [&](const char* name) {
    const auto* member = answer.find(name);
    if (member == nullptr) return true;
    const auto* text = member->as_string();
    return text != nullptr && std::find(kinds.begin(), kinds.end(), ascii::in_lower_case(*text)) != kinds.end();
  });
}

result<value> introspection::answer_to(const std::string& token, std::chrono::steady_clock::time_point deadline) const {
  transport::http_client::small_request asked{.url = of_.endpoint,
                                              .headers = {{"Content-Type", "application/x-www-form-urlencoded"},
                                                          {"Accept", "application/json"},
                                                          {"Authorization", basic(of_)}},
                                              .most_bytes = most_introspection_bytes,
                                              .time = time_left(deadline)};
  asked.body = "token=" + percent_encode(token) + "&token_type_hint=access_token";
  HONDANA_TRY(const auto got, call_(asked, {}));
  if (got.status == 401 || got.status == 403)
    return fail(errc::unauthorized, of_.endpoint + " rejects this server's client id and secret");
  if (got.status != 200)
    return fail(errc::broken_protocol, of_.endpoint + " answered with status " + std::to_string(got.status));
  auto said = read_introspection(got.bytes);
  if (!said) said.error().public_text = of_.endpoint + ": " + said.error().public_text;
  return said;
}

result<value> introspection::ask(const std::string& token, std::chrono::steady_clock::time_point deadline) {
  auto said = answer_to(token, deadline);
  if (said) {
    trouble_.works("tokens can be introspected again");
  } else {
    trouble_.fails("tokens cannot be introspected: " + said.error().public_text);
  }
  return said;
}

}  // namespace hondana::authentication
