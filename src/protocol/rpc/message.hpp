/// JSON-RPC 2.0 envelopes, and what a transport knows about a message besides its bytes.
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

/// A request's id: a string or an integer of 64 signed bits, never null.
using request_id = std::variant<std::int64_t, std::string>;

/// The id as JSON.
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

/// An answer to something we asked.
struct response {
  std::optional<request_id> id;
  std::optional<json::value> result;  ///< Absent: it is an error.
  std::string error;                  ///< Its message, or what is wrong with it.
};

/// Something that is none of these. Answered with `code`, except where it is a notification with bad parameters.
struct malformed {
  std::optional<request_id> id;  ///< When it could be read.
  int code = 0;                  ///< -32600 or -32602.
  std::string text;              ///< Names the member's path.
  bool is_notification = false;  ///< It may not be answered with a message.
};

using message = std::variant<request, notification, response, malformed>;

/// Reads one message. Views in the result live as long as `value`'s document.
[[nodiscard]] message read_message(json::value value);

/// The header fields of an HTTP request that the protocol mirrors or negotiates by; absent fields are absent.
struct http_headers {
  std::optional<std::string> protocol_version;  ///< MCP-Protocol-Version
  std::optional<std::string> method;            ///< Mcp-Method
  std::optional<std::string> name;              ///< Mcp-Name
  std::optional<std::string> session_id{};      ///< Mcp-Session-Id
  std::optional<std::string> last_event_id{};   ///< Last-Event-ID
  bool accepts_json = true;                     ///< By Accept: an answer as JSON,
  bool accepts_stream = true;                   ///< and one as an event stream.
  /// Mcp-Param-*: what stands behind the prefix, as spelled, with the value. A field that comes twice is here twice.
  std::vector<std::pair<std::string, std::string>> arguments{};
};

struct facts {
  caller who;
  std::optional<http_headers> http;  ///< Set when the message came over HTTP.
};

}  // namespace hondana::rpc
