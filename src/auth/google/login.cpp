/// Logs a user in to Google, and stores or revokes the login.
#include "auth/google/login.hpp"

#include <utility>

#include <hondana/value.hpp>

#include "auth/google/token_request.hpp"
#include "auth/oauth/authorization_urls.hpp"
#include "auth/oauth/code_request.hpp"
#include "auth/oauth/form.hpp"
#include "auth/oauth/token_requests.hpp"
#include "os/disk/private_file.hpp"
#include "transport/endpoint/endpoint.hpp"

namespace hondana::google {
namespace {

constexpr std::string_view google_issuer = "https://accounts.google.com";
constexpr std::size_t max_response_bytes = 64u << 10;

tl::unexpected<failure> login_failure(errc code, const std::string& reason, std::string private_text = {}) {
  return fail(code, "cannot log in to Google: " + reason, std::move(private_text));
}

const std::string& or_default(const std::string& url, const std::string& fallback) { return url.empty() ? fallback : url; }

/// Fills in Google's URLs where the client has none. Errors: invalid_argument.
result<oauth_client> complete_client(oauth_client client) {
  if (client.id.empty())
    return fail(errc::invalid_argument,
                "a login requires an OAuth client; create one of type \"Desktop app\" in the Google Cloud console, download "
                "its JSON, and set client_file to it");
  client.auth_url = or_default(client.auth_url, std::string(default_auth_url));
  client.token_url = or_default(client.token_url, std::string(default_token_url));
  for (const auto* url : {&client.auth_url, &client.token_url}) {
    if (auto status = check_token_url(*url, true); !status)
      return fail(errc::invalid_argument, "auth_url and token_url: " + status.error().public_text);
  }
  return client;
}

result<std::shared_ptr<endpoint::endpoint>> make_endpoint(const login_settings& settings, const std::string& url) {
  if (url.starts_with("http:") && !settings.proxy.empty() && settings.proxy != "none")
    return fail(errc::invalid_argument,
                "secrets are not sent over plain http: through a proxy, which could read them; use https:, or no proxy");
  return endpoint::endpoint::create(
      {.url = url, .ca_file = settings.ca_file, .proxy = settings.proxy, .timeout = settings.timeout});
}

endpoint::request form_request(const oauth::fields& form) {
  endpoint::request out;
  out.headers.emplace_back("Content-Type", "application/x-www-form-urlencoded");
  out.headers.emplace_back("Accept", "application/json");
  out.body = oauth::encode_form(form);
  out.max_bytes = max_response_bytes;
  return out;
}

/// The URL of the login page. Spec: Google, "OAuth 2.0 for Mobile & Desktop Apps", step 2.
std::string authorization_url(const oauth::code_request& request, const login_settings& settings) {
  oauth::fields query{{"response_type", "code"},
                      {"client_id", request.client_id},
                      {"redirect_uri", request.redirect_uri},
                      {"scope", scope_string(settings.requested_scopes)},
                      {"state", request.state},
                      {"code_challenge", oauth::code_challenge(request.verifier)},
                      {"code_challenge_method", "S256"},
                      // Both are needed for a refresh token on repeated logins.
                      {"access_type", "offline"},
                      {"prompt", "consent"}};
  if (!settings.login_hint.empty()) query.emplace_back("login_hint", settings.login_hint);
  return request.endpoint + (request.endpoint.find('?') == std::string::npos ? '?' : '&') + oauth::encode_form(query);
}

/// Explains why no tokens were issued for a code.
tl::unexpected<failure> token_failure(const oauth::small_response& response, const oauth::token_rejection& rejection) {
  auto reason = oauth::read_error_reason(response);
  if (rejection.error_code == "invalid_grant")
    return login_failure(errc::unauthorized, "the login page was completed too late, or twice; log in again",
                         std::move(reason));
  if (rejection.error_code == "invalid_client" || rejection.error_code == "unauthorized_client" ||
      rejection.error_code == "deleted_client")
    return login_failure(
        errc::unauthorized,
        "the OAuth client is unknown, or its secret is wrong; download its JSON from the Google Cloud console again",
        std::move(reason));
  if (rejection.error_code == "redirect_uri_mismatch")
    return login_failure(errc::unauthorized, "the OAuth client is not of type \"Desktop app\"; create one of that type",
                         std::move(reason));
  return login_failure(rejection.reason.code, "Google issued no token; try again, and see the log for Google's answer",
                       reason.empty() ? rejection.reason.public_text : reason);
}

result<authorized_user> exchange_code(const oauth::code_request& request, const std::string& code, const oauth_client& client,
                                      const login_settings& settings, const std::stop_token& stop) {
  const auto token_endpoint = make_endpoint(settings, client.token_url);
  if (!token_endpoint) return tl::unexpected(token_endpoint.error());
  oauth::fields form{{"grant_type", "authorization_code"},
                     {"code", code},
                     {"client_id", client.id},
                     {"redirect_uri", request.redirect_uri},
                     {"code_verifier", request.verifier}};
  if (!client.secret.empty()) form.emplace_back("client_secret", client.secret);
  auto http_response = (*token_endpoint)->send(form_request(form), stop);
  if (!http_response)
    return login_failure(http_response.error().code, http_response.error().public_text,
                         std::move(http_response.error().private_text));
  const oauth::small_response response{.status = http_response->status, .body = std::move(http_response->body)};
  oauth::scope_set requested;
  for (const auto drive_scope : settings.requested_scopes) requested.emplace(url_of(drive_scope));
  auto tokens = oauth::read_tokens(response, requested, client.token_url, {});
  if (!tokens) return token_failure(response, tokens.error());
  if (!coverage_of(tokens->scope, settings.requested_scopes).is_sufficient)
    return login_failure(errc::unauthorized, "not all requested scopes were granted (" +
                                                 scope_string(settings.requested_scopes) +
                                                 "); log in again, and tick every box on the page");
  if (!tokens->refresh_token)
    return login_failure(errc::unauthorized,
                         "Google issued no refresh token; remove the application's access at "
                         "https://myaccount.google.com/permissions and log in again");
  return authorized_user{client.id, client.secret, std::move(*tokens->refresh_token), client.token_url, settings.login_hint};
}

}  // namespace

result<authorized_user> log_in(const login_settings& settings, login_handler& page, const std::stop_token& stop) {
  if (settings.requested_scopes.empty()) return fail(errc::invalid_argument, "no scope is requested; write drive.readonly");
  HONDANA_TRY(const auto client, complete_client(settings.client));
  const bool is_google = client.auth_url == default_auth_url || client.auth_url.starts_with(std::string(google_issuer) + '/');
  oauth::server_metadata server;
  server.issuer = is_google ? std::string(google_issuer) : oauth::base_url(client.auth_url);
  server.authorization_endpoint = client.auth_url;
  HONDANA_TRY(auto request, oauth::make_code_request(server));
  request.client_id = client.id;
  HONDANA_TRY(auto redirect, page.listen({}));
  request.redirect_uri = std::move(redirect);
  HONDANA_TRY(const auto callback_url, page.visit(authorization_url(request, settings), stop));
  HONDANA_TRY(const auto code, oauth::extract_code(callback_url, request));
  return exchange_code(request, code, client, settings, stop);
}

result<void> store_login(const authorized_user& user, const std::string& path) {
  HONDANA_TRY(const auto lock, disk::acquire_lock(path));
  return disk::replace_private(path, encode(user));
}

result<void> revoke(const authorized_user& user, const login_settings& settings, const std::stop_token& stop) {
  const auto revocation_endpoint = make_endpoint(settings, oauth::base_url(user.token_url) + "/revoke");
  if (!revocation_endpoint) return tl::unexpected(revocation_endpoint.error());
  HONDANA_TRY(const auto response, (*revocation_endpoint)->send(form_request({{"token", user.refresh_token}}), stop));
  // A token that is already invalid counts as revoked.
  const auto answer = value::parse(response.body, {max_response_bytes, 100});
  const auto* error = answer && response.status == 400 ? answer->find("error") : nullptr;
  const bool is_unknown = error != nullptr && error->as_string() != nullptr && *error->as_string() == "invalid_token";
  if (response.status == 200 || is_unknown) return {};
  return fail(errc::source_unavailable, "Google did not revoke the login (status " + std::to_string(response.status) +
                                            "); remove the application's access at https://myaccount.google.com/permissions");
}

}  // namespace hondana::google
