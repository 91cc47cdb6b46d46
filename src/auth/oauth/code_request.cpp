/// The authorization code request: the login page, PKCE, random values, and the redirect.
#include "auth/oauth/code_request.hpp"

#include <openssl/crypto.h>

#include <algorithm>

#include "auth/oauth/authorization_urls.hpp"
#include "auth/oauth/form.hpp"
#include "base/bytes/random_token.hpp"
#include "base/bytes/sha256.hpp"
#include "base/json/base64.hpp"

namespace hondana::oauth {

result<code_request> begin_code_request(const server_metadata& at) {
  code_request out;
  out.issuer = at.issuer;
  out.endpoint = at.authorization_endpoint;
  out.sends_issuer = at.sends_issuer;
  auto state = random_text();
  auto verifier = random_text();
  if (!state || !verifier) return tl::unexpected(std::move(state ? verifier.error() : state.error()));
  out.state = std::move(*state);
  out.verifier = std::move(*verifier);
  return out;
}

std::string page_of(const code_request& request) {
  fields query{{"response_type", "code"},
               {"client_id", request.client_id},
               {"redirect_uri", request.redirect_uri},
               {"state", request.state},
               {"code_challenge", code_challenge(request.verifier)},
               {"code_challenge_method", "S256"},
               {"resource", request.resource}};
  if (!request.scopes.empty()) query.emplace_back("scope", spelled(request.scopes));
  // OpenID providers require it for a refresh token. Spec: OpenID Connect Core 1.0 section 11.
  if (request.scopes.contains("offline_access")) query.emplace_back("prompt", "consent");
  return request.endpoint + (request.endpoint.find('?') == std::string::npos ? '?' : '&') + spelled(query);
}

result<std::string> code_in(const std::string& url, const code_request& of) {
  const auto broken = [](const std::string& why) {
    return fail(errc::broken_protocol, "the login's redirect is not valid: " + why + "; log in again");
  };
  const auto refuse = [](const std::string& why) {
    return fail(errc::access_denied,
                "the login's redirect is not trusted: " + why + "; if you did not start it, close the page");
  };
  const auto begin = url.find('?');
  if (url.substr(0, begin) != of.redirect_uri) return broken("it goes to a different URL than requested");
  const auto query = begin == std::string::npos
                         ? result<fields>(fields())
                         : read_query(std::string_view(url).substr(begin + 1, url.find('#') - begin - 1));
  if (!query) return broken(query.error().public_text);
  const auto* state = find(*query, "state");
  if (state == nullptr || !equal_in_constant_time(*state, of.state))
    return refuse("its state differs from the one that was sent");
  const auto* issuer = find(*query, "iss");
  if (issuer == nullptr && of.sends_issuer)
    return refuse(shown(of.issuer) + " declares that it sends its issuer (iss), but did not");
  if (issuer != nullptr && *issuer != of.issuer) return refuse("its issuer (iss) is not " + shown(of.issuer));
  if (const auto* error = find(*query, "error"))
    return fail(errc::unauthorized,
                shown(of.issuer) + " rejected the login: " + error_text(error, find(*query, "error_description")));
  const auto* code = find(*query, "code");
  if (code == nullptr || code->empty()) return broken("it has neither a code nor an error");
  return *code;
}

std::string cleaned(std::string_view said) {
  constexpr std::size_t most = 200;
  std::string out(said.substr(0, most));
  for (char& c : out) c = c >= ' ' && c < 0x7f ? c : '?';
  if (said.size() > most) out += "...";
  return out;
}

std::string error_text(const std::string* code, const std::string* description) {
  std::string out = code == nullptr ? std::string("no reason was given") : cleaned(*code);
  if (description != nullptr && !description->empty()) out += ": " + cleaned(*description);
  return out;
}

result<std::string> random_text() {
  HONDANA_TRY(const auto raw, bytes::random_bytes(32));
  return json::base64url(raw);
}

std::string code_challenge(std::string_view verifier) {
  const auto digest = bytes::sha256_of(verifier);
  return json::base64url({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

bool equal_in_constant_time(std::string_view a, std::string_view b) noexcept {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace hondana::oauth
