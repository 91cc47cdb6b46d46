/// Errors about messages that have no decoded operation.
#include "protocol/wire/codec.hpp"

namespace hondana::wire {
namespace {

constexpr int parse_error_code = -32700;
constexpr int invalid_request_code = -32600;
constexpr int internal_error_code = -32603;
// Codes of hondana, equal to the corresponding HTTP statuses.
constexpr int overloaded_code = 503;
constexpr int too_large_code = 413;

}  // namespace

protocol_error parse_error(std::string_view reason) {
  return {parse_error_code, "Parse error: " + std::string(reason), {}, 400};
}

protocol_error invalid_request(std::string_view reason, int http_status) {
  return {invalid_request_code, "Invalid request: " + std::string(reason), {}, http_status};
}

protocol_error malformed_error(const rpc::malformed& malformed) { return {malformed.code, malformed.text, {}, 400}; }

protocol_error internal_error() { return {internal_error_code, "Internal error", {}, 500}; }

protocol_error too_many_pending(std::size_t limit) {
  return {overloaded_code,
          "Overloaded: " + std::to_string(limit) +
              " requests of this client are in progress already. Wait for answers before sending more.",
          {},
          400};
}

protocol_error batch_too_large(std::size_t limit) {
  return {too_large_code,
          "Too large: the answers of one batch may have " + std::to_string(limit) +
              " bytes together, and those of all clients four times as much. Send this request in a message of its own.",
          {},
          200};
}

protocol_error rejected_by_http(int http_status, std::string_view text) {
  return {http_status < 500 ? invalid_request_code : internal_error_code, std::string(text), {}, http_status};
}

}  // namespace hondana::wire
