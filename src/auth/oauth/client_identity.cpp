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

constexpr auto assertion_time = std::chrono::seconds(60);
/// The last second of the year 9999.
constexpr std::chrono::seconds year_9999{253'402'300'799};
constexpr std::size_t longest_credential = 8u << 10;

/// A JWT signed with our key, which proves our identity. Spec: RFC 7523 section 3.
result<std::string> assertion(const client_identity& who, const server_metadata& at, seconds_since_epoch now) {
  auto name = random_text();
  if (!name) return name;
  const auto time = now.time_since_epoch().count();
  return who.key->sign(value::object{{"iss", who.client_id},
                                     {"sub", who.client_id},
                                     {"aud", at.issuer},
                                     {"iat", time},
                                     {"exp", time + assertion_time.count()},
                                     {"jti", *name}},
                       who.key_id);
}

/// Whether it is printable ASCII, as forms and header fields require.
bool is_credential(std::string_view text) noexcept {
  return text.size() <= longest_credential &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c < 0x7f; });
}

}  // namespace

result<std::string> method_for(const client_identity& who, const server_metadata& at) {
  // Assumed for servers that declare no methods. Spec: RFC 8414 section 2.
  const auto taken = at.methods.value_or(std::vector<std::string>{"client_secret_basic", "client_secret_post", "none"});
  std::vector<std::string> able{"none"};
  if (!who.secret.empty()) able = {"client_secret_basic", "client_secret_post", "none"};
  if (who.key) able = {"private_key_jwt"};
  if (lists(able, who.method)) return who.method;
  for (const auto& one : able) {
    if (!lists(taken, one) && !(who.key && !at.methods)) continue;
    const auto name = who.key ? std::string(name_of(who.key->by())) : std::string();
    if (who.key && at.algorithms && !lists(*at.algorithms, name))
      return fail(errc::unsupported,
                  shown(at.issuer) + " does not accept keys of the algorithm " + name + "; configure a key of another kind");
    return one;
  }
  std::string all;
  for (const auto& one : taken) all += (all.empty() ? "" : ", ") + cleaned(one);
  return fail(errc::unsupported, shown(at.issuer) + " requires clients to authenticate by " + all +
                                     ", which is not configured; configure a client secret or a private key");
}

result<small_request> authenticated(const std::string& endpoint, fields what, const client_identity& who,
                                    const server_metadata& at, seconds_since_epoch now) {
  HONDANA_TRY(const auto method, method_for(who, at));
  small_request out;
  out.url = endpoint;
  out.headers = {{"Accept", "application/json"}, {"Content-Type", "application/x-www-form-urlencoded"}};
  if (method == "client_secret_basic") {
    std::string credentials;
    json::append_base64(credentials, percent_encode(who.client_id) + ':' + percent_encode(who.secret));
    out.headers.emplace_back("Authorization", "Basic " + credentials);
  } else {
    what.emplace_back("client_id", who.client_id);
  }
  if (method == "client_secret_post") what.emplace_back("client_secret", who.secret);
  if (method == "private_key_jwt") {
    HONDANA_TRY(auto signed_text, assertion(who, at, now));
    what.emplace_back("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer");
    what.emplace_back("client_assertion", std::move(signed_text));
  }
  out.body = spelled(what);
  return out;
}

result<std::string> method_to_register(const server_metadata& at) {
  if (!at.methods) return "none";
  for (const auto* one : {"none", "client_secret_basic", "client_secret_post"}) {
    if (lists(*at.methods, one)) return one;
  }
  return fail(errc::unsupported, shown(at.issuer) +
                                     " registers neither public clients nor clients with a secret; register one there manually "
                                     "and configure its client id and private key");
}

result<std::string> registration_request(const std::string& client_name, const std::string& redirect_uri,
                                         const server_metadata& at) {
  auto method = method_to_register(at);
  if (!method) return method;
  value::array grants{"authorization_code"};
  if (!at.grants || lists(*at.grants, "refresh_token")) grants.emplace_back("refresh_token");
  return value(value::object{{"client_name", client_name},
                             {"redirect_uris", value::array{redirect_uri}},
                             {"grant_types", grants},
                             {"response_types", value::array{"code"}},
                             {"token_endpoint_auth_method", *method},
                             {"application_type", is_on_this_machine(redirect_uri) ? "native" : "web"}})
      .to_text();
}

result<client_registration> read_registration(const small_answer& answer, const std::string& redirect_uri,
                                              const std::string& issuer) {
  const auto cannot = [&issuer](errc code, const std::string& why) {
    return fail(code, "cannot register at " + shown(issuer) + ": " + why);
  };
  const auto said = value::parse(answer.bytes, {longest_metadata, most_metadata_values});
  if (answer.status != 200 && answer.status != 201) {
    const auto code = said ? said->string_at("error") : result<std::string>(tl::unexpected(failure{}));
    const auto description = said ? said->string_at("error_description") : result<std::string>(tl::unexpected(failure{}));
    const auto why = code ? error_text(&*code, description ? &*description : nullptr)
                          : "it answered with status " + std::to_string(answer.status);
    return cannot(errc::unauthorized, why + "; register a client there manually, and configure its client id");
  }
  if (!said) return cannot(errc::broken_protocol, "its answer is not JSON");
  client_registration out;
  const auto id = said->string_at("client_id");
  if (!id || id->empty() || !is_credential(*id)) return cannot(errc::broken_protocol, "its answer has no client_id");
  out.client_id = *id;
  out.redirect_uri = redirect_uri;
  if (const auto* secret = said->find("client_secret"); secret != nullptr && !secret->is_null()) {
    if (secret->as_string() == nullptr || !is_credential(*secret->as_string()))
      return cannot(errc::broken_protocol, "client_secret is not valid");
    out.client_secret = *secret->as_string();
  }
  if (const auto* method = said->find("token_endpoint_auth_method"); method != nullptr && !method->is_null()) {
    if (method->as_string() == nullptr) return cannot(errc::broken_protocol, "token_endpoint_auth_method is not a string");
    // Other methods are not supported.
    if (lists({"none", "client_secret_basic", "client_secret_post"}, *method->as_string())) out.method = *method->as_string();
  }
  if (const auto* expiry = said->find("client_secret_expires_at"); expiry != nullptr && !expiry->is_null()) {
    const auto time = expiry->as_integer();
    if (!time || *time < 0) return cannot(errc::broken_protocol, "client_secret_expires_at is not a time");
    // Some servers send milliseconds; such a time is limited to the year 9999.
    if (*time > 0)
      out.secret_expires = seconds_since_epoch(std::min<std::chrono::seconds>(std::chrono::seconds(*time), year_9999));
  }
  return out;
}

}  // namespace hondana::oauth
