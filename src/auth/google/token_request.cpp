/// Writes grants and reads what they give.
#include "auth/google/token_request.hpp"

#include <utility>
#include <variant>

#include <hondana/value.hpp>

#include "auth/oauth/form.hpp"
#include "auth/oauth/scopes.hpp"
#include "auth/oauth/token_answer.hpp"

namespace hondana::google {
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
  // A log-in that another program made may be for more; no more than this is wanted of it.
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
    // A success that holds no token.
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
  // They were read as if given at the beginning of time.
  const auto life = tokens->expires ? tokens->expires->time_since_epoch() : usual_life;
  return granted{tokens->access_token, life, covers.is_more};
}

}  // namespace hondana::google
