/// Requests to a server that asks who everybody is, and what it says to those it refuses.
#pragma once

#include <string>
#include <string_view>

#include "unit/transport/http_server/client.hpp"
#include "unit/transport/http_server/guarded.hpp"
#include "unit/transport/http_server/shelf.hpp"

namespace hondana_test {

inline const std::string ping = modern("server/discover");
inline const std::string who = library::read("memo:///who", "1");

inline std::string protected_post(std::string_view token, const std::string& message = who) {
  return post(message, bearer(token));
}

inline answer ask(const guarded& with, const std::string& request, bool has_body = true) {
  auto peer = with.peer();
  peer.send(request);
  return peer.receive(has_body);
}

/// The challenge of an answer; empty when there is none.
inline std::string challenge_of(const answer& got) {
  const auto found = got.fields.find("www-authenticate");
  return found == got.fields.end() ? std::string() : found->second;
}

inline std::string initialize() {
  return R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},)"
         R"("clientInfo":{"name":"t","version":"1"}}})";
}

inline std::string session_get(const std::string& id, std::string_view token) {
  return "GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\nMcp-Session-Id: " + id + "\r\n" + bearer(token) +
         "\r\n";
}

inline const std::string legacy_read = R"({"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"memo:///who"}})";

}  // namespace hondana_test
