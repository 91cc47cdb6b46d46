/// Authenticates callers by access tokens of an authorization server: by its published keys, or by introspection.
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

constexpr std::size_t longest_subject = 255;
constexpr std::chrono::seconds ask_again{5};
constexpr std::chrono::seconds ask_soon{1};

std::shared_ptr<const protected_resource> published(const oauth_options& of) {
  auto out = std::make_shared<protected_resource>();
  out->resource = of.resource;
  out->authorization_servers = {of.issuer};
  out->scopes = of.all_scopes;
  out->name = of.name;
  out->documentation = of.documentation;
  return out;
}

std::vector<std::string> audiences_of(const oauth_options& of) {
  auto out = of.audiences;
  out.push_back(of.resource);
  return out;
}

/// Whether the header `typ` allows an access token. Spec: RFC 8725 section 3.11, RFC 9068 section 2.1.
bool is_access_token_type(std::string type) {
  type = ascii::in_lower_case(type);
  if (type.starts_with("application/")) type.erase(0, std::string_view("application/").size());
  return type.empty() || type == "jwt" || type == "at+jwt";
}

std::string text_at(const value& claims, std::string_view name) { return claims.string_at(name).value_or(""); }

bool is_identifier(std::string_view text) {
  return !text.empty() && text.size() <= longest_subject &&
         std::none_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7F; });
}

std::vector<std::string> granted(const value& claims) {
  std::vector<std::string> out;
  for (const auto* name : {"scope", "scp"}) {
    const auto* member = claims.find(name);
    if (member == nullptr) continue;
    if (const auto* text = member->as_string()) merge_scopes(out, scopes_in(*text));
    if (const auto* several = member->as_array()) {
      for (const auto& one : *several) {
        if (one.as_string() != nullptr) merge_scopes(out, scopes_in(*one.as_string()));
      }
    }
  }
  return out;
}

}  // namespace

resource_server::resource_server(oauth_options options, const transport::http_client::small_caller& call, clocks time)
    : options_(std::move(options)),
      time_(std::move(time)),
      metadata_(published(options_)),
      keys_({options_.issuer, options_.keys, call, time_, options_.log}),
      introspection_(options_.introspection, call, options_.log) {}

tl::unexpected<challenge> resource_server::refuse(std::string why) const {
  return tl::unexpected(bad_token(std::move(why), options_.scopes));
}

/// The challenge (503) for an unknown key: it may be new, so only a fetch can decide whether the issuer publishes it.
tl::unexpected<challenge> resource_server::cannot_look() const {
  if (keys_.is_fetching()) return tl::unexpected(cannot_tell("the keys for checking tokens are being fetched", ask_soon));
  return tl::unexpected(cannot_tell("the key for checking the token is unknown, and it is too early to fetch keys again",
                                    std::max(ask_soon, keys_.until_next_look())));
}

std::optional<challenge> resource_server::unfit(const request_facts& of) const {
  if (!of.bearer) return nothing_sent("get a token from " + options_.issuer, options_.scopes);
  if (!is_token_text(*of.bearer)) return bad_token("the token is too long, or contains invalid characters", options_.scopes);
  // Tokens of a token file, for example revoked ones, are not sent to the authorization server.
  if (of.bearer->starts_with(token_prefix)) return bad_token("the token was not issued by " + options_.issuer, options_.scopes);
  return {};
}

bool resource_server::is_for_keys(std::string_view token) const {
  if (options_.introspection.endpoint.empty()) return true;
  // Three parts do not make a JSON Web Token: opaque tokens may contain dots, too.
  return !options_.introspection.is_for_all && jose::has_token_header(token);
}

jose::expectations resource_server::expected() const {
  return {options_.issuer, audiences_of(options_), options_.skew, time_.wall()};
}

result<caller> resource_server::caller_of(const value& claims) const {
  auto proved = std::make_shared<proof>();
  proved->client = text_at(claims, "client_id");
  if (proved->client.empty()) proved->client = text_at(claims, "azp");
  if (!proved->client.empty() && !is_identifier(proved->client))
    return fail(errc::access_denied, "the token's client_id is not a valid name");
  proved->scopes = granted(claims);
  proved->claims = claims;
  caller out;
  if (claims.find("sub") != nullptr) {
    const auto subject = text_at(claims, "sub");
    // An empty or malformed subject must be rejected. Otherwise all users of a client would become one caller.
    if (!is_identifier(subject)) return fail(errc::access_denied, "the token's subject (sub) is not a valid name");
    out.identity = options_.issuer + '#' + subject;
  } else if (!proved->client.empty()) {
    // An issuer has neither query nor fragment, so this identity cannot equal one of a subject.
    out.identity = options_.issuer + "?client=" + proved->client;
  } else {
    return fail(errc::access_denied, "the token has no subject (sub)");
  }
  out.proof = std::move(proved);
  return out;
}

known_caller resource_server::remember(const bytes::sha256_bytes& digest, caller who, token_cache::key_generation keys,
                                       wall_time expiry, std::chrono::seconds most) {
  const auto now = time_.steady();
  const auto left = std::min<std::chrono::seconds>(expiry - time_.wall(), most);
  // Valid until a new request would be rejected, which includes the clock skew.
  known_caller out(std::move(who), now + std::clamp<std::chrono::seconds>(left + options_.skew, std::chrono::seconds(0), most));
  if (left.count() > 0) good_.put(digest, out, keys, now + left);
  return out;
}

std::optional<authenticated> resource_server::judged(const std::string& token, const bytes::sha256_bytes& digest,
                                                     const published_keys& keys) {
  const auto read = jose::read_token(token);
  if (!read) return refuse(read.error().public_text);
  if (!is_access_token_type(read->type)) return refuse("the token is not an access token (typ)");
  // Before the signature check, so that tokens of other issuers do not cause a fetch of keys.
  const auto expiry = jose::check_claims(read->claims, expected());
  if (!expiry) return refuse(expiry.error().public_text);
  const auto candidates = keys.set.candidates(read->by, read->key_id);
  const auto is_signed = jose::verify(*read, candidates);
  // A token without key id may be signed by a key that is not cached yet.
  if (candidates.empty() || (!is_signed && read->key_id.empty())) return {};
  if (!is_signed) return refuse(is_signed.error().public_text);
  auto who = caller_of(read->claims);
  if (!who) return refuse(who.error().public_text);
  return remember(digest, std::move(*who), keys.generation, *expiry, longest_remembered);
}

authenticated resource_server::by_keys(const std::string& token, const bytes::sha256_bytes& digest,
                                       std::chrono::steady_clock::time_point deadline) {
  const auto before = keys_.looks();
  const auto keys = keys_.obtain(key_ring::wish::any, deadline);
  if (!keys)
    return tl::unexpected(
        cannot_tell("the keys for checking tokens are not available now", keys_.is_fetching() ? ask_soon : ask_again));
  if (auto said = judged(token, digest, **keys)) return std::move(*said);
  auto newer = keys_.obtain(key_ring::wish::unknown_key, deadline);
  if (newer && (*newer)->generation != (*keys)->generation) {
    if (auto said = judged(token, digest, **newer)) return std::move(*said);
  }
  if (!newer || (*newer)->look <= before) return cannot_look();
  return refuse("the token is signed by a key that its issuer does not publish");
}

authenticated resource_server::introspected(const std::string& token, const bytes::sha256_bytes& digest,
                                            std::chrono::steady_clock::time_point deadline) {
  const auto said = introspection_.ask(token, deadline);
  if (!said) return tl::unexpected(cannot_tell("the authorization server cannot check the token now", ask_again));
  if (!*said->find("active")->as_boolean())
    return refuse("the token is not active: it has expired, was revoked or never existed");
  if (!is_access_token(*said)) return refuse("the token is not an access token");
  // Spec: basic/authorization, Token Handling: reject tokens unless they are known to be issued for this server.
  if (said->find("aud") == nullptr && !options_.introspection.audience_is_optional)
    return refuse("the authorization server does not report the audience of the token (aud)");
  // Introspection answers may omit issuer, audience and expiry.
  auto of = expected();
  auto claims = *said->as_object();
  const auto add_missing = [&](const char* name, value as) {
    if (said->find(name) == nullptr) claims.emplace_back(name, std::move(as));
  };
  add_missing("iss", options_.issuer);
  add_missing("aud", options_.resource);
  const auto never = of.now + introspection_remembered;
  add_missing("exp", never.time_since_epoch().count());
  const auto expiry = jose::check_claims(value(std::move(claims)), of);
  if (!expiry) return refuse(expiry.error().public_text);
  auto who = caller_of(*said);
  if (!who) return refuse(who.error().public_text);
  return remember(digest, std::move(*who), 0, *expiry, introspection_remembered);
}

std::optional<authenticated> resource_server::heard(const bytes::sha256_bytes& digest) {
  const auto now = time_.steady();
  if (auto who = good_.find(digest, keys_.generation(), now)) return std::move(*who);
  if (auto why = refused_.find(digest, 0, now)) return tl::unexpected(std::move(*why));
  return {};
}

authenticated resource_server::asked(const std::string& token, const bytes::sha256_bytes& digest,
                                     std::chrono::steady_clock::time_point deadline) {
  const bool is_mine = asking_.enter(digest, deadline);
  struct leaving {
    one_a_token* from;
    const bytes::sha256_bytes& digest;
    ~leaving() {
      if (from != nullptr) from->leave(digest);
    }
  };
  const leaving at_the_end{is_mine ? &asking_ : nullptr, digest};
  // Another request may have checked the same token meanwhile.
  if (auto said = heard(digest)) return std::move(*said);
  if (!is_mine) return tl::unexpected(cannot_tell("the authorization server cannot check the token now", ask_again));
  auto said = introspected(token, digest, deadline);
  // Remembered, so that repeated requests with a bad token do not occupy the threads that check other tokens.
  if (!said && said.error().status == 401) refused_.put(digest, said.error(), 0, time_.steady() + refusal_remembered);
  return said;
}

std::optional<authenticated> resource_server::known(const request_facts& of) {
  if (!of.bearer || of.bearer->size() > longest_token_text) return tl::unexpected(unfit(of).value_or(challenge()));
  // Most requests send a token that was checked recently.
  const auto digest = bytes::sha256_of(*of.bearer);
  if (auto said = heard(digest)) {
    if (*said) (*said)->address = of.address;
    return said;
  }
  if (auto why = unfit(of)) return tl::unexpected(std::move(*why));
  if (!is_for_keys(*of.bearer)) return {};
  const auto keys = keys_.held();
  // Checked on this thread: a signature check costs about as much as a change of threads.
  if (!keys) return {};
  auto said = judged(*of.bearer, digest, *keys);
  if (!said && !keys_.may_look_for_unknown()) return cannot_look();
  if (said && *said) {
    // Rejected tokens must not cause a fetch of keys.
    keys_.renew();
    (*said)->address = of.address;
  }
  return said;
}

authenticated resource_server::find_out(const request_facts& of, std::chrono::steady_clock::time_point deadline) {
  if (auto why = unfit(of)) return tl::unexpected(std::move(*why));
  const auto digest = bytes::sha256_of(*of.bearer);
  auto out = is_for_keys(*of.bearer) ? by_keys(*of.bearer, digest, deadline) : asked(*of.bearer, digest, deadline);
  if (out) out->address = of.address;
  return out;
}

namespace {

constexpr std::chrono::minutes most_skew{10};

tl::unexpected<failure> unusable(std::string_view member, std::string_view why) {
  failure out{errc::invalid_argument, "oauth_options::" + std::string(member) + ": " + std::string(why), {}};
  out.about = member;
  return tl::unexpected(std::move(out));
}

/// Over plain http: anyone on the network can modify keys and answers, so it is allowed on this machine only.
bool is_safe(const std::string& url) { return !url.starts_with("http:") || transport::http_client::is_on_this_machine(url); }

constexpr std::string_view needs_https = "plain http: is only allowed on this machine; write https:";

result<void> check_options(const oauth_options& of) {
  if (!is_issuer(of.issuer)) return unusable("issuer", "expected a URL such as \"https://login.example.com\"");
  if (!is_safe(of.issuer)) return unusable("issuer", needs_https);
  if (!is_address(of.resource))
    return unusable("resource",
                    "expected the URL at which clients reach this server, such as \"https://shelf.example.com/mcp\"");
  if (!of.keys.empty() && !is_address(of.keys)) return unusable("keys", "expected a URL");
  if (!is_safe(of.keys)) return unusable("keys", needs_https);
  const auto& asked = of.introspection;
  if (!asked.endpoint.empty() && !is_address(asked.endpoint)) return unusable("introspection.endpoint", "expected a URL");
  if (!is_safe(asked.endpoint)) return unusable("introspection.endpoint", needs_https);
  if (!asked.endpoint.empty() && (asked.client_id.empty() || asked.client_secret.empty()))
    return unusable("introspection", "requires the client id and secret of this server at " + of.issuer);
  if (of.skew.count() < 0 || of.skew > most_skew) return unusable("skew", "expected 0 to 600 seconds");
  for (const auto* list : {&of.scopes, &of.all_scopes}) {
    for (const auto& one : *list) {
      if (!is_scope(one)) return unusable("scopes", "\"" + one + "\" is not a scope");
    }
  }
  return {};
}

}  // namespace
}  // namespace hondana::authentication

namespace hondana::inline v0 {

result<std::shared_ptr<authenticator>> make_oauth_authenticator(oauth_options options) {
  namespace calls = transport::http_client;
  HONDANA_TRY(authentication::check_options(options));
  calls::call_guard guard{{calls::host_of(options.issuer)}, options.authorities, options.proxy};
  for (const auto* url : {&options.keys, &options.introspection.endpoint}) {
    if (!url->empty()) guard.hosts.push_back(calls::host_of(*url));
  }
  const auto call = [guard = std::move(guard)](const calls::small_request& what, const std::stop_token& stop) {
    return calls::call_guarded(what, guard, stop);
  };
  return std::shared_ptr<authenticator>(std::make_shared<authentication::resource_server>(std::move(options), call));
}

}  // namespace hondana::inline v0
