/// Requests one access token from Google's token endpoint, and explains its rejections.
#include "auth/google/token_request.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>
#include <variant>

#include <hondana/value.hpp>

#include "auth/oauth/code_request.hpp"
#include "auth/oauth/form.hpp"
#include "auth/oauth/scopes.hpp"
#include "auth/oauth/token_requests.hpp"
#include "base/ascii/ascii.hpp"

namespace hondana::google {
namespace {

constexpr std::size_t max_rejection_bytes = 64u << 10;
constexpr std::size_t max_rejection_values = 500;

struct error_response {
  std::string code{};
  std::string description{};
  std::string subtype{};
};

std::string string_member(const value& object, std::string_view name) {
  const auto* member = object.find(name);
  return member == nullptr || member->as_string() == nullptr ? std::string() : oauth::sanitize(*member->as_string());
}

error_response parse_error(std::string_view body) {
  const auto parsed = value::parse(body, {max_rejection_bytes, max_rejection_values});
  if (!parsed) return {};
  error_response out{string_member(*parsed, "error"), string_member(*parsed, "error_description"),
                     string_member(*parsed, "error_subtype")};
  // Google's API front end uses its own error format.
  if (const auto* inner = parsed->find("error"); inner != nullptr && inner->as_object() != nullptr)
    out = {string_member(*inner, "status"), string_member(*inner, "message"), {}};
  return out;
}

bool contains(const std::string& text, std::string_view part) { return ascii::to_lower(text).find(part) != std::string::npos; }

bool mentions_clock(const error_response& error) {
  const auto& text = error.description;
  return error.code == "invalid_grant" &&
         (contains(text, "reasonable timeframe") || contains(text, "short-lived token") || contains(text, "iat and exp") ||
          contains(text, "iat value") || contains(text, "exp value"));
}

std::string login_advice(const rejection_context& context) {
  return context.advice.empty() ? "log in again with 'hondana login'" : context.advice;
}

/// The message for the rejection of a service account.
std::string explain_account_rejection(const service_account& account, const error_response& error,
                                      const rejection_context& context) {
  const auto& text = error.description;
  const auto required = scope_string(context.requested);
  if (error.code == "unauthorized_client" || (error.code == "access_denied" && !context.subject.empty())) {
    if (context.subject.empty())
      return "Google does not let the service account " + account.email + " get tokens for " + required +
             "; check in the Google Cloud console that the account and its key are still enabled";
    return "the service account " + account.email + " may not impersonate " + context.subject +
           "; a super administrator of the domain must allow it under Security, API controls, Domain-wide delegation: client "
           "ID " +
           (account.client_id.empty() ? std::string("of the account") : account.client_id) +
           " with exactly these scopes: " + required;
  }
  if (error.code == "invalid_scope")
    return "Google does not know the scopes " + required + ", or the domain does not allow them for " + account.email +
           "; ask an administrator to allow exactly these";
  if (contains(text, "signature") || contains(text, "invalid key") || error.code == "invalid_client")
    return "the key of the service account " + account.email +
           " is no longer valid; create a new key in the Google Cloud console, replace the file, and delete the old key";
  if (!context.subject.empty() &&
      (contains(text, "not a valid email") || contains(text, "invalid email") || contains(text, "user id")))
    return context.subject + ", whom the service account " + account.email +
           " impersonates, is not an account of the domain; set subject to one";
  if (contains(text, "account not found") || contains(text, "deleted") || contains(text, "disabled"))
    return "the service account " + account.email +
           " has been deleted or disabled; enable it in the Google Cloud console, or create another and share the files with "
           "it";
  if (mentions_clock(error)) return "Google rejects the time of this machine's clock; correct the clock (timedatectl shows it)";
  return "Google issues the service account " + account.email + " no token (" + error.code +
         "); check in the Google Cloud console that the account and its key are enabled";
}

/// The message for the rejection of a user's login.
std::string explain_user_rejection(const error_response& error, const rejection_context& context) {
  const auto& text = error.description;
  if (error.code == "invalid_client" || error.code == "deleted_client" || error.code == "unauthorized_client")
    return "the OAuth client of the login was deleted, or its secret has changed; download the client's file from the Google "
           "Cloud console, and " +
           login_advice(context);
  if (error.code == "invalid_scope")
    return "the login does not cover " + scope_string(context.requested) + "; " + login_advice(context) +
           ", and tick every box on the page";
  if (error.code == "admin_policy_enforced" || error.code == "org_internal" || error.code == "access_denied")
    return "the administrator of the account's domain does not allow this application; ask them to trust it under Security, "
           "API controls, App access control";
  if (contains(error.subtype, "invalid_rapt") || contains(text, "reauth"))
    return "the account's domain requires a new login every few hours; " + login_advice(context) + ", or use a service account";
  if (contains(text, "deleted") || contains(text, "disabled") || contains(text, "not found"))
    return "the account of the login was deleted or disabled; log in with another, or ask its administrator";
  if (error.code == "invalid_grant")
    return "the login was revoked or has expired (after six months without use, a new password, or seven days when the client "
           "is in testing); " +
           login_advice(context);
  return "Google issues no token for the login (" + error.code + "); " + login_advice(context);
}

int parse_number(std::string_view text) noexcept {
  int out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size() ? out : -1;
}

}  // namespace

token_rejection explain_rejection(int status, std::string_view body, const rejection_context& context) {
  const auto error = parse_error(body);
  token_rejection out;
  out.error_code = error.code;
  const auto origin = " (" + context.origin + ')';
  out.reason.private_text = "status " + std::to_string(status) + ", " + oauth::error_text(&error.code, &error.description) +
                            (error.subtype.empty() ? "" : " [" + error.subtype + ']');
  const bool is_busy = status == 429 || error.code == "rate_limit_exceeded" || error.code == "slow_down";
  if (status >= 500 || is_busy || error.code == "internal_failure" || error.code == "temporarily_unavailable" ||
      error.code == "server_error") {
    out.reason.code = errc::source_unavailable;
    out.reason.public_text = is_busy ? "Google issues no token now because of too many requests; try again in a minute"
                                     : "Google's token endpoint is unavailable; try again in a minute";
    out.is_transient = true;
    return out;
  }
  if (error.code.empty()) {
    out.reason.code = errc::protocol_error;
    out.reason.public_text = "the answer is not from Google's token endpoint (status " + std::to_string(status) +
                             "); check for a proxy or a login page of the network";
    return out;
  }
  out.reason.code = errc::unauthorized;
  out.is_clock_error = std::holds_alternative<service_account>(context.identity) && mentions_clock(error);
  out.is_final = !out.is_clock_error;
  const auto* account = std::get_if<service_account>(&context.identity);
  out.reason.public_text =
      (account != nullptr ? explain_account_rejection(*account, error, context) : explain_user_rejection(error, context)) +
      origin;
  return out;
}

std::optional<std::chrono::sys_seconds> parse_http_date(std::string_view field) noexcept {
  // "Sun, 06 Nov 1994 08:49:37 GMT"
  constexpr std::array<std::string_view, 12> months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                    "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  if (field.size() != 29 || field.substr(3, 2) != ", " || field[7] != ' ' || field[11] != ' ' || field[16] != ' ' ||
      field[19] != ':' || field[22] != ':' || field.substr(25) != " GMT")
    return {};
  const auto month = std::find(months.begin(), months.end(), field.substr(8, 3));
  const int day = parse_number(field.substr(5, 2)), year = parse_number(field.substr(12, 4)),
            hour = parse_number(field.substr(17, 2)), minute = parse_number(field.substr(20, 2)),
            second = parse_number(field.substr(23, 2));
  if (month == months.end() || year < 1970 || hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60)
    return {};
  const std::chrono::year_month_day date(std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month - months.begin()) + 1),
                                         std::chrono::day(static_cast<unsigned>(std::max(day, 0))));
  if (!date.ok()) return {};
  return std::chrono::sys_days(date) + std::chrono::hours(hour) + std::chrono::minutes(minute) + std::chrono::seconds(second);
}

namespace {

constexpr std::chrono::seconds assertion_lifetime{3'600};
constexpr std::chrono::seconds default_lifetime{3'600};
constexpr std::size_t max_token_response_bytes = 64u << 10;

oauth::scope_set scope_urls(const scopes& requested) {
  oauth::scope_set out;
  for (const auto drive_scope : requested) out.emplace(url_of(drive_scope));
  return out;
}

result<std::string> make_form(const token_request& request) {
  if (const auto* account = std::get_if<service_account>(&request.identity)) {
    auto assertion = make_assertion(*account, request);
    if (!assertion) return assertion;
    return oauth::encode_form(
        oauth::fields{{"grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"}, {"assertion", std::move(*assertion)}});
  }
  const auto& user = std::get<authorized_user>(request.identity);
  oauth::fields out{{"grant_type", "refresh_token"}, {"client_id", user.client_id}, {"refresh_token", user.refresh_token}};
  if (!user.client_secret.empty()) out.emplace_back("client_secret", user.client_secret);
  // The login may have been made by another program with more scopes. Request only these.
  out.emplace_back("scope", scope_string(request.requested));
  return oauth::encode_form(out);
}

failed_request request_failure(failure error) {
  failed_request out;
  out.rejection.is_transient = error.code == errc::source_unavailable || error.code == errc::timed_out;
  out.rejection.reason = std::move(error);
  out.rejection.reason.public_text = "cannot get a token from Google: " + out.rejection.reason.public_text;
  return out;
}

}  // namespace

result<std::string> make_assertion(const service_account& account, const token_request& request) {
  const auto begin = request.now.time_since_epoch().count();
  value::object claims{{"iss", account.email},
                       {"scope", scope_string(request.requested)},
                       {"aud", account.token_url},
                       {"exp", begin + assertion_lifetime.count()},
                       {"iat", begin}};
  if (!request.subject.empty()) claims.emplace_back("sub", request.subject);
  return account.key.sign(value(std::move(claims)), account.key_id);
}

tl::expected<issued_token, failed_request> request_token(const token_request& request, const endpoint::endpoint& token_endpoint,
                                                         const rejection_context& context,
                                                         std::chrono::steady_clock::time_point deadline,
                                                         const std::stop_token& stop) {
  auto form = make_form(request);
  if (!form) return tl::unexpected(request_failure(std::move(form.error())));
  endpoint::request http_request;
  http_request.headers.emplace_back("Content-Type", "application/x-www-form-urlencoded");
  http_request.headers.emplace_back("Accept", "application/json");
  http_request.body = std::move(*form);
  http_request.max_bytes = max_token_response_bytes;
  http_request.deadline = deadline;
  auto http_response = token_endpoint.send(http_request, stop);
  if (!http_response) return tl::unexpected(request_failure(std::move(http_response.error())));

  const auto date = parse_http_date(http_response->date);
  const oauth::small_response response{.status = http_response->status, .body = std::move(http_response->body)};
  const auto tokens = oauth::read_tokens(response, scope_urls(request.requested), token_endpoint.url(), {});
  if (!tokens) {
    auto rejection = explain_rejection(response.status, response.body, context);
    // Status 200 without a token.
    if (response.status == 200 && rejection.error_code.empty())
      rejection.reason.private_text = tokens.error().reason.public_text;
    rejection.reason.retry_after = http_response->retry_after;
    return tl::unexpected(failed_request{std::move(rejection), date});
  }
  const auto coverage = coverage_of(tokens->scope, request.requested);
  if (!coverage.is_sufficient) {
    failed_request out;
    out.rejection.is_final = true;
    out.rejection.reason.code = errc::unauthorized;
    out.rejection.reason.public_text = "the login covers less than " + scope_string(request.requested) + " (" + context.origin +
                                       "); " + (context.advice.empty() ? "log in again with 'hondana login'" : context.advice) +
                                       ", and tick every box on the page";
    return tl::unexpected(std::move(out));
  }
  // `read_tokens` got the epoch as the current time, so the expiry is the lifetime.
  const auto lifetime = tokens->expires_at ? tokens->expires_at->time_since_epoch() : default_lifetime;
  return issued_token{tokens->access_token, lifetime, coverage.is_excessive};
}

}  // namespace hondana::google
