/// The program under load: started with a folder, watched from outside.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "deadline.hpp"
#include "load/crowd.hpp"
#include "program/folder.hpp"
#include "program/http_client.hpp"
#include "program/messages.hpp"
#include "program/process.hpp"

namespace load_test {

using program_test::patience;
/// Of a normal request while the load lasts. Sanitizers make everything slower.
#ifdef HONDANA_IS_SANITIZED
constexpr double allowed_milliseconds = 200;
#else
constexpr double allowed_milliseconds = 10;
#endif

/// Serves `what`/served over HTTP, configured by `http` (lines below [http]) and `top` (lines above all tables).
class loaded_program {
 public:
  explicit loaded_program(const program_test::folder& what, std::string_view http = {}, std::string_view top = {})
      : config_(write(what, http, top)),
        small(what.uri("served/small.txt")),
        process({"serve", "--config", config_}),
        port(port_in(process.error_line_with("/mcp:", program_test::within(patience)).value_or(process.errors()))) {}

 private:
  static std::string write(const program_test::folder& what, std::string_view http, std::string_view top) {
    what.put("served/small.txt", "a small text\n");
    what.put("h.toml", std::string(top) + "\n[http]\nport = 0\n" + std::string(http) +
                           "\n[[source]]\ntype = \"files\"\npath = \"served\"\n");
    return what.path("h.toml");
  }
  std::string config_;

 public:
  std::string small;  ///< The URI of a file of a few bytes.
  program_test::process process;
  std::uint16_t port;
};

/// A POST to /mcp of the newest revision, as bytes.
inline std::string post(std::string_view message, std::string_view method, std::string_view name = {}) {
  return "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, "
         "text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: " +
         std::string(method) + (name.empty() ? "" : "\r\nMcp-Name: " + std::string(name)) +
         "\r\nContent-Length: " + std::to_string(message.size()) + "\r\n\r\n" + std::string(message);
}

/// The median time of listing the folder or of reading a small file, whichever is longer, in milliseconds.
inline double time_of_a_request(const loaded_program& program) {
  return std::max(
      median_of_requests(program.port, program_test::request(1, "resources/list"), "resources/list", 51),
      median_of_requests(program.port, program_test::read_request(1, program.small), "resources/read", 51, program.small));
}

/// Whether the program answers a new peer; a slow machine may be sent away before it has asked.
inline bool answers(const loaded_program& program) {
  return hondana_test::eventually([&] {
    try {
      program_test::http_client peer(program.port);
      return !peer.post(program_test::request(1, "resources/list"), "resources/list").empty();
    } catch (const std::runtime_error&) {
      return false;
    }
  });
}

/// Waits, asking again and again, until the program has hardly more descriptors open than `before`: kept files and its next
/// peer.
inline bool has_only(loaded_program& program, std::size_t before) {
  constexpr std::size_t kept = 8;
  return hondana_test::eventually([&] { return answers(program) && program.process.descriptors() <= before + kept; });
}

}  // namespace load_test
