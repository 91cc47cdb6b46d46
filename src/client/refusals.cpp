/// What errors of servers mean to a caller.
#include <algorithm>
#include <string>
#include <utility>

#include "client/conversation.hpp"
#include "value/take.hpp"

namespace hondana::outbound {
namespace {

constexpr std::size_t longest_message = 2'000;

errc meaning_of(std::int64_t code, const value& data, const std::string& method, const std::string& target) {
  const bool names_target = [&] {
    const auto* uri = data.find("uri");
    return uri != nullptr && uri->as_string() != nullptr && !target.empty();
  }();
  switch (code) {
    case -32002:
      return errc::resource_not_found;
    case -32601:
      return errc::unsupported;
    case -32602:
      // The revision of 2026 says so of resources; others say it of anything that is wrong with the parameters.
      if (method == "resources/read" || method == "resources/get" || method == "skills/get" || names_target)
        return errc::resource_not_found;
      return errc::invalid_argument;
    case 413:
      return errc::response_too_large;
    case 401:
    case 403:
      return errc::unauthorized;
    default:
      return errc::refused;
  }
}

}  // namespace

std::string one_line(std::string_view text) {
  std::string out(text);
  std::replace_if(out.begin(), out.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
  return out;
}

failure failure_of(const json::object& error, int http_status, const std::string& method, const std::string& target) {
  auto what = std::make_shared<error_answer>();
  what->http_status = http_status;
  bool is_whole = false;
  if (const auto code = error.find("code"); code && *code) {
    if (const auto number = (*code)->as_integer("code")) {
      what->code = *number;
      is_whole = true;
    }
  }
  if (const auto text = error.find_string("message"); text && *text)
    what->message = std::string((*text)->substr(0, longest_message));
  if (const auto data = error.find("data"); data && *data) {
    if (auto taken = take_value(**data)) what->data = std::move(*taken);
  }
  failure out;
  out.code = is_whole ? meaning_of(what->code, what->data, method, target) : errc::broken_protocol;
  out.public_text = "the server answered " + (method.empty() ? "a request" : method) +
                    (target.empty() ? "" : " of " + target.substr(0, 500)) + " with error " + std::to_string(what->code) +
                    ": " + (what->message.empty() ? "without a message" : one_line(what->message));
  out.answer = std::move(what);
  return out;
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
