/// JSON-RPC 2.0 envelopes: what one message from a peer is, before anybody looks at its method.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

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

}  // namespace hondana::rpc
