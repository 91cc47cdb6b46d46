/// The authorization code request, which sends the user to the login page, and the code in the redirect from there.
#include "auth/oauth/code_request.hpp"

#include <openssl/crypto.h>

#include <algorithm>

#include "auth/oauth/authorization_urls.hpp"
#include "auth/oauth/form.hpp"
#include "base/bytes/random_token.hpp"
#include "base/bytes/sha256.hpp"
#include "base/json/base64.hpp"

namespace hondana::oauth {

result<code_request> make_code_request(const server_metadata& server) {
  code_request out;
  out.issuer = server.issuer;
  out.endpoint = server.authorization_endpoint;
  out.sends_issuer = server.sends_issuer;
  auto state = random_text();
  auto verifier = random_text();
  if (!state || !verifier) return tl::unexpected(std::move(state ? verifier.error() : state.error()));
  out.state = std::move(*state);
  out.verifier = std::move(*verifier);
  return out;
}

std::string authorization_url(const code_request& request) {
  fields query{{"response_type", "code"},
               {"client_id", request.client_id},
               {"redirect_uri", request.redirect_uri},
               {"state", request.state},
               {"code_challenge", code_challenge(request.verifier)},
               {"code_challenge_method", "S256"},
               {"resource", request.resource}};
  if (!request.scopes.empty()) query.emplace_back("scope", scope_string(request.scopes));
  // OpenID providers require it for a refresh token. Spec: OpenID Connect Core 1.0 section 11.
  if (request.scopes.contains("offline_access")) query.emplace_back("prompt", "consent");
  return request.endpoint + (request.endpoint.find('?') == std::string::npos ? '?' : '&') + encode_form(query);
}

result<std::string> extract_code(const std::string& url, const code_request& request) {
  const auto malformed = [](const std::string& reason) {
    return fail(errc::protocol_error, "the login's redirect is not valid: " + reason + "; log in again");
  };
  const auto reject = [](const std::string& reason) {
    return fail(errc::access_denied,
                "the login's redirect is not trusted: " + reason + "; if you did not start it, close the page");
  };
  const auto begin = url.find('?');
  if (url.substr(0, begin) != request.redirect_uri) return malformed("it goes to a different URL than requested");
  const auto query = begin == std::string::npos
                         ? result<fields>(fields())
                         : read_query(std::string_view(url).substr(begin + 1, url.find('#') - begin - 1));
  if (!query) return malformed(query.error().public_text);
  const auto* state = find(*query, "state");
  if (state == nullptr || !equal_in_constant_time(*state, request.state))
    return reject("its state differs from the one that was sent");
  const auto* issuer = find(*query, "iss");
  if (issuer == nullptr && request.sends_issuer)
    return reject(display_url(request.issuer) + " declares that it sends its issuer (iss), but did not");
  if (issuer != nullptr && *issuer != request.issuer) return reject("its issuer (iss) is not " + display_url(request.issuer));
  if (const auto* error = find(*query, "error"))
    return fail(errc::unauthorized,
                display_url(request.issuer) + " rejected the login: " + error_text(error, find(*query, "error_description")));
  const auto* code = find(*query, "code");
  if (code == nullptr || code->empty()) return malformed("it has neither a code nor an error");
  return *code;
}

std::string sanitize(std::string_view text) {
  constexpr std::size_t max_chars = 200;
  std::string out(text.substr(0, max_chars));
  for (char& c : out) c = c >= ' ' && c < 0x7f ? c : '?';
  if (text.size() > max_chars) out += "...";
  return out;
}

std::string error_text(const std::string* code, const std::string* description) {
  std::string out = code == nullptr ? std::string("no reason was given") : sanitize(*code);
  if (description != nullptr && !description->empty()) out += ": " + sanitize(*description);
  return out;
}

result<std::string> random_text() {
  HONDANA_TRY(const auto raw, bytes::random_bytes(32));
  return json::encode_base64url(raw);
}

std::string code_challenge(std::string_view verifier) {
  const auto digest = bytes::sha256_of(verifier);
  return json::encode_base64url({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

bool equal_in_constant_time(std::string_view a, std::string_view b) noexcept {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace hondana::oauth
