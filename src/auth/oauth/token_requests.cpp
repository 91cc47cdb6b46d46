/// Requests tokens by login, machine credentials or refresh, and parses the token endpoint's answers.
#include "auth/oauth/token_requests.hpp"

#include <algorithm>
#include <charconv>

#include <hondana/value.hpp>

#include "auth/oauth/authorization_urls.hpp"
#include "auth/oauth/code_request.hpp"
#include "base/ascii/ascii.hpp"

namespace hondana::oauth {
namespace {

constexpr std::size_t most_values = 1'000;

/// Whether it can be sent in a header field. Spec: RFC 6750 section 2.1, with more characters allowed.
bool is_token(std::string_view text) noexcept {
  return !text.empty() && text.size() <= longest_token &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

/// Some servers send numbers as strings.
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

/// Whether an error is temporary. Some servers send these with status 400 instead of 503 or 429. Spec: RFC 6749 section
/// 4.1.2.1, RFC 8628 section 3.5.
bool is_passing(std::string_view error) noexcept {
  return error == "temporarily_unavailable" || error == "server_error" || error == "slow_down";
}

/// Null if the member is absent or null.
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
  // Some servers send errors with status 200.
  if (answer.status != 200 || (error != nullptr && said->find("access_token") == nullptr)) {
    // A rejection without an error code counts as invalid_grant.
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
    // Zero means that the server does not know the lifetime.
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

namespace {

tl::unexpected<token_refusal> refused(failure why) { return tl::unexpected(token_refusal{{}, std::move(why)}); }

result<small_answer> sent(const means& with, small_request what, const std::stop_token& stop) {
  what.time = with.http.time;
  what.most_bytes = longest_metadata;
  return with.http.call(what, stop);
}

client_identity configured(const means& with) {
  return {with.settings.client_id, with.settings.client_secret, with.key, with.settings.key_id, {}};
}

/// The client of our metadata document. The document names the keys, so our key proves our identity.
client_identity of_document(const means& with) { return {with.settings.metadata_url, {}, with.key, with.settings.key_id, {}}; }

client_identity of_registration(const client_registration& from) {
  return {from.client_id, from.client_secret, std::nullopt, {}, from.method};
}

result<client_identity> registered(const means& with, const authority& at, const std::string& redirect_uri,
                                   const std::stop_token& stop) {
  HONDANA_TRY(auto request, registration_request(with.settings.client_name, redirect_uri, at.server));
  small_request post;
  post.url = at.server.registration_endpoint;
  post.headers = {{"Accept", "application/json"}, {"Content-Type", "application/json"}};
  post.body = std::move(request);
  HONDANA_TRY(const auto answer, sent(with, std::move(post), stop));
  HONDANA_TRY(const auto out, read_registration(answer, redirect_uri, at.server.issuer));
  with.log("registered at " + shown(at.server.issuer));
  // The registration is valid for this login even if it cannot be stored.
  if (auto kept = with.settings.store->put_registration(at.server.issuer, out); !kept)
    with.log("the registration cannot be stored: " + kept.error().public_text);
  return of_registration(out);
}

result<std::optional<client_registration>> registration_of(const means& with, const std::string& issuer,
                                                           const std::string& client_id) {
  HONDANA_TRY(const auto all, with.settings.store->registrations(issuer));
  const auto found =
      std::find_if(all.begin(), all.end(), [&client_id](const client_registration& one) { return one.client_id == client_id; });
  return found == all.end() ? std::nullopt : std::optional(*found);
}

/// The client id from the settings; empty: use a stored or new registration.
std::string told_client(const means& with, const server_metadata& at) {
  if (!with.settings.client_id.empty()) return with.settings.client_id;
  return at.takes_documents ? with.settings.metadata_url : std::string();
}

/// The registration for a login: that of the configured client, otherwise the latest that users can log in with.
result<std::optional<client_registration>> registration_at(const means& with, const server_metadata& at) {
  // Redirect URIs of other clients are not registered for this one.
  if (const auto told = told_client(with, at); !told.empty()) return registration_of(with, at.issuer, told);
  HONDANA_TRY(const auto all, with.settings.store->registrations(at.issuer));
  const auto found = std::find_if(all.rbegin(), all.rend(), [&with](const client_registration& one) {
    return !one.redirect_uri.empty() && one.key_file.empty() && !one.is_machine &&
           (!one.secret_expires || *one.secret_expires > with.now());
  });
  return found == all.rend() ? std::nullopt : std::optional(*found);
}

/// A registration that was made dynamically and can be repeated. Manual registrations are not returned, because the store may
/// hold the only copy.
result<std::optional<client_registration>> own_registration(const means& with, const std::string& issuer,
                                                            const std::string& client_id) {
  if (client_id == with.settings.client_id || client_id == with.settings.metadata_url) return std::nullopt;
  auto kept = registration_of(with, issuer, client_id);
  if (kept && *kept && ((*kept)->by_hand || !(*kept)->key_file.empty())) return std::nullopt;
  return kept;
}

/// Removes a registration that the authorization server does not know any more.
void forget_registration(const means& with, const std::string& issuer, const std::string& client_id) {
  const auto kept = own_registration(with, issuer, client_id);
  if (!kept) return with.log("the registration cannot be removed: " + kept.error().public_text);
  if (!*kept) return;
  if (const auto removed = with.settings.store->remove_registration(issuer, client_id); !removed)
    with.log("the registration cannot be removed: " + removed.error().public_text);
}

/// Makes the next login register again, if the client was registered dynamically. Tokens of the old registration may still be
/// in use.
void retire_registration(const means& with, const std::string& issuer, const std::string& client_id) {
  const auto kept = own_registration(with, issuer, client_id);
  if (!kept) return with.log("the registration cannot be changed: " + kept.error().public_text);
  if (!*kept) return;
  auto retired = **kept;
  retired.redirect_uri.clear();
  if (const auto put = with.settings.store->put_registration(issuer, retired); !put)
    with.log("the registration cannot be changed: " + put.error().public_text);
}

/// Spec: basic/authorization/client-registration.
result<client_identity> identity_for_login(const means& with, const authority& at,
                                           const std::optional<client_registration>& at_hand, const std::string& redirect_uri,
                                           const std::stop_token& stop) {
  if (!with.settings.client_id.empty()) return configured(with);
  if (at.server.takes_documents && !with.settings.metadata_url.empty()) return of_document(with);
  // Authorization servers compare redirect URIs as strings.
  if (at_hand && at_hand->redirect_uri == redirect_uri) return of_registration(*at_hand);
  if (!at.server.registration_endpoint.empty()) return registered(with, at, redirect_uri, stop);
  return fail(errc::unauthorized,
              "cannot register at " + shown(at.server.issuer) +
                  ": it does not accept automatic registrations; register a client there manually with the redirect URI " +
                  redirect_uri + ", and configure its client id");
}

/// The client that got these tokens. Without a stored registration it is treated as a public client.
result<client_identity> identity_of(const means& with, const token_key& key) {
  if (key.client_id == with.settings.client_id) return configured(with);
  if (key.client_id == with.settings.metadata_url) return of_document(with);
  HONDANA_TRY(const auto kept, registration_of(with, key.issuer, key.client_id));
  return kept ? of_registration(*kept) : client_identity{key.client_id, {}, std::nullopt, {}, {}};
}

obtained ask_for_tokens(const means& with, const authority& at, const client_identity& who, fields what,
                        const scope_set& scopes, const std::stop_token& stop) {
  what.emplace_back("resource", at.resource);
  auto request = authenticated(at.server.token_endpoint, std::move(what), who, at.server, with.now());
  if (!request) return refused(std::move(request.error()));
  const auto answer = sent(with, std::move(*request), stop);
  if (!answer) return refused(answer.error());
  auto tokens = read_tokens(*answer, scopes, at.server.issuer, with.now());
  if (!tokens) {
    if (tokens.error().error == "invalid_client") forget_registration(with, at.server.issuer, who.client_id);
    return tl::unexpected(std::move(tokens.error()));
  }
  return kept_tokens{{at.server.issuer, with.url, who.client_id, spelled(scopes)}, std::move(*tokens)};
}

obtained from_machine(const means& with, const authority& at, const scope_set& scopes, const std::stop_token& stop) {
  fields what{{"grant_type", "client_credentials"}};
  if (!scopes.empty()) what.emplace_back("scope", spelled(scopes));
  auto who = configured(with);
  if (who.client_id.empty()) who = of_document(with);
  return ask_for_tokens(with, at, who, std::move(what), scopes, stop);
}

result<void> check_redirect_uri(const std::string& uri) {
  if (check_endpoint(uri, "the redirect URI") && uri.find('?') == std::string::npos) return {};
  return fail(errc::invalid_argument,
              "\"" + shown(uri) + "\" is not a valid redirect URI: it must be https:, or http: on this machine, without query");
}

/// Errors that callers would retry become unauthorized, so that the user is not asked again and again.
failure after_asking(failure why) {
  if (why.code == errc::timed_out || why.code == errc::source_unavailable) why.code = errc::unauthorized;
  return why;
}

obtained from_user(const means& with, const authority& at, const scope_set& scopes, const std::stop_token& stop) {
  const auto& login = with.settings.login;
  if (auto able = check_code_grant(at.server, at.is_published); !able) return refused(std::move(able.error()));
  const auto at_hand = registration_at(with, at.server);
  if (!at_hand) return refused(at_hand.error());
  const auto redirect_uri = login->begin(*at_hand ? (*at_hand)->redirect_uri : std::string());
  if (!redirect_uri) return refused(redirect_uri.error());
  if (auto checked = check_redirect_uri(*redirect_uri); !checked) return refused(std::move(checked.error()));
  const auto who = identity_for_login(with, at, *at_hand, *redirect_uri, stop);
  if (!who) return refused(who.error());
  auto request = begin_code_request(at.server);
  if (!request) return refused(std::move(request.error()));
  request->client_id = who->client_id;
  request->redirect_uri = *redirect_uri;
  request->resource = at.resource;
  request->scopes = scopes;
  with.log("requesting a login at " + shown(at.server.issuer) + (scopes.empty() ? "" : " for the scopes " + spelled(scopes)));
  const auto back = login->visit(page_of(*request), stop);
  if (!back) {
    // A server that does not know the client shows an error to the user and does not redirect.
    if (back.error().code == errc::timed_out) retire_registration(with, at.server.issuer, who->client_id);
    return refused(after_asking(back.error()));
  }
  const auto code = code_in(*back, *request);
  if (!code) return refused(code.error());
  auto out = ask_for_tokens(with, at, *who,
                            {{"grant_type", "authorization_code"},
                             {"code", *code},
                             {"redirect_uri", *redirect_uri},
                             {"code_verifier", request->verifier}},
                            scopes, stop);
  if (!out) out.error().why = after_asking(std::move(out.error().why));
  return out;
}

}  // namespace

obtained get_tokens(const means& with, const authority& at, const scope_set& scopes, const std::stop_token& stop) {
  const bool is_machine = with.settings.grant == oauth_grant::client_credentials;
  if (is_machine || with.settings.login) {
    auto out = is_machine ? from_machine(with, at, scopes, stop) : from_user(with, at, scopes, stop);
    // These endpoints are defaults that no server named, so the details go into the private text.
    if (auto* why = !out && at.is_assumed ? &out.error().why : nullptr; why != nullptr && why->code == errc::unauthorized) {
      why->private_text = std::move(why->public_text);
      why->public_text = '"' + shown(with.url) + "\" names no authorization server to log in at; ask its operator for a token";
    }
    return out;
  }
  return refused({errc::unauthorized,
                  "\"" + shown(with.url) + "\" requires authentication" +
                      (scopes.empty() ? std::string() : " (scopes: " + spelled(scopes) + ")") + ": " + with.settings.advice,
                  {}});
}

obtained refresh(const means& with, const authority& at, const kept_tokens& what, const std::stop_token& stop) {
  const auto who = identity_of(with, what.key);
  if (!who) return refused(who.error());
  // The secret was removed together with the registration.
  if (who->secret.empty() && !who->key && !method_for(*who, at.server))
    return tl::unexpected(token_refusal{
        "invalid_client", {errc::unauthorized, "the client that these tokens were issued to is no longer registered", {}}});
  const auto granted = read_scopes(what.tokens.scope).value_or(scope_set());
  auto out = ask_for_tokens(with, at, *who, {{"grant_type", "refresh_token"}, {"refresh_token", what.tokens.refresh_token}},
                            granted, stop);
  if (!out) return out;
  out->key.scope = what.key.scope;
  if (out->tokens.refresh_token.empty()) out->tokens.refresh_token = what.tokens.refresh_token;
  return out;
}

result<bool> revoke(const means& with, const kept_tokens& what, const std::stop_token& stop) {
  HONDANA_TRY(const auto at, server_of(with.http, what.key.issuer, stop));
  HONDANA_TRY(const auto who, identity_of(with, what.key));
  if (at.revocation_endpoint.empty()) return false;
  const bool has_refresh = !what.tokens.refresh_token.empty();
  HONDANA_TRY(auto request, authenticated(at.revocation_endpoint,
                                          {{"token", has_refresh ? what.tokens.refresh_token : what.tokens.access_token},
                                           {"token_type_hint", has_refresh ? "refresh_token" : "access_token"}},
                                          who, at, with.now()));
  HONDANA_TRY(const auto answer, sent(with, std::move(request), stop));
  if (answer.status == 200) return true;
  const auto said = reason_in(answer);
  return fail(errc::source_unavailable, shown(at.revocation_endpoint) + " answered with status " +
                                            std::to_string(answer.status) + (said.empty() ? "" : ": " + said));
}

}  // namespace hondana::oauth
