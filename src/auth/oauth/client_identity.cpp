/// How a client identifies itself to an authorization server: authentication and registration.
#include "auth/oauth/client_identity.hpp"

#include <algorithm>

#include <hondana/uri.hpp>
#include <hondana/value.hpp>

#include "auth/oauth/authorization_urls.hpp"
#include "auth/oauth/code_request.hpp"
#include "base/json/base64.hpp"

namespace hondana::oauth {
namespace {

constexpr auto assertion_lifetime = std::chrono::seconds(60);
/// The last second of the year 9999.
constexpr std::chrono::seconds year_9999{253'402'300'799};
constexpr std::size_t max_credential_bytes = 8u << 10;

/// A JWT signed with our key, which proves our identity. Spec: RFC 7523 section 3.
result<std::string> make_assertion(const client_identity& client, const server_metadata& server, seconds_since_epoch now) {
  auto id = random_text();
  if (!id) return id;
  const auto time = now.time_since_epoch().count();
  return client.key->sign(value::object{{"iss", client.client_id},
                                        {"sub", client.client_id},
                                        {"aud", server.issuer},
                                        {"iat", time},
                                        {"exp", time + assertion_lifetime.count()},
                                        {"jti", *id}},
                          client.key_id);
}

/// Whether it is printable ASCII, as forms and header fields require.
bool is_credential(std::string_view text) noexcept {
  return text.size() <= max_credential_bytes &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c < 0x7f; });
}

}  // namespace

result<std::string> choose_method(const client_identity& client, const server_metadata& server) {
  // Assumed for servers that declare no methods. Spec: RFC 8414 section 2.
  const auto accepted = server.methods.value_or(std::vector<std::string>{"client_secret_basic", "client_secret_post", "none"});
  std::vector<std::string> supported{"none"};
  if (!client.secret.empty()) supported = {"client_secret_basic", "client_secret_post", "none"};
  if (client.key) supported = {"private_key_jwt"};
  if (contains(supported, client.method)) return client.method;
  for (const auto& method : supported) {
    if (!contains(accepted, method) && !(client.key && !server.methods)) continue;
    const auto name = client.key ? std::string(name_of(client.key->alg())) : std::string();
    if (client.key && server.algorithms && !contains(*server.algorithms, name))
      return fail(errc::unsupported, display_url(server.issuer) + " does not accept keys of the algorithm " + name +
                                         "; configure a key of another kind");
    return method;
  }
  std::string listing;
  for (const auto& accepted_method : accepted) listing += (listing.empty() ? "" : ", ") + sanitize(accepted_method);
  return fail(errc::unsupported, display_url(server.issuer) + " requires clients to authenticate by " + listing +
                                     ", which is not configured; configure a client secret or a private key");
}

result<small_request> authenticated_request(const std::string& endpoint, fields form, const client_identity& client,
                                            const server_metadata& server, seconds_since_epoch now) {
  HONDANA_TRY(const auto method, choose_method(client, server));
  small_request out;
  out.url = endpoint;
  out.headers = {{"Accept", "application/json"}, {"Content-Type", "application/x-www-form-urlencoded"}};
  if (method == "client_secret_basic") {
    std::string credentials;
    json::append_base64(credentials, percent_encode(client.client_id) + ':' + percent_encode(client.secret));
    out.headers.emplace_back("Authorization", "Basic " + credentials);
  } else {
    form.emplace_back("client_id", client.client_id);
  }
  if (method == "client_secret_post") form.emplace_back("client_secret", client.secret);
  if (method == "private_key_jwt") {
    HONDANA_TRY(auto signed_text, make_assertion(client, server, now));
    form.emplace_back("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer");
    form.emplace_back("client_assertion", std::move(signed_text));
  }
  out.body = encode_form(form);
  return out;
}

result<std::string> registration_method(const server_metadata& server) {
  if (!server.methods) return "none";
  for (const auto* method : {"none", "client_secret_basic", "client_secret_post"}) {
    if (contains(*server.methods, method)) return method;
  }
  return fail(errc::unsupported, display_url(server.issuer) +
                                     " registers neither public clients nor clients with a secret; register one there manually "
                                     "and configure its client id and private key");
}

result<std::string> registration_request(const std::string& client_name, const std::string& redirect_uri,
                                         const server_metadata& server) {
  auto method = registration_method(server);
  if (!method) return method;
  value::array grants{"authorization_code"};
  if (!server.grants || contains(*server.grants, "refresh_token")) grants.emplace_back("refresh_token");
  return value(value::object{{"client_name", client_name},
                             {"redirect_uris", value::array{redirect_uri}},
                             {"grant_types", grants},
                             {"response_types", value::array{"code"}},
                             {"token_endpoint_auth_method", *method},
                             {"application_type", is_on_this_machine(redirect_uri) ? "native" : "web"}})
      .to_text();
}

result<client_registration> read_registration(const small_response& response, const std::string& redirect_uri,
                                              const std::string& issuer) {
  const auto registration_failure = [&issuer](errc code, const std::string& reason) {
    return fail(code, "cannot register at " + display_url(issuer) + ": " + reason);
  };
  const auto parsed = value::parse(response.body, {max_metadata_bytes, max_metadata_values});
  if (response.status != 200 && response.status != 201) {
    const auto code = parsed ? parsed->string_at("error") : result<std::string>(tl::unexpected(failure{}));
    const auto description = parsed ? parsed->string_at("error_description") : result<std::string>(tl::unexpected(failure{}));
    const auto reason = code ? error_text(&*code, description ? &*description : nullptr)
                             : "it answered with status " + std::to_string(response.status);
    return registration_failure(errc::unauthorized, reason + "; register a client there manually, and configure its client id");
  }
  if (!parsed) return registration_failure(errc::protocol_error, "its answer is not JSON");
  client_registration out;
  const auto id = parsed->string_at("client_id");
  if (!id || id->empty() || !is_credential(*id))
    return registration_failure(errc::protocol_error, "its answer has no client_id");
  out.client_id = *id;
  out.redirect_uri = redirect_uri;
  if (const auto* secret = parsed->find("client_secret"); secret != nullptr && !secret->is_null()) {
    if (secret->as_string() == nullptr || !is_credential(*secret->as_string()))
      return registration_failure(errc::protocol_error, "client_secret is not valid");
    if (!secret->as_string()->empty()) out.client_secret = *secret->as_string();
  }
  if (const auto* method = parsed->find("token_endpoint_auth_method"); method != nullptr && !method->is_null()) {
    if (method->as_string() == nullptr)
      return registration_failure(errc::protocol_error, "token_endpoint_auth_method is not a string");
    // Other methods are not supported.
    if (contains({"none", "client_secret_basic", "client_secret_post"}, *method->as_string()))
      out.auth_method = *method->as_string();
  }
  if (const auto* expiry = parsed->find("client_secret_expires_at"); expiry != nullptr && !expiry->is_null()) {
    const auto time = expiry->as_integer();
    if (!time || *time < 0) return registration_failure(errc::protocol_error, "client_secret_expires_at is not a time");
    // Some servers send milliseconds; such a time is limited to the year 9999.
    if (*time > 0)
      out.secret_expires_at = seconds_since_epoch(std::min<std::chrono::seconds>(std::chrono::seconds(*time), year_9999));
  }
  return out;
}

}  // namespace hondana::oauth
