/// Requests tokens (by a user's login, machine credentials or refresh), revokes them, and parses the answers.
#include "auth/oauth/token_requests.hpp"

#include <algorithm>
#include <charconv>

#include <hondana/value.hpp>

#include "auth/oauth/authorization_urls.hpp"
#include "auth/oauth/code_request.hpp"
#include "base/ascii/ascii.hpp"

namespace hondana::oauth {
namespace {

constexpr std::size_t max_values = 1'000;

/// Whether it can be sent in a header field. Spec: RFC 6750 section 2.1, with more characters allowed.
bool is_token(std::string_view text) noexcept {
  return !text.empty() && text.size() <= max_token_bytes &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

/// Some servers send numbers as strings.
std::optional<std::int64_t> read_seconds(const value& member) {
  if (member.as_integer()) return member.as_integer();
  if (const auto number = member.as_number(); number && *number >= 0 && *number < 1e9)
    return static_cast<std::int64_t>(*number);
  const auto* text = member.as_string();
  if (text == nullptr) return std::nullopt;
  std::int64_t out = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), out);
  if (error != std::errc() || end != text->data() + text->size()) return std::nullopt;
  return out;
}

/// Whether an error is temporary. Some servers send these with status 400 instead of 503 or 429. Spec: RFC 6749 section
/// 4.1.2.1, RFC 8628 section 3.5.
bool is_transient_error(std::string_view error) noexcept {
  return error == "temporarily_unavailable" || error == "server_error" || error == "slow_down";
}

/// Null if the member is absent or null.
const value* present_member(const value& object, std::string_view name) {
  const auto* member = object.find(name);
  return member == nullptr || member->is_null() ? nullptr : member;
}

}  // namespace

tl::expected<token_set, token_rejection> read_tokens(const small_response& response, const scope_set& requested,
                                                     const std::string& issuer, seconds_since_epoch now) {
  const auto rejection = [&issuer](errc code, const std::string& reason, std::string error = {}) {
    return tl::unexpected(
        token_rejection{std::move(error), failure{code, "cannot get a token from " + display_url(issuer) + ": " + reason, {}}});
  };
  if (response.status >= 500 || response.status == 429)
    return rejection(errc::source_unavailable,
                     "it answered with status " + std::to_string(response.status) + "; try again later");
  const auto parsed = value::parse(response.body, {max_metadata_bytes, max_values});
  const auto* error = parsed ? parsed->find("error") : nullptr;
  // Some servers send errors with status 200.
  if (response.status != 200 || (error != nullptr && parsed->find("access_token") == nullptr)) {
    // A rejection without an error code counts as invalid_grant.
    const bool is_rejection = response.status == 400 || response.status == 401;
    if (error == nullptr || error->as_string() == nullptr)
      return rejection(errc::unauthorized, "it answered with status " + std::to_string(response.status),
                       is_rejection ? "invalid_grant" : "");
    return rejection(is_transient_error(*error->as_string()) ? errc::source_unavailable : errc::unauthorized,
                     read_error_reason(response), sanitize(*error->as_string()));
  }
  if (!parsed || parsed->as_object() == nullptr) return rejection(errc::protocol_error, "its answer is not a JSON object");
  token_set out;
  out.issued_at = now;
  const auto* access = present_member(*parsed, "access_token");
  if (access == nullptr || access->as_string() == nullptr || !is_token(*access->as_string()))
    return rejection(errc::protocol_error, "its answer has no valid access_token");
  out.access_token = *access->as_string();
  const auto* type = present_member(*parsed, "token_type");
  if (type == nullptr || type->as_string() == nullptr || !ascii::equals_ignore_case("bearer", *type->as_string()))
    return rejection(errc::protocol_error, "its token is not of type Bearer");
  if (const auto* refresh = present_member(*parsed, "refresh_token")) {
    if (refresh->as_string() == nullptr || refresh->as_string()->size() > max_token_bytes)
      return rejection(errc::protocol_error, "refresh_token is not valid");
    if (!refresh->as_string()->empty()) out.refresh_token = *refresh->as_string();
  }
  if (const auto* lifetime = present_member(*parsed, "expires_in")) {
    const auto seconds = read_seconds(*lifetime);
    if (!seconds || *seconds < 0) return rejection(errc::protocol_error, "expires_in is not a number of seconds");
    // Zero means that the server does not know the lifetime.
    if (*seconds > 0) out.expires_at = now + std::min<std::chrono::seconds>(std::chrono::seconds(*seconds), max_lifetime);
  }
  out.scope = scope_string(requested);
  if (const auto* scope = present_member(*parsed, "scope")) {
    const auto granted = scope->as_string() == nullptr ? std::nullopt : read_scopes(*scope->as_string());
    if (!granted) return rejection(errc::protocol_error, "scope is not a list of scopes");
    out.scope = scope_string(*granted);
  }
  return out;
}

std::string read_error_reason(const small_response& response) {
  const auto parsed = value::parse(response.body, {max_metadata_bytes, max_values});
  const auto* error = parsed ? parsed->find("error") : nullptr;
  if (error == nullptr || error->as_string() == nullptr) return {};
  const auto* description = parsed->find("error_description");
  return error_text(error->as_string(), description == nullptr ? nullptr : description->as_string());
}

namespace {

tl::unexpected<token_rejection> reject(failure error) { return tl::unexpected(token_rejection{{}, std::move(error)}); }

result<small_response> send(const session_context& context, small_request request, const std::stop_token& stop) {
  request.timeout = context.http.timeout;
  request.max_bytes = max_metadata_bytes;
  return context.http.call(request, stop);
}

client_identity configured_client(const session_context& context) {
  const auto& options = context.options;
  return {options.client_id.value_or(std::string()),
          options.client_secret.value_or(std::string()),
          context.key,
          options.key_id.value_or(std::string()),
          {}};
}

/// The client of our metadata document. The document names the keys, so our key proves our identity.
client_identity document_client(const session_context& context) {
  return {context.options.metadata_url.value_or(std::string()),
          {},
          context.key,
          context.options.key_id.value_or(std::string()),
          {}};
}

client_identity registered_client(const client_registration& registration) {
  return {registration.client_id,
          registration.client_secret.value_or(std::string()),
          std::nullopt,
          {},
          registration.auth_method.value_or(std::string())};
}

result<client_identity> register_client(const session_context& context, const authority& authority,
                                        const std::string& redirect_uri, const std::stop_token& stop) {
  HONDANA_TRY(auto body, registration_request(context.options.client_name, redirect_uri, authority.server));
  small_request request;
  request.url = authority.server.registration_endpoint;
  request.headers = {{"Accept", "application/json"}, {"Content-Type", "application/json"}};
  request.body = std::move(body);
  HONDANA_TRY(const auto response, send(context, std::move(request), stop));
  HONDANA_TRY(const auto out, read_registration(response, redirect_uri, authority.server.issuer));
  context.log("registered at " + display_url(authority.server.issuer));
  // The registration is valid for this login even if it cannot be stored.
  if (auto status = context.options.store->put_registration(authority.server.issuer, out); !status)
    context.log("the registration cannot be stored: " + status.error().public_text);
  return registered_client(out);
}

result<std::optional<client_registration>> find_registration(const session_context& context, const std::string& issuer,
                                                             const std::string& client_id) {
  HONDANA_TRY(const auto registrations, context.options.store->registrations(issuer));
  const auto match =
      std::find_if(registrations.begin(), registrations.end(),
                   [&client_id](const client_registration& registration) { return registration.client_id == client_id; });
  return match == registrations.end() ? std::nullopt : std::optional(*match);
}

/// The client id from the settings; nullopt: use a stored or new registration.
std::optional<std::string> configured_client_id(const session_context& context, const server_metadata& server) {
  if (context.options.client_id) return context.options.client_id;
  return server.supports_metadata_documents ? context.options.metadata_url : std::nullopt;
}

/// The registration for a login: that of the configured client, otherwise the latest that users can log in with.
result<std::optional<client_registration>> registration_for_login(const session_context& context,
                                                                  const server_metadata& server) {
  // Redirect URIs of other clients are not registered for this one.
  if (const auto client_id = configured_client_id(context, server))
    return find_registration(context, server.issuer, *client_id);
  HONDANA_TRY(const auto registrations, context.options.store->registrations(server.issuer));
  const auto match =
      std::find_if(registrations.rbegin(), registrations.rend(), [&context](const client_registration& registration) {
        return registration.redirect_uri && !registration.key_file && !registration.is_machine &&
               (!registration.secret_expires_at || *registration.secret_expires_at > context.now());
      });
  return match == registrations.rend() ? std::nullopt : std::optional(*match);
}

/// A registration that was made dynamically and can be repeated. Manual registrations are not returned, because the store may
/// hold the only copy.
result<std::optional<client_registration>> dynamic_registration(const session_context& context, const std::string& issuer,
                                                                const std::string& client_id) {
  if (client_id == context.options.client_id || client_id == context.options.metadata_url) return std::nullopt;
  auto registration = find_registration(context, issuer, client_id);
  if (registration && *registration && ((*registration)->is_manual || (*registration)->key_file)) return std::nullopt;
  return registration;
}

/// Removes a registration that the authorization server does not know any more.
void remove_registration(const session_context& context, const std::string& issuer, const std::string& client_id) {
  const auto registration = dynamic_registration(context, issuer, client_id);
  if (!registration) return context.log("the registration cannot be removed: " + registration.error().public_text);
  if (!*registration) return;
  if (const auto status = context.options.store->remove_registration(issuer, client_id); !status)
    context.log("the registration cannot be removed: " + status.error().public_text);
}

/// Makes the next login register again, if the client was registered dynamically. Tokens of the old registration may still be
/// in use.
void retire_registration(const session_context& context, const std::string& issuer, const std::string& client_id) {
  const auto registration = dynamic_registration(context, issuer, client_id);
  if (!registration) return context.log("the registration cannot be changed: " + registration.error().public_text);
  if (!*registration) return;
  auto retired = **registration;
  retired.redirect_uri.reset();
  if (const auto status = context.options.store->put_registration(issuer, retired); !status)
    context.log("the registration cannot be changed: " + status.error().public_text);
}

/// Spec: basic/authorization/client-registration.
result<client_identity> identity_for_login(const session_context& context, const authority& authority,
                                           const std::optional<client_registration>& registration,
                                           const std::string& redirect_uri, const std::stop_token& stop) {
  if (context.options.client_id) return configured_client(context);
  if (authority.server.supports_metadata_documents && context.options.metadata_url) return document_client(context);
  // Authorization servers compare redirect URIs as strings.
  if (registration && registration->redirect_uri == redirect_uri) return registered_client(*registration);
  if (!authority.server.registration_endpoint.empty()) return register_client(context, authority, redirect_uri, stop);
  return fail(errc::unauthorized,
              "cannot register at " + display_url(authority.server.issuer) +
                  ": it does not accept automatic registrations; register a client there manually with the redirect URI " +
                  redirect_uri + ", and configure its client id");
}

/// The client that got these tokens. Without a stored registration it is treated as a public client.
result<client_identity> identity_of(const session_context& context, const token_key& key) {
  if (key.client_id == context.options.client_id) return configured_client(context);
  if (key.client_id == context.options.metadata_url) return document_client(context);
  HONDANA_TRY(const auto registration, find_registration(context, key.issuer, key.client_id));
  return registration ? registered_client(*registration) : client_identity{key.client_id, {}, std::nullopt, {}, {}};
}

token_result post_token_request(const session_context& context, const authority& authority, const client_identity& client,
                                fields form, const scope_set& scopes, const std::stop_token& stop) {
  form.emplace_back("resource", authority.resource);
  auto request =
      authenticated_request(authority.server.token_endpoint, std::move(form), client, authority.server, context.now());
  if (!request) return reject(std::move(request.error()));
  const auto response = send(context, std::move(*request), stop);
  if (!response) return reject(response.error());
  auto tokens = read_tokens(*response, scopes, authority.server.issuer, context.now());
  if (!tokens) {
    if (tokens.error().error_code == "invalid_client") remove_registration(context, authority.server.issuer, client.client_id);
    return tl::unexpected(std::move(tokens.error()));
  }
  return token_record{{authority.server.issuer, context.url, client.client_id, scope_string(scopes)}, std::move(*tokens)};
}

token_result get_machine_tokens(const session_context& context, const authority& authority, const scope_set& scopes,
                                const std::stop_token& stop) {
  fields form{{"grant_type", "client_credentials"}};
  if (!scopes.empty()) form.emplace_back("scope", scope_string(scopes));
  auto client = configured_client(context);
  if (client.client_id.empty()) client = document_client(context);
  return post_token_request(context, authority, client, std::move(form), scopes, stop);
}

result<void> check_redirect_uri(const std::string& uri) {
  if (check_endpoint(uri, "the redirect URI") && uri.find('?') == std::string::npos) return {};
  return fail(
      errc::invalid_argument,
      "\"" + display_url(uri) + "\" is not a valid redirect URI: it must be https:, or http: on this machine, without query");
}

/// Errors that callers would retry become unauthorized, so that the user is not asked again and again.
failure without_retry(failure error) {
  if (error.code == errc::timed_out || error.code == errc::source_unavailable) error.code = errc::unauthorized;
  return error;
}

token_result get_user_tokens(const session_context& context, const authority& authority, const scope_set& scopes,
                             const std::stop_token& stop) {
  const auto& login = context.options.login;
  if (auto status = check_code_grant(authority.server, authority.is_published); !status)
    return reject(std::move(status.error()));
  const auto registration = registration_for_login(context, authority.server);
  if (!registration) return reject(registration.error());
  const auto redirect_uri = login->listen(*registration ? (*registration)->redirect_uri : std::nullopt);
  if (!redirect_uri) return reject(redirect_uri.error());
  if (auto checked = check_redirect_uri(*redirect_uri); !checked) return reject(std::move(checked.error()));
  const auto client = identity_for_login(context, authority, *registration, *redirect_uri, stop);
  if (!client) return reject(client.error());
  auto request = make_code_request(authority.server);
  if (!request) return reject(std::move(request.error()));
  request->client_id = client->client_id;
  request->redirect_uri = *redirect_uri;
  request->resource = authority.resource;
  request->scopes = scopes;
  context.log("requesting a login at " + display_url(authority.server.issuer) +
              (scopes.empty() ? "" : " for the scopes " + scope_string(scopes)));
  const auto redirect_url = login->visit(authorization_url(*request), stop);
  if (!redirect_url) {
    // A server that does not know the client shows an error to the user and does not redirect.
    if (redirect_url.error().code == errc::timed_out) retire_registration(context, authority.server.issuer, client->client_id);
    return reject(without_retry(redirect_url.error()));
  }
  const auto code = extract_code(*redirect_url, *request);
  if (!code) return reject(code.error());
  auto out = post_token_request(context, authority, *client,
                                {{"grant_type", "authorization_code"},
                                 {"code", *code},
                                 {"redirect_uri", *redirect_uri},
                                 {"code_verifier", request->verifier}},
                                scopes, stop);
  if (!out) out.error().reason = without_retry(std::move(out.error().reason));
  return out;
}

}  // namespace

token_result get_tokens(const session_context& context, const authority& authority, const scope_set& scopes,
                        const std::stop_token& stop) {
  const bool is_machine = context.options.grant == oauth_grant::client_credentials;
  if (is_machine || context.options.login) {
    auto out =
        is_machine ? get_machine_tokens(context, authority, scopes, stop) : get_user_tokens(context, authority, scopes, stop);
    // These endpoints are defaults that no server named, so the details go into the private text.
    if (auto* error = !out && authority.is_assumed ? &out.error().reason : nullptr;
        error != nullptr && error->code == errc::unauthorized) {
      error->private_text = std::move(error->public_text);
      error->public_text =
          '"' + display_url(context.url) + "\" names no authorization server to log in at; ask its operator for a token";
    }
    return out;
  }
  return reject({errc::unauthorized,
                 "\"" + display_url(context.url) + "\" requires authentication" +
                     (scopes.empty() ? std::string() : " (scopes: " + scope_string(scopes) + ")") + ": " +
                     context.options.login_advice,
                 {}});
}

token_result refresh(const session_context& context, const authority& authority, const token_record& entry,
                     const std::stop_token& stop) {
  const auto client = identity_of(context, entry.key);
  if (!client) return reject(client.error());
  // The secret was removed together with the registration.
  if (client->secret.empty() && !client->key && !choose_method(*client, authority.server))
    return tl::unexpected(token_rejection{
        "invalid_client", {errc::unauthorized, "the client that these tokens were issued to is no longer registered", {}}});
  const auto granted = read_scopes(entry.tokens.scope).value_or(scope_set());
  auto out = post_token_request(
      context, authority, *client,
      {{"grant_type", "refresh_token"}, {"refresh_token", entry.tokens.refresh_token.value_or(std::string())}}, granted, stop);
  if (!out) return out;
  out->key.scope = entry.key.scope;
  if (!out->tokens.refresh_token) out->tokens.refresh_token = entry.tokens.refresh_token;
  return out;
}

result<bool> revoke(const session_context& context, const token_record& entry, const std::stop_token& stop) {
  HONDANA_TRY(const auto server, fetch_server_metadata(context.http, entry.key.issuer, stop));
  HONDANA_TRY(const auto client, identity_of(context, entry.key));
  if (server.revocation_endpoint.empty()) return false;
  const bool has_refresh = entry.tokens.refresh_token.has_value();
  HONDANA_TRY(auto request,
              authenticated_request(server.revocation_endpoint,
                                    {{"token", has_refresh ? *entry.tokens.refresh_token : entry.tokens.access_token},
                                     {"token_type_hint", has_refresh ? "refresh_token" : "access_token"}},
                                    client, server, context.now()));
  HONDANA_TRY(const auto response, send(context, std::move(request), stop));
  if (response.status == 200) return true;
  const auto reason = read_error_reason(response);
  return fail(errc::source_unavailable, display_url(server.revocation_endpoint) + " answered with status " +
                                            std::to_string(response.status) + (reason.empty() ? "" : ": " + reason));
}

}  // namespace hondana::oauth
