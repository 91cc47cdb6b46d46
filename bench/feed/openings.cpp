/// Requests as bytes.
#include "openings.hpp"

namespace feed_bench {
namespace {

std::string post(std::string_view message, std::string_view fields) {
  return "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, "
         "text/event-stream\r\nContent-Length: " +
         std::to_string(message.size()) + "\r\n" + std::string(fields) + "\r\n" + std::string(message);
}

}  // namespace

std::string listen_message(const std::string& uri) {
  return R"({"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"resourceSubscriptions":[")" +
         uri +
         R"("]},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":)"
         R"({"name":"bench","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}})";
}

opening modern_stream(const std::string& uri) {
  return {{{post(listen_message(uri), "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: subscriptions/listen\r\n"),
            "notifications/subscriptions/acknowledged"}}};
}

opening legacy_stream(const std::string& uri) {
  const std::string in_session = "MCP-Protocol-Version: 2025-11-25\r\nMcp-Session-Id: {session}\r\n";
  return {{
      {post(R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},)"
            R"("clientInfo":{"name":"bench","version":"1"}}})",
            ""),
       "}}}"},
      {post(R"({"jsonrpc":"2.0","method":"notifications/initialized"})", in_session), "\r\n\r\n"},
      {post(R"({"jsonrpc":"2.0","id":2,"method":"resources/subscribe","params":{"uri":")" + uri + R"("}})", in_session),
       R"("id":2)"},
      {"GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n" + in_session + "\r\n", "\r\n\r\n"},
  }};
}

}  // namespace feed_bench
