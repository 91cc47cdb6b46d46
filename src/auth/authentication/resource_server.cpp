/// Authenticates callers by access tokens: verifies their signatures with published keys, or asks the authorization server.
#include "auth/authentication/resource_server.hpp"

#include <algorithm>
#include <utility>

#include <hondana/authenticators.hpp>

#include "auth/authentication/authorization_server.hpp"
#include "auth/authentication/bearer_tokens.hpp"
#include "base/ascii/ascii.hpp"
#include "transport/http_client/small_request.hpp"

namespace hondana::authentication {
namespace {

constexpr std::size_t max_subject_bytes = 255;
constexpr std::chrono::seconds retry_delay{5};
constexpr std::chrono::seconds short_retry_delay{1};

std::shared_ptr<const protected_resource> make_metadata(const oauth_authenticator_options& options) {
  auto out = std::make_shared<protected_resource>();
  out->resource = options.resource;
  out->authorization_servers = {options.issuer};
  out->supported_scopes = options.supported_scopes;
  out->name = options.name;
  out->documentation_url = options.documentation_url;
  return out;
}

std::vector<std::string> audiences_of(const oauth_authenticator_options& options) {
  auto out = options.audiences;
  out.push_back(options.resource);
  return out;
}

/// Whether the header `typ` allows an access token. Spec: RFC 8725 section 3.11, RFC 9068 section 2.1.
bool is_access_token_type(std::string type) {
  type = ascii::to_lower(type);
  if (type.starts_with("application/")) type.erase(0, std::string_view("application/").size());
  return type.empty() || type == "jwt" || type == "at+jwt";
}

std::string string_claim(const value& claims, std::string_view name) { return claims.string_at(name).value_or(""); }

bool is_identifier(std::string_view text) {
  return !text.empty() && text.size() <= max_subject_bytes &&
         std::none_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7F; });
}

std::vector<std::string> extract_scopes(const value& claims) {
  std::vector<std::string> out;
  for (const auto* name : {"scope", "scp"}) {
    const auto* member = claims.find(name);
    if (member == nullptr) continue;
    if (const auto* text = member->as_string()) merge_scopes(out, parse_scopes(*text));
    if (const auto* list = member->as_array()) {
      for (const auto& item : *list) {
        if (item.as_string() != nullptr) merge_scopes(out, parse_scopes(*item.as_string()));
      }
    }
  }
  return out;
}

}  // namespace

resource_server::resource_server(oauth_authenticator_options options,
                                 const transport::http_client::small_request_function& call, clocks time)
    : options_(std::move(options)),
      time_(std::move(time)),
      metadata_(make_metadata(options_)),
      keys_({options_.issuer, options_.jwks_uri.value_or(std::string()), call, time_, options_.log}),
      introspection_(options_.introspection.value_or(introspection_options()), call, options_.log) {}

tl::unexpected<auth_rejection> resource_server::reject(std::string reason) const {
  return tl::unexpected(invalid_token(std::move(reason), options_.challenge_scopes));
}

/// The challenge (503) for an unknown key: it may be new, so only a fetch can decide whether the issuer publishes it.
tl::unexpected<auth_rejection> resource_server::key_unavailable() const {
  if (keys_.is_fetching())
    return tl::unexpected(temporarily_unavailable("the keys for checking tokens are being fetched", short_retry_delay));
  return tl::unexpected(
      temporarily_unavailable("the key for checking the token is unknown, and it is too early to fetch keys again",
                              std::max(short_retry_delay, keys_.time_to_next_fetch())));
}

std::optional<auth_rejection> resource_server::check_request(const auth_request& request) const {
  if (!request.bearer_token) return missing_credentials("get a token from " + options_.issuer, options_.challenge_scopes);
  if (!is_token_text(*request.bearer_token))
    return invalid_token("the token is too long, or contains invalid characters", options_.challenge_scopes);
  // Tokens of a token file, for example revoked ones, are not sent to the authorization server.
  if (request.bearer_token->starts_with(token_prefix))
    return invalid_token("the token was not issued by " + options_.issuer, options_.challenge_scopes);
  return {};
}

bool resource_server::uses_keys(std::string_view token) const {
  if (!options_.introspection) return true;
  // Three parts do not make a JSON Web Token: opaque tokens may contain dots, too.
  return !options_.introspection->includes_jwts && jose::has_token_header(token);
}

jose::expectations resource_server::make_expectations() const {
  return {options_.issuer, audiences_of(options_), options_.clock_skew, time_.wall()};
}

result<caller_info> resource_server::make_caller(const value& claims) const {
  auto info = std::make_shared<auth_info>();
  info->client = string_claim(claims, "client_id");
  if (info->client.empty()) info->client = string_claim(claims, "azp");
  if (!info->client.empty() && !is_identifier(info->client))
    return fail(errc::access_denied, "the token's client_id is not a valid name");
  info->scopes = extract_scopes(claims);
  info->claims = claims;
  caller_info out;
  if (claims.find("sub") != nullptr) {
    const auto subject = string_claim(claims, "sub");
    // An empty or malformed subject must be rejected. Otherwise all users of a client would become one caller.
    if (!is_identifier(subject)) return fail(errc::access_denied, "the token's subject (sub) is not a valid name");
    out.identity = options_.issuer + '#' + subject;
  } else if (!info->client.empty()) {
    // An issuer has neither query nor fragment, so this identity cannot equal one of a subject.
    out.identity = options_.issuer + "?client=" + info->client;
  } else {
    return fail(errc::access_denied, "the token has no subject (sub)");
  }
  out.auth_info = std::move(info);
  return out;
}

authenticated_caller resource_server::cache_caller(const bytes::sha256_bytes& digest, caller_info verified,
                                                   token_cache::key_generation keys, wall_time expiry,
                                                   std::chrono::seconds ttl_limit) {
  const auto now = time_.steady();
  const auto ttl = std::min<std::chrono::seconds>(expiry - time_.wall(), ttl_limit);
  // Valid until a new request would be rejected, which includes the clock skew.
  authenticated_caller out(std::move(verified), now + std::clamp<std::chrono::seconds>(ttl + options_.clock_skew,
                                                                                       std::chrono::seconds(0), ttl_limit));
  if (ttl.count() > 0) accepted_.put(digest, out, keys, now + ttl);
  return out;
}

std::optional<auth_result> resource_server::verify_token(const std::string& token, const bytes::sha256_bytes& digest,
                                                         const published_keys& keys) {
  const auto parsed = jose::read_token(token);
  if (!parsed) return reject(parsed.error().public_text);
  if (!is_access_token_type(parsed->type)) return reject("the token is not an access token (typ)");
  // Before the signature check, so that tokens of other issuers do not cause a fetch of keys.
  const auto expiry = jose::check_claims(parsed->claims, make_expectations());
  if (!expiry) return reject(expiry.error().public_text);
  const auto candidates = keys.set.candidates(parsed->alg, parsed->key_id);
  const auto is_signed = jose::verify(*parsed, candidates);
  // A token without key id may be signed by a key that is not cached yet.
  if (candidates.empty() || (!is_signed && parsed->key_id.empty())) return {};
  if (!is_signed) return reject(is_signed.error().public_text);
  auto caller = make_caller(parsed->claims);
  if (!caller) return reject(caller.error().public_text);
  return cache_caller(digest, std::move(*caller), keys.generation, *expiry, max_ttl);
}

auth_result resource_server::verify_with_keys(const std::string& token, const bytes::sha256_bytes& digest,
                                              std::chrono::steady_clock::time_point deadline) {
  const auto previous_fetches = keys_.fetch_count();
  const auto keys = keys_.obtain(jwks_cache::fetch_reason::no_keys, deadline);
  if (!keys)
    return tl::unexpected(temporarily_unavailable("the keys for checking tokens are not available now",
                                                  keys_.is_fetching() ? short_retry_delay : retry_delay));
  if (auto outcome = verify_token(token, digest, **keys)) return std::move(*outcome);
  auto newer = keys_.obtain(jwks_cache::fetch_reason::unknown_key, deadline);
  if (newer && (*newer)->generation != (*keys)->generation) {
    if (auto retried = verify_token(token, digest, **newer)) return std::move(*retried);
  }
  if (!newer || (*newer)->fetch_number <= previous_fetches) return key_unavailable();
  return reject("the token is signed by a key that its issuer does not publish");
}

auth_result resource_server::introspect(const std::string& token, const bytes::sha256_bytes& digest,
                                        std::chrono::steady_clock::time_point deadline) {
  const auto answer = introspection_.introspect(token, deadline);
  if (!answer)
    return tl::unexpected(temporarily_unavailable("the authorization server cannot check the token now", retry_delay));
  if (!*answer->find("active")->as_boolean())
    return reject("the token is not active: it has expired, was revoked or never existed");
  if (!is_access_token(*answer)) return reject("the token is not an access token");
  // Spec: basic/authorization, Token Handling: reject tokens unless they are known to be issued for this server.
  if (answer->find("aud") == nullptr && !options_.introspection->audience_is_optional)
    return reject("the authorization server does not report the audience of the token (aud)");
  // Introspection answers may omit issuer, audience and expiry.
  auto expectations = make_expectations();
  auto claims = *answer->as_object();
  const auto add_missing = [&](const char* name, value fallback) {
    if (answer->find(name) == nullptr) claims.emplace_back(name, std::move(fallback));
  };
  add_missing("iss", options_.issuer);
  add_missing("aud", options_.resource);
  const auto latest_expiry = expectations.now + introspection_ttl;
  add_missing("exp", latest_expiry.time_since_epoch().count());
  const auto expiry = jose::check_claims(value(std::move(claims)), expectations);
  if (!expiry) return reject(expiry.error().public_text);
  auto caller = make_caller(*answer);
  if (!caller) return reject(caller.error().public_text);
  return cache_caller(digest, std::move(*caller), 0, *expiry, introspection_ttl);
}

std::optional<auth_result> resource_server::find_cached(const bytes::sha256_bytes& digest) {
  const auto now = time_.steady();
  if (auto caller = accepted_.find(digest, keys_.generation(), now)) return std::move(*caller);
  if (auto rejection = rejected_.find(digest, 0, now)) return tl::unexpected(std::move(*rejection));
  return {};
}

auth_result resource_server::introspect_once(const std::string& token, const bytes::sha256_bytes& digest,
                                             std::chrono::steady_clock::time_point deadline) {
  const bool is_first = pending_checks_.enter(digest, deadline);
  struct leave_guard {
    single_flight* checks;
    const bytes::sha256_bytes& digest;
    ~leave_guard() {
      if (checks != nullptr) checks->leave(digest);
    }
  };
  const leave_guard guard{is_first ? &pending_checks_ : nullptr, digest};
  // Another request may have checked the same token meanwhile.
  if (auto cached = find_cached(digest)) return std::move(*cached);
  if (!is_first)
    return tl::unexpected(temporarily_unavailable("the authorization server cannot check the token now", retry_delay));
  auto outcome = introspect(token, digest, deadline);
  // Remembered, so that repeated requests with a bad token do not occupy the threads that check other tokens.
  if (!outcome && outcome.error().status == 401) rejected_.put(digest, outcome.error(), 0, time_.steady() + rejection_ttl);
  return outcome;
}

std::optional<auth_result> resource_server::try_authenticate(const auth_request& request) {
  if (!request.bearer_token || request.bearer_token->size() > max_token_bytes)
    return tl::unexpected(check_request(request).value_or(auth_rejection()));
  // Most requests send a token that was checked recently.
  const auto digest = bytes::sha256_of(*request.bearer_token);
  if (auto cached = find_cached(digest)) {
    if (*cached) (*cached)->address = request.address;
    return cached;
  }
  if (auto rejection = check_request(request)) return tl::unexpected(std::move(*rejection));
  if (!uses_keys(*request.bearer_token)) return {};
  const auto keys = keys_.cached();
  // Checked on this thread: a signature check costs about as much as a change of threads.
  if (!keys) return {};
  auto outcome = verify_token(*request.bearer_token, digest, *keys);
  if (!outcome && !keys_.may_fetch_unknown()) return key_unavailable();
  if (outcome && *outcome) {
    // Rejected tokens must not cause a fetch of keys.
    keys_.start_refresh();
    (*outcome)->address = request.address;
  }
  return outcome;
}

auth_result resource_server::authenticate(const auth_request& request, std::chrono::steady_clock::time_point deadline) {
  if (auto rejection = check_request(request)) return tl::unexpected(std::move(*rejection));
  const auto digest = bytes::sha256_of(*request.bearer_token);
  auto out = uses_keys(*request.bearer_token) ? verify_with_keys(*request.bearer_token, digest, deadline)
                                              : introspect_once(*request.bearer_token, digest, deadline);
  if (out) out->address = request.address;
  return out;
}

namespace {

constexpr std::chrono::minutes max_skew{10};

tl::unexpected<failure> invalid_option(std::string_view member, std::string_view reason) {
  failure out{errc::invalid_argument, "oauth_authenticator_options::" + std::string(member) + ": " + std::string(reason), {}};
  out.subject = member;
  return tl::unexpected(std::move(out));
}

/// Over plain http: anyone on the network can modify keys and answers, so it is allowed on this machine only.
bool is_secure_url(const std::string& url) { return !url.starts_with("http:") || transport::http_client::is_local_url(url); }

constexpr std::string_view https_required = "plain http: is only allowed on this machine; write https:";

result<void> check_options(const oauth_authenticator_options& options) {
  if (!is_issuer(options.issuer)) return invalid_option("issuer", "expected a URL such as \"https://login.example.com\"");
  if (!is_secure_url(options.issuer)) return invalid_option("issuer", https_required);
  if (!is_endpoint_url(options.resource))
    return invalid_option("resource",
                          "expected the URL at which clients reach this server, such as \"https://shelf.example.com/mcp\"");
  if (options.jwks_uri) {
    if (!is_endpoint_url(*options.jwks_uri)) return invalid_option("jwks_uri", "expected a URL");
    if (!is_secure_url(*options.jwks_uri)) return invalid_option("jwks_uri", https_required);
  }
  if (const auto& introspection = options.introspection) {
    if (!is_endpoint_url(introspection->endpoint)) return invalid_option("introspection.endpoint", "expected a URL");
    if (!is_secure_url(introspection->endpoint)) return invalid_option("introspection.endpoint", https_required);
    if (introspection->client_id.empty() || introspection->client_secret.empty())
      return invalid_option("introspection", "requires the client id and secret of this server at " + options.issuer);
  }
  if (options.clock_skew.count() < 0 || options.clock_skew > max_skew)
    return invalid_option("clock_skew", "expected 0 to 600 seconds");
  for (const auto& scope : options.challenge_scopes)
    if (!is_scope(scope)) return invalid_option("challenge_scopes", "\"" + scope + "\" is not a scope");
  for (const auto& scope : options.supported_scopes)
    if (!is_scope(scope)) return invalid_option("supported_scopes", "\"" + scope + "\" is not a scope");
  return {};
}

}  // namespace
}  // namespace hondana::authentication

namespace hondana::inline v0 {

result<std::shared_ptr<authenticator>> make_oauth_authenticator(oauth_authenticator_options options) {
  namespace calls = transport::http_client;
  HONDANA_TRY(authentication::check_options(options));
  calls::call_policy guard{
      {calls::host_of(options.issuer)}, options.ca_file.value_or(std::string()), options.proxy.value_or(std::string())};
  if (options.jwks_uri) guard.trusted_hosts.push_back(calls::host_of(*options.jwks_uri));
  if (options.introspection) guard.trusted_hosts.push_back(calls::host_of(options.introspection->endpoint));
  const auto call = [guard = std::move(guard)](const calls::small_request& request, const std::stop_token& stop) {
    return calls::call_guarded(request, guard, stop);
  };
  return std::shared_ptr<authenticator>(std::make_shared<authentication::resource_server>(std::move(options), call));
}

}  // namespace hondana::inline v0
