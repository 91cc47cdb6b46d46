/// What it means that a call ended without an answer.
#include <string>

#include "client/conversation.hpp"

namespace hondana::outbound {
namespace {

constexpr std::size_t longest_message = 2'000;

}  // namespace

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
    out.public_text = "the server refused " + method + " with HTTP " + std::to_string(how.http_status) +
                      (how.http_status == 401 ? ": it wants to know who asks" : ": whoever asks may not");
    return out;
  }
  if (how.http_status >= 400) {
    out.code = how.http_status == 429 || how.http_status == 503 ? errc::overloaded : errc::refused;
    out.public_text = "the server answered " + (method.empty() ? "a request" : method) + " with HTTP " +
                      std::to_string(how.http_status) + " and without an error of the protocol";
    return out;
  }
  if (out.public_text.empty()) {
    out.code = errc::broken_protocol;
    out.public_text = "the server ended its answer to " + (method.empty() ? "a request" : method) + " before there was one";
  }
  return out;
}

}  // namespace hondana::outbound
