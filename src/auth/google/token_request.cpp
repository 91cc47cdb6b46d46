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

constexpr std::size_t longest_refusal = 64u << 10;
constexpr std::size_t most_refusal_members = 500;

struct words {
  std::string error{};
  std::string description{};
  std::string subtype{};
};

std::string text_in(const value& of, std::string_view name) {
  const auto* member = of.find(name);
  return member == nullptr || member->as_string() == nullptr ? std::string() : oauth::cleaned(*member->as_string());
}

words words_in(std::string_view body) {
  const auto said = value::parse(body, {longest_refusal, most_refusal_members});
  if (!said) return {};
  words out{text_in(*said, "error"), text_in(*said, "error_description"), text_in(*said, "error_subtype")};
  // Google's API front end uses its own error format.
  if (const auto* inner = said->find("error"); inner != nullptr && inner->as_object() != nullptr)
    out = {text_in(*inner, "status"), text_in(*inner, "message"), {}};
  return out;
}

bool has(const std::string& text, std::string_view part) { return ascii::in_lower_case(text).find(part) != std::string::npos; }

bool is_about_time(const words& said) {
  const auto& text = said.description;
  return said.error == "invalid_grant" && (has(text, "reasonable timeframe") || has(text, "short-lived token") ||
                                           has(text, "iat and exp") || has(text, "iat value") || has(text, "exp value"));
}

std::string log_in_again(const refusal_circumstances& in) {
  return in.advice.empty() ? "log in again with 'hondana login'" : in.advice;
}

/// The message for the rejection of a service account.
std::string of_account(const service_account& who, const words& said, const refusal_circumstances& in) {
  const auto& text = said.description;
  const auto needed = spelled(in.asked);
  if (said.error == "unauthorized_client" || (said.error == "access_denied" && !in.subject.empty())) {
    if (in.subject.empty())
      return "Google does not let the service account " + who.email + " get tokens for " + needed +
             "; check in the Google Cloud console that the account and its key are still enabled";
    return "the service account " + who.email + " may not impersonate " + in.subject +
           "; a super administrator of the domain must allow it under Security, API controls, Domain-wide delegation: client "
           "ID " +
           (who.client_id.empty() ? std::string("of the account") : who.client_id) + " with exactly these scopes: " + needed;
  }
  if (said.error == "invalid_scope")
    return "Google does not know the scopes " + needed + ", or the domain does not allow them for " + who.email +
           "; ask an administrator to allow exactly these";
  if (has(text, "signature") || has(text, "invalid key") || said.error == "invalid_client")
    return "the key of the service account " + who.email +
           " is no longer valid; create a new key in the Google Cloud console, replace the file, and delete the old key";
  if (!in.subject.empty() && (has(text, "not a valid email") || has(text, "invalid email") || has(text, "user id")))
    return in.subject + ", whom the service account " + who.email +
           " impersonates, is not an account of the domain; set subject to one";
  if (has(text, "account not found") || has(text, "deleted") || has(text, "disabled"))
    return "the service account " + who.email +
           " has been deleted or disabled; enable it in the Google Cloud console, or create another and share the files with "
           "it";
  if (is_about_time(said)) return "Google rejects the time of this machine's clock; correct the clock (timedatectl shows it)";
  return "Google issues the service account " + who.email + " no token (" + said.error +
         "); check in the Google Cloud console that the account and its key are enabled";
}

/// The message for the rejection of a user's login.
std::string of_user(const words& said, const refusal_circumstances& in) {
  const auto& text = said.description;
  if (said.error == "invalid_client" || said.error == "deleted_client" || said.error == "unauthorized_client")
    return "the OAuth client of the login was deleted, or its secret has changed; download the client's file from the Google "
           "Cloud console, and " +
           log_in_again(in);
  if (said.error == "invalid_scope")
    return "the login does not cover " + spelled(in.asked) + "; " + log_in_again(in) + ", and tick every box on the page";
  if (said.error == "admin_policy_enforced" || said.error == "org_internal" || said.error == "access_denied")
    return "the administrator of the account's domain does not allow this application; ask them to trust it under Security, "
           "API controls, App access control";
  if (has(said.subtype, "invalid_rapt") || has(text, "reauth"))
    return "the account's domain requires a new login every few hours; " + log_in_again(in) + ", or use a service account";
  if (has(text, "deleted") || has(text, "disabled") || has(text, "not found"))
    return "the account of the login was deleted or disabled; log in with another, or ask its administrator";
  if (said.error == "invalid_grant")
    return "the login was revoked or has expired (after six months without use, a new password, or seven days when the client "
           "is in testing); " +
           log_in_again(in);
  return "Google issues no token for the login (" + said.error + "); " + log_in_again(in);
}

int number_in(std::string_view text) noexcept {
  int out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size() ? out : -1;
}

}  // namespace

token_refusal token_refusal_of(int status, std::string_view body, const refusal_circumstances& in) {
  const auto said = words_in(body);
  token_refusal out;
  out.error = said.error;
  const auto from = " (" + in.from + ')';
  out.why.private_text = "status " + std::to_string(status) + ", " + oauth::error_text(&said.error, &said.description) +
                         (said.subtype.empty() ? "" : " [" + said.subtype + ']');
  const bool is_busy = status == 429 || said.error == "rate_limit_exceeded" || said.error == "slow_down";
  if (status >= 500 || is_busy || said.error == "internal_failure" || said.error == "temporarily_unavailable" ||
      said.error == "server_error") {
    out.why.code = errc::source_unavailable;
    out.why.public_text = is_busy ? "Google issues no token now because of too many requests; try again in a minute"
                                  : "Google's token endpoint is unavailable; try again in a minute";
    out.may_pass = true;
    return out;
  }
  if (said.error.empty()) {
    out.why.code = errc::broken_protocol;
    out.why.public_text = "the answer is not from Google's token endpoint (status " + std::to_string(status) +
                          "); check for a proxy or a login page of the network";
    return out;
  }
  out.why.code = errc::unauthorized;
  out.is_of_time = std::holds_alternative<service_account>(in.who) && is_about_time(said);
  out.is_final = !out.is_of_time;
  const auto* account = std::get_if<service_account>(&in.who);
  out.why.public_text = (account != nullptr ? of_account(*account, said, in) : of_user(said, in)) + from;
  return out;
}

std::optional<std::chrono::sys_seconds> date_of(std::string_view field) noexcept {
  // "Sun, 06 Nov 1994 08:49:37 GMT"
  constexpr std::array<std::string_view, 12> months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                    "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  if (field.size() != 29 || field.substr(3, 2) != ", " || field[7] != ' ' || field[11] != ' ' || field[16] != ' ' ||
      field[19] != ':' || field[22] != ':' || field.substr(25) != " GMT")
    return {};
  const auto month = std::find(months.begin(), months.end(), field.substr(8, 3));
  const int day = number_in(field.substr(5, 2)), year = number_in(field.substr(12, 4)), hour = number_in(field.substr(17, 2)),
            minute = number_in(field.substr(20, 2)), second = number_in(field.substr(23, 2));
  if (month == months.end() || year < 1970 || hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60)
    return {};
  const std::chrono::year_month_day date(std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month - months.begin()) + 1),
                                         std::chrono::day(static_cast<unsigned>(std::max(day, 0))));
  if (!date.ok()) return {};
  return std::chrono::sys_days(date) + std::chrono::hours(hour) + std::chrono::minutes(minute) + std::chrono::seconds(second);
}

namespace {

constexpr std::chrono::seconds assertion_life{3'600};
constexpr std::chrono::seconds usual_life{3'600};
constexpr std::size_t most_token_answer = 64u << 10;

oauth::scope_set urls_of(const scopes& asked) {
  oauth::scope_set out;
  for (const auto one : asked) out.emplace(url_of(one));
  return out;
}

result<std::string> form_for(const token_request& what) {
  if (const auto* account = std::get_if<service_account>(&what.who)) {
    auto assertion = assertion_of(*account, what);
    if (!assertion) return assertion;
    return oauth::spelled(
        oauth::fields{{"grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"}, {"assertion", std::move(*assertion)}});
  }
  const auto& user = std::get<authorized_user>(what.who);
  oauth::fields out{{"grant_type", "refresh_token"}, {"client_id", user.client_id}, {"refresh_token", user.refresh_token}};
  if (!user.client_secret.empty()) out.emplace_back("client_secret", user.client_secret);
  // The login may have been made by another program with more scopes. Request only these.
  out.emplace_back("scope", spelled(what.asked));
  return oauth::spelled(out);
}

failed_request not_asked(failure why) {
  failed_request out;
  out.refusal.may_pass = why.code == errc::source_unavailable || why.code == errc::timed_out;
  out.refusal.why = std::move(why);
  out.refusal.why.public_text = "cannot get a token from Google: " + out.refusal.why.public_text;
  return out;
}

}  // namespace

result<std::string> assertion_of(const service_account& who, const token_request& what) {
  const auto begin = what.now.time_since_epoch().count();
  value::object claims{{"iss", who.email},
                       {"scope", spelled(what.asked)},
                       {"aud", who.token_url},
                       {"exp", begin + assertion_life.count()},
                       {"iat", begin}};
  if (!what.subject.empty()) claims.emplace_back("sub", what.subject);
  return who.key.sign(value(std::move(claims)), who.key_id);
}

tl::expected<granted, failed_request> ask_for_token(const token_request& what, const endpoint::endpoint& at,
                                                    const refusal_circumstances& in,
                                                    std::chrono::steady_clock::time_point until, const std::stop_token& stop) {
  auto form = form_for(what);
  if (!form) return tl::unexpected(not_asked(std::move(form.error())));
  endpoint::request request;
  request.headers.emplace_back("Content-Type", "application/x-www-form-urlencoded");
  request.headers.emplace_back("Accept", "application/json");
  request.body = std::move(*form);
  request.most_bytes = most_token_answer;
  request.until = until;
  auto got = at.ask(request, stop);
  if (!got) return tl::unexpected(not_asked(std::move(got.error())));

  const auto date = date_of(got->date);
  const oauth::small_answer answer{.status = got->status, .bytes = std::move(got->bytes)};
  const auto tokens = oauth::read_tokens(answer, urls_of(what.asked), at.url(), {});
  if (!tokens) {
    auto refusal = token_refusal_of(answer.status, answer.bytes, in);
    // Status 200 without a token.
    if (answer.status == 200 && refusal.error.empty()) refusal.why.private_text = tokens.error().why.public_text;
    refusal.why.retry = got->retry;
    return tl::unexpected(failed_request{std::move(refusal), date});
  }
  const auto covers = coverage_of(tokens->scope, what.asked);
  if (!covers.is_enough) {
    failed_request out;
    out.refusal.is_final = true;
    out.refusal.why.code = errc::unauthorized;
    out.refusal.why.public_text = "the login covers less than " + spelled(what.asked) + " (" + in.from + "); " +
                                  (in.advice.empty() ? "log in again with 'hondana login'" : in.advice) +
                                  ", and tick every box on the page";
    return tl::unexpected(std::move(out));
  }
  // `read_tokens` got the epoch as the current time, so the expiry is the lifetime.
  const auto life = tokens->expires ? tokens->expires->time_since_epoch() : usual_life;
  return granted{tokens->access_token, life, covers.is_more};
}

}  // namespace hondana::google
