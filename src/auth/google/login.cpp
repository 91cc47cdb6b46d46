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

constexpr std::string_view googles_issuer = "https://accounts.google.com";
constexpr std::size_t most_exchange_answer = 64u << 10;

tl::unexpected<failure> cannot_log_in(errc code, const std::string& why, std::string private_text = {}) {
  return fail(code, "cannot log in to Google: " + why, std::move(private_text));
}

const std::string& or_usual(const std::string& url, const std::string& usual) { return url.empty() ? usual : url; }

/// Fills in Google's URLs where the client has none. Errors: invalid_argument.
result<oauth_client> checked_client(oauth_client client) {
  if (client.id.empty())
    return fail(errc::invalid_argument,
                "a login requires an OAuth client; create one of type \"Desktop app\" in the Google Cloud console, download "
                "its JSON, and set client to it");
  client.auth_url = or_usual(client.auth_url, std::string(usual_auth_url));
  client.token_url = or_usual(client.token_url, std::string(usual_token_url));
  for (const auto* url : {&client.auth_url, &client.token_url}) {
    if (auto fine = check_token_url(*url, true); !fine)
      return fail(errc::invalid_argument, "auth_url and token_url: " + fine.error().public_text);
  }
  return client;
}

result<std::shared_ptr<endpoint::endpoint>> endpoint_for(const log_in_settings& with, const std::string& url) {
  if (url.starts_with("http:") && !with.proxy.empty() && with.proxy != "none")
    return fail(errc::invalid_argument,
                "secrets are not sent over plain http: through a proxy, which could read them; use https:, or no proxy");
  return endpoint::endpoint::of({.url = url, .authorities = with.authorities, .proxy = with.proxy, .time = with.time});
}

endpoint::request form_request(const oauth::fields& form) {
  endpoint::request out;
  out.headers.emplace_back("Content-Type", "application/x-www-form-urlencoded");
  out.headers.emplace_back("Accept", "application/json");
  out.body = oauth::spelled(form);
  out.most_bytes = most_exchange_answer;
  return out;
}

/// The URL of the login page. Spec: Google, "OAuth 2.0 for Mobile & Desktop Apps", step 2.
std::string page_for(const oauth::code_request& request, const log_in_settings& with) {
  oauth::fields query{{"response_type", "code"},
                      {"client_id", request.client_id},
                      {"redirect_uri", request.redirect_uri},
                      {"scope", spelled(with.asked)},
                      {"state", request.state},
                      {"code_challenge", oauth::code_challenge(request.verifier)},
                      {"code_challenge_method", "S256"},
                      // Both are needed for a refresh token on repeated logins.
                      {"access_type", "offline"},
                      {"prompt", "consent"}};
  if (!with.hint.empty()) query.emplace_back("login_hint", with.hint);
  return request.endpoint + (request.endpoint.find('?') == std::string::npos ? '?' : '&') + oauth::spelled(query);
}

/// Explains why no tokens were issued for a code.
tl::unexpected<failure> no_tokens(const oauth::small_answer& answer, const oauth::token_refusal& why) {
  auto said = oauth::reason_in(answer);
  if (why.error == "invalid_grant")
    return cannot_log_in(errc::unauthorized, "the login page was completed too late, or twice; log in again", std::move(said));
  if (why.error == "invalid_client" || why.error == "unauthorized_client" || why.error == "deleted_client")
    return cannot_log_in(
        errc::unauthorized,
        "the OAuth client is unknown, or its secret is wrong; download its JSON from the Google Cloud console again",
        std::move(said));
  if (why.error == "redirect_uri_mismatch")
    return cannot_log_in(errc::unauthorized, "the OAuth client is not of type \"Desktop app\"; create one of that type",
                         std::move(said));
  return cannot_log_in(why.why.code, "Google issued no token; try again, and see the log for Google's answer",
                       said.empty() ? why.why.public_text : said);
}

result<authorized_user> exchanged(const oauth::code_request& request, const std::string& code, const oauth_client& client,
                                  const log_in_settings& with, const std::stop_token& stop) {
  const auto at = endpoint_for(with, client.token_url);
  if (!at) return tl::unexpected(at.error());
  oauth::fields form{{"grant_type", "authorization_code"},
                     {"code", code},
                     {"client_id", client.id},
                     {"redirect_uri", request.redirect_uri},
                     {"code_verifier", request.verifier}};
  if (!client.secret.empty()) form.emplace_back("client_secret", client.secret);
  auto got = (*at)->ask(form_request(form), stop);
  if (!got) return cannot_log_in(got.error().code, got.error().public_text, std::move(got.error().private_text));
  const oauth::small_answer answer{.status = got->status, .bytes = std::move(got->bytes)};
  oauth::scope_set asked;
  for (const auto one : with.asked) asked.emplace(url_of(one));
  auto tokens = oauth::read_tokens(answer, asked, client.token_url, {});
  if (!tokens) return no_tokens(answer, tokens.error());
  if (!coverage_of(tokens->scope, with.asked).is_enough)
    return cannot_log_in(errc::unauthorized, "not all requested scopes were granted (" + spelled(with.asked) +
                                                 "); log in again, and tick every box on the page");
  if (tokens->refresh_token.empty())
    return cannot_log_in(errc::unauthorized,
                         "Google issued no refresh token; remove the application's access at "
                         "https://myaccount.google.com/permissions and log in again");
  return authorized_user{client.id, client.secret, std::move(tokens->refresh_token), client.token_url, with.hint};
}

}  // namespace

result<authorized_user> log_in(const log_in_settings& with, login_page& page, const std::stop_token& stop) {
  if (with.asked.empty()) return fail(errc::invalid_argument, "no scope is requested; write drive.readonly");
  HONDANA_TRY(const auto client, checked_client(with.client));
  const bool is_googles = client.auth_url == usual_auth_url || client.auth_url.starts_with(std::string(googles_issuer) + '/');
  oauth::server_metadata at;
  at.issuer = is_googles ? std::string(googles_issuer) : oauth::base_of(client.auth_url);
  at.authorization_endpoint = client.auth_url;
  HONDANA_TRY(auto request, oauth::begin_code_request(at));
  request.client_id = client.id;
  HONDANA_TRY(auto redirect, page.begin({}));
  request.redirect_uri = std::move(redirect);
  HONDANA_TRY(const auto came_back, page.visit(page_for(request, with), stop));
  HONDANA_TRY(const auto code, oauth::code_in(came_back, request));
  return exchanged(request, code, client, with, stop);
}

result<void> keep(const authorized_user& one, const std::string& path) {
  HONDANA_TRY(const auto lock, disk::lock_beside(path));
  return disk::replace_private(path, spelled(one));
}

result<void> revoke(const authorized_user& one, const log_in_settings& with, const std::stop_token& stop) {
  const auto at = endpoint_for(with, oauth::base_of(one.token_url) + "/revoke");
  if (!at) return tl::unexpected(at.error());
  HONDANA_TRY(const auto got, (*at)->ask(form_request({{"token", one.refresh_token}}), stop));
  // A token that is already invalid counts as revoked.
  const auto said = value::parse(got.bytes, {most_exchange_answer, 100});
  const auto* error = said && got.status == 400 ? said->find("error") : nullptr;
  const bool is_unknown = error != nullptr && error->as_string() != nullptr && *error->as_string() == "invalid_token";
  if (got.status == 200 || is_unknown) return {};
  return fail(errc::source_unavailable, "Google did not revoke the login (status " + std::to_string(got.status) +
                                            "); remove the application's access at https://myaccount.google.com/permissions");
}

}  // namespace hondana::google
