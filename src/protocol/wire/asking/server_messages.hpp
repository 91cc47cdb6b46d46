/// Reads requests and notifications from servers, and writes the replies to their requests.
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
/// The kind of a request; nullopt if clients do not have the method.
[[nodiscard]] std::optional<server_request_kind> find_request_kind(std::string_view method) noexcept;

/// A reply to a server's request: a result or an error.
struct reply {
  std::string result{};  ///< The result as JSON; empty for an error.
  int code = 0;          ///< The error code; 0: a result.
  std::string text{};    ///< The error message; empty for a result.
};
/// Makes the error -32601: this client does not support the method.
[[nodiscard]] reply method_not_found_reply(std::string text);
/// Makes the error -32603: the handler of the request failed.
[[nodiscard]] reply failure_reply(std::string text);

struct roots_request {};
using server_request = std::variant<form_request, url_request, sampling_request, roots_request>;
/// Parses a request. Errors: the reply to send, with -32601 or -32602.
/// Spec: client/elicitation, client/sampling, client/roots.
[[nodiscard]] tl::expected<server_request, reply> parse_server_request(std::string_view method, const value& params);

// These functions make the reply to a request from the response of its handler. A failure becomes the error -32603.

/// In the response to an accepted form, fields that are missing get their defaults.
[[nodiscard]] reply make_reply(const result<elicitation_response>& response, const form_request& request);
[[nodiscard]] reply make_reply(const result<elicitation_response>& response, const url_request& request);
[[nodiscard]] reply make_reply(const result<sampling_response>& response);
[[nodiscard]] reply make_reply(const result<std::vector<root>>& response);
/// Encodes a reply as a complete message.
[[nodiscard]] std::string encode_reply(const rpc::request_id& id, const reply& reply);

/// An answer with which the server requests input. The client then repeats its request with the responses.
/// Spec: 2026-07-28 basic/patterns/mrtr.
struct input_requirement {
  struct request_entry {
    std::string key;  ///< Identifies the request. The response has the same key.
    std::string method;
    value params = value::object{};
  };
  std::vector<request_entry> requests{};
  std::string state{};  ///< `requestState` as JSON, which the client must send back; empty: none.
};
enum class result_kind : std::uint8_t { complete, input_required, unknown };
/// Reads `resultType`. A result without one, as in older revisions, is `complete`.
[[nodiscard]] result_kind find_result_kind(const json::object& result);
/// Reads a result of the kind `input_required`. Errors: protocol_error, also for more than 64 requests.
[[nodiscard]] result<input_requirement> parse_input_requirement(const json::object& result);
/// The response to `request` as JSON, for `encode_responses`. A form or URL whose handler failed counts as cancelled.
/// Errors, for other error replies: server_error if the handler failed, otherwise protocol_error.
[[nodiscard]] result<std::string> response_to(const input_requirement::request_entry& request, const reply& reply);
/// The parameters to add to the repeated request, as members without braces. `responses`: pairs of key and response.
[[nodiscard]] std::string encode_responses(const input_requirement& requirement,
                                           const std::vector<std::pair<std::string, std::string>>& responses);

/// The server has opened a stream of changes.
struct stream_opened {
  watch_request accepted{};  ///< The changes that it will send.
};
/// The server has ended a stream of changes.
struct stream_closed {};
struct log_message {
  log_level level = log_level::info;
  std::string logger{};
  value data{};
};
struct call_progress {
  std::uint64_t call = 0;  ///< The id of the client's request; 0: unknown.
  progress current{};
};

/// A notification from a server.
struct server_notification {
  std::uint64_t stream = 0;  ///< The id of the request that opened the stream to which it belongs; 0: not stated.
  /// `std::monostate`: the notification is unknown or unreadable.
  std::variant<std::monostate, watch_event, stream_opened, stream_closed, log_message, call_progress> event{};
};

/// Reads a notification. Never fails.
[[nodiscard]] server_notification parse_notification(const rpc::notification& notification);

}  // namespace hondana::wire::asking
