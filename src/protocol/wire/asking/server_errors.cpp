/// Converts the errors of servers to failures.
#include "protocol/wire/asking/server_errors.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "base/value/value.hpp"
#include "protocol/wire/wire_constants.hpp"

namespace hondana::wire::asking {
namespace {

constexpr std::size_t longest_message = 2'000;
constexpr std::chrono::milliseconds longest_wait = std::chrono::hours(24);

// Not defined by the protocol: used by hondana and other servers that use HTTP statuses as codes.
constexpr int too_many_requests = 429;
constexpr int overloaded = 503;

/// The retry delay of a server that is temporarily overloaded.
std::optional<std::chrono::milliseconds> retry_in(const failure& why, const value& data) {
  if (why.code != errc::too_many_requests && why.code != errc::overloaded) return {};
  const auto wait = data.integer_at("retryAfterMs");
  if (!wait) return {};
  return std::clamp(std::chrono::milliseconds(*wait), std::chrono::milliseconds(0), longest_wait);
}

errc meaning_of(std::int64_t code, const value& data, const std::string& method, const std::string& target) {
  const bool names_target = data.string_at("uri") && !target.empty();
  switch (code) {
    case codes::resource_not_found:
      return errc::resource_not_found;
    case -32601:
      return errc::unsupported;
    case -32602:
      if (const auto reason = data.string_at("reason")) {
        for (const auto known : {errc::part_not_found, errc::unreadable, errc::unsupported})
          if (*reason == name_of(known)) return known;
      }
      // Revision 2026-07-28 uses this code for missing resources. Otherwise it means any invalid parameter.
      if (method == "resources/read" || method == "resources/get" || method == "skills/get" || names_target)
        return errc::resource_not_found;
      return errc::invalid_argument;
    case 413:
      return errc::response_too_large;
    case 401:
    case 403:
      return errc::unauthorized;
    case too_many_requests:
      return errc::too_many_requests;
    case overloaded:
      return errc::overloaded;
    default:
      return errc::refused;
  }
}

bool has_code(const failure& why, std::int64_t code) noexcept { return why.answer && why.answer->code == code; }

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
  out.retry = retry_in(out, what->data);
  out.answer = std::move(what);
  return out;
}

bool is_modern_error(const failure& why) noexcept {
  return has_code(why, codes::header_mismatch) || has_code(why, codes::missing_capability) || wants_other_revision(why);
}

bool wants_other_revision(const failure& why) noexcept { return has_code(why, codes::unsupported_revision); }

std::vector<std::string> supported_by(const failure& why) {
  std::vector<std::string> out;
  if (!why.answer) return out;
  const auto* list = why.answer->data.find("supported");
  const auto* all = list == nullptr ? nullptr : list->as_array();
  if (all == nullptr) return out;
  for (const auto& one : *all) {
    if (const auto* text = one.as_string()) out.push_back(*text);
  }
  return out;
}

bool wants_other_headers(const failure& why) noexcept { return has_code(why, codes::header_mismatch); }

bool is_not_modified(const failure& why) noexcept { return has_code(why, codes::not_modified); }

}  // namespace hondana::wire::asking
