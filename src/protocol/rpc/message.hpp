/// JSON-RPC 2.0 envelopes, and what a transport knows about a message in addition to its bytes.
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
  json::object params;
};

/// An answer to one of our requests.
struct response {
  std::optional<request_id> id;
  std::optional<json::value> result;  ///< Absent: the answer is an error.
  std::string error;                  ///< The error message, or why the answer is invalid.
};

/// An invalid message. It is answered with `code`, unless it is a notification with invalid parameters.
struct malformed {
  std::optional<request_id> id;  ///< If it could be read.
  int code = 0;                  ///< -32600 or -32602.
  std::string text;              ///< Contains the path of the invalid member.
  bool is_notification = false;  ///< It must not be answered with a message.
};

using message = std::variant<request, notification, response, malformed>;

/// Reads one message. Views in the result live as long as `value`'s document.
[[nodiscard]] message read_message(json::value value);

/// The header fields of an HTTP request that repeat or negotiate parts of the protocol.
struct http_headers {
  std::optional<std::string> protocol_version;  ///< MCP-Protocol-Version
  std::optional<std::string> method;            ///< Mcp-Method
  std::optional<std::string> name;              ///< Mcp-Name
  std::optional<std::string> session_id{};      ///< Mcp-Session-Id
  std::optional<std::string> last_event_id{};   ///< Last-Event-ID
  bool accepts_json = true;                     ///< Accept allows an answer as JSON.
  bool accepts_stream = true;                   ///< Accept allows an answer as an event stream.
  /// The `Mcp-Param-*` fields: the name after the prefix, as spelled, with the value. Repeated fields are repeated here.
  std::vector<std::pair<std::string, std::string>> arguments{};
};

/// What a transport knows about a message in addition to its bytes.
struct request_info {
  caller_info caller;
  std::optional<http_headers> http;  ///< Set when the message arrived over HTTP.
};

}  // namespace hondana::rpc
