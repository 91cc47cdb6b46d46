/// What it means that a call ended without an answer.
#include <memory>
#include <string>
#include <vector>

#include "auth/oauth/challenge.hpp"
#include "client/conversation.hpp"
#include "protocol/model/scope.hpp"
#include "transport/http_client/auth_challenge.hpp"

namespace hondana::outbound {
namespace {

constexpr std::size_t longest_message = 2'000;
constexpr std::size_t longest_scopes = 500;

/// What a token lacks by the challenge of a 403. Null: it is no matter of scopes, or they are not named.
std::shared_ptr<const std::vector<std::string>> scopes_wanted(const channel::ending& how) {
  if (how.http_status != 403 || !transport::http_client::wants_more_scopes(how.challenges)) return nullptr;
  const auto wanted = oauth::bearer_in(how.challenges).scopes;
  if (!wanted || wanted->empty()) return nullptr;
  return std::make_shared<const std::vector<std::string>>(wanted->begin(), wanted->end());
}

}  // namespace

void name_scopes(failure& why) {
  if (!why.scopes) return;
  auto all = model::joined(*why.scopes);
  if (why.public_text.find(all) != std::string::npos) return;
  if (all.size() > longest_scopes) all = all.substr(0, longest_scopes) + "...";
  if (why.public_text.ends_with('.')) why.public_text.pop_back();
  why.public_text += "; it requires the scope" + std::string(why.scopes->size() == 1 ? " " : "s ") + all;
}

failure failure_of(const channel::ending& how, const std::string& method) {
  auto out = how.why;
  if (how.http_status != 0) {
    auto what = std::make_shared<error_answer>();
    what->http_status = how.http_status;
    what->message = how.body.substr(0, longest_message);
    out.answer = std::move(what);
  }
  if (how.http_status == 401 || how.http_status == 403) {
    out.code = errc::unauthorized;
    out.public_text = "the server rejected " + method + " with HTTP " + std::to_string(how.http_status) +
                      (how.http_status == 401 ? ": it requires authentication" : ": the caller is not authorized");
    out.scopes = scopes_wanted(how);
    name_scopes(out);
    return out;
  }
  if (how.http_status >= 400) {
    out.code = how.http_status == 429 ? errc::too_many_requests : how.http_status == 503 ? errc::overloaded : errc::refused;
    if (out.code != errc::refused) out.retry = how.retry_after;
    out.public_text = "the server answered " + (method.empty() ? "a request" : method) + " with HTTP " +
                      std::to_string(how.http_status) + " and no MCP error";
    return out;
  }
  if (out.public_text.empty()) {
    out.code = errc::broken_protocol;
    out.public_text = "the server ended its response to " + (method.empty() ? "a request" : method) + " without an answer";
  }
  return out;
}

}  // namespace hondana::outbound
