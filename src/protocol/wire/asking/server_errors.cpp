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

constexpr std::size_t max_message_bytes = 2'000;
constexpr std::chrono::milliseconds max_retry_delay = std::chrono::hours(24);

// Not defined by the protocol: used by hondana and other servers that use HTTP statuses as codes.
constexpr int too_many_requests = 429;
constexpr int overloaded = 503;

/// The retry delay of a server that is temporarily overloaded.
std::optional<std::chrono::milliseconds> parse_retry_delay(const failure& error, const value& data) {
  if (error.code != errc::too_many_requests && error.code != errc::overloaded) return {};
  const auto delay_ms = data.integer_at("retryAfterMs");
  if (!delay_ms) return {};
  return std::clamp(std::chrono::milliseconds(*delay_ms), std::chrono::milliseconds(0), max_retry_delay);
}

errc to_errc(std::int64_t code, const value& data, const std::string& method, const std::string& target) {
  const bool names_target = data.string_at("uri") && !target.empty();
  switch (code) {
    case codes::resource_not_found:
      return errc::resource_not_found;
    case -32601:
      return errc::unsupported;
    case -32602:
      if (const auto reason = data.string_at("reason")) {
        for (const auto candidate : {errc::part_not_found, errc::unreadable, errc::unsupported})
          if (*reason == name_of(candidate)) return candidate;
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
      return errc::server_error;
  }
}

bool has_code(const failure& error, std::int64_t code) noexcept {
  return error.server_error && error.server_error->code == code;
}

}  // namespace

std::string to_single_line(std::string_view text) {
  std::string out(text);
  std::replace_if(out.begin(), out.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
  return out;
}

failure make_failure(const json::object& error, int http_status, const std::string& method, const std::string& target) {
  auto answer = std::make_shared<rpc_error>();
  if (http_status != 0) answer->http_status = http_status;
  bool is_complete = false;
  if (const auto code = error.find("code"); code && *code) {
    if (const auto number = (*code)->as_integer("code")) {
      answer->code = *number;
      is_complete = true;
    }
  }
  if (const auto text = error.find_string("message"); text && *text)
    answer->message = std::string((*text)->substr(0, max_message_bytes));
  if (const auto data = error.find("data"); data && *data) {
    if (auto parsed = copy_value(**data)) answer->data = std::move(*parsed);
  }
  failure out;
  out.code = is_complete ? to_errc(*answer->code, answer->data.value_or(value()), method, target) : errc::protocol_error;
  out.public_text = "the server answered " + (method.empty() ? "a request" : method) +
                    (target.empty() ? "" : " of " + target.substr(0, 500)) + " with error " +
                    std::to_string(answer->code.value_or(0)) + ": " +
                    (answer->message.empty() ? "without a message" : to_single_line(answer->message));
  out.retry_after = parse_retry_delay(out, answer->data.value_or(value()));
  out.server_error = std::move(answer);
  return out;
}

bool is_modern_error(const failure& error) noexcept {
  return has_code(error, codes::header_mismatch) || has_code(error, codes::missing_capability) ||
         is_unsupported_revision(error);
}

bool is_unsupported_revision(const failure& error) noexcept { return has_code(error, codes::unsupported_revision); }

std::vector<std::string> supported_revisions(const failure& error) {
  std::vector<std::string> out;
  if (!error.server_error || !error.server_error->data) return out;
  const auto* list = error.server_error->data->find("supported");
  const auto* elements = list == nullptr ? nullptr : list->as_array();
  if (elements == nullptr) return out;
  for (const auto& element : *elements) {
    if (const auto* text = element.as_string()) out.push_back(*text);
  }
  return out;
}

bool is_header_mismatch(const failure& error) noexcept { return has_code(error, codes::header_mismatch); }

bool is_not_modified(const failure& error) noexcept { return has_code(error, codes::not_modified); }

}  // namespace hondana::wire::asking
