/// What a transport knows about a message besides its bytes.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <hondana/provider.hpp>

namespace hondana::rpc {

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
