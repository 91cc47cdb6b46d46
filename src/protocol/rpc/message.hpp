/// JSON-RPC 2.0 messages without the meaning of their parameters, and what a transport knows about a message.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <hondana/provider.hpp>

#include "base/json/reader.hpp"

namespace hondana::rpc {

/// The id of a request: a string or a 64-bit signed integer, never null.
using request_id = std::variant<std::int64_t, std::string>;

/// Formats the id as JSON.
[[nodiscard]] std::string to_json(const request_id& id);

struct request {
  request_id id;
  std::string method;
  json::object params;  ///< An empty object when absent.
};

struct notification {
  std::string method;
  json::object params;  ///< An empty object when absent.
};

/// An answer to one of our requests. It may be invalid.
struct response {
  std::optional<request_id> id;       ///< nullopt: absent, null or invalid.
  std::optional<json::value> result;  ///< nullopt: the answer is an error, or invalid.
  std::string error;                  ///< The error message, or why the answer is invalid. Empty if there is a result.
};

/// An invalid message that is not an answer. The session answers it with `code` and `text`, unless `is_notification` is set.
struct malformed {
  std::optional<request_id> id;  ///< nullopt: absent or invalid.
  int code = 0;                  ///< -32600 or -32602.
  std::string text;              ///< The error message, with the path of the invalid member.
  bool is_notification = false;  ///< It is a notification with invalid parameters, and must not be answered with a message.
};

using message = std::variant<request, notification, response, malformed>;

/// Reads one message. The `json::` views in the result are valid as long as the document of `value`.
[[nodiscard]] message read_message(json::value value);

/// The header fields of an HTTP request that the protocol defines, and `Accept`. nullopt: the field is absent.
struct http_headers {
  std::optional<std::string> protocol_version;  ///< MCP-Protocol-Version
  std::optional<std::string> method;            ///< Mcp-Method
  std::optional<std::string> name;              ///< Mcp-Name
  std::optional<std::string> session_id{};      ///< Mcp-Session-Id
  std::optional<std::string> last_event_id{};   ///< Last-Event-ID
  bool accepts_json = true;                     ///< Accept allows an answer as JSON.
  bool accepts_stream = true;                   ///< Accept allows an answer as an event stream.
  /// The `Mcp-Param-…` fields, including repeated ones: the name after the prefix, as spelled, and the value.
  std::vector<std::pair<std::string, std::string>> arguments{};
};

/// What a transport knows about a message in addition to its bytes.
struct request_info {
  caller_info caller;
  std::optional<http_headers> http;  ///< nullopt: the message did not arrive over HTTP.
};

}  // namespace hondana::rpc
