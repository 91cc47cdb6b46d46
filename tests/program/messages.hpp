/// Requests of the newest revision, and what answers say.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <stdexcept>
#include <string>
#include <string_view>

namespace program_test {

/// A request as one JSON text; `params` are members, each with a comma behind it.
inline std::string request(int id, std::string_view method, std::string_view params = {}) {
  return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":")" + std::string(method) + R"(","params":{)" +
         std::string(params) +
         R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}})";
}
inline std::string read_request(int id, std::string_view uri) {
  return request(id, "resources/read", R"("uri":")" + std::string(uri) + "\",");
}

/// Throws unless `line` is one message of JSON-RPC 2.0.
inline boost::json::object message(std::string_view line) {
  auto object = boost::json::parse({line.data(), line.size()}).as_object();
  if (object.at("jsonrpc") != "2.0") throw std::runtime_error("no JSON-RPC 2.0: " + std::string(line.substr(0, 200)));
  return object;
}

}  // namespace program_test
