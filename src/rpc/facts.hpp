/// What a transport knows about a message besides its bytes.
#pragma once

#include <optional>
#include <string>

#include <hondana/provider.hpp>

namespace hondana::rpc {

/// The header fields of an HTTP request that the protocol mirrors or negotiates by; absent fields are absent.
struct http_headers {
  std::optional<std::string> protocol_version;  ///< MCP-Protocol-Version
  std::optional<std::string> method;            ///< Mcp-Method
  std::optional<std::string> name;              ///< Mcp-Name
};

struct facts {
  caller who;
  std::optional<http_headers> http;  ///< Set when the message came over HTTP.
};

}  // namespace hondana::rpc
