/// Requests and notifications from servers, and the replies to their requests.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <hondana/client.hpp>

#include "base/json/reader.hpp"
#include "protocol/rpc/message.hpp"

namespace hondana::wire::asking {

enum class server_request_kind : std::uint8_t { elicitation, sampling, roots };
/// Returns nothing for a method that clients do not have.
[[nodiscard]] std::optional<server_request_kind> find_request_kind(std::string_view method) noexcept;

/// A reply to send: a result as JSON, or an error.
struct reply {
  std::string result{};
  int code = 0;  ///< The error code; 0: a result.
  std::string text{};
};
/// -32601: this client does not support the method.
[[nodiscard]] reply method_not_found_reply(std::string text);
/// -32603: the handler of the request failed.
[[nodiscard]] reply failure_reply(std::string text);

struct roots_request {};
using server_request = std::variant<form_request, url_request, sampling_request, roots_request>;
/// Parses a request. Errors: the reply to send, with -32601 or -32602.
/// Spec: client/elicitation, client/sampling, client/roots.
[[nodiscard]] tl::expected<server_request, reply> parse_server_request(std::string_view method, const value& params);

/// Encode replies. A failure becomes -32603. In an accepted form, missing fields get their defaults.
[[nodiscard]] reply make_reply(const result<elicitation_response>& response, const form_request& request);
[[nodiscard]] reply make_reply(const result<elicitation_response>& response, const url_request& request);
[[nodiscard]] reply make_reply(const result<sampling_response>& response);
[[nodiscard]] reply make_reply(const result<std::vector<root>>& response);
/// The complete message.
[[nodiscard]] std::string encode_reply(const rpc::request_id& id, const reply& reply);

/// An answer with which the server requests input first. Spec: 2026-07-28 basic/patterns/mrtr.
struct input_requirement {
  struct request_entry {
    std::string key;
    std::string method;
    value params = value::object{};
  };
  std::vector<request_entry> requests{};
  std::string state{};  ///< JSON, exactly as received; empty when there is none.
};
enum class result_kind : std::uint8_t { complete, input_required, unknown };
[[nodiscard]] result_kind find_result_kind(const json::object& result);
/// Errors: protocol_error, also for more than 64 requests.
[[nodiscard]] result<input_requirement> parse_input_requirement(const json::object& result);
/// The response to `request`, for the repeated original request. A form or URL that failed counts as cancelled.
/// Errors: server_error, protocol_error.
[[nodiscard]] result<std::string> response_to(const input_requirement::request_entry& request, const reply& reply);
/// The parameters that carry the responses, as members without braces. `responses`: keys with responses.
[[nodiscard]] std::string encode_responses(const input_requirement& requirement,
                                           const std::vector<std::pair<std::string, std::string>>& responses);

/// A stream of changes is open; the server sends these changes.
struct stream_opened {
  watch_request accepted{};
};
/// The server has ended a stream of changes.
struct stream_closed {};
struct log_message {
  log_level level = log_level::info;
  std::string logger{};
  value data{};
};
struct call_progress {
  std::uint64_t call = 0;
  progress current{};
};

/// A notification. `std::monostate`: unknown or unreadable.
struct server_notification {
  std::uint64_t stream = 0;  ///< The request whose stream it belongs to; 0: not stated.
  std::variant<std::monostate, watch_event, stream_opened, stream_closed, log_message, call_progress> event{};
};

[[nodiscard]] server_notification parse_notification(const rpc::notification& notification);

}  // namespace hondana::wire::asking
