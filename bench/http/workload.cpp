/// Making requests, and measuring how they are answered.
#include "workload.hpp"

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <thread>
#include <utility>

#include "generator.hpp"

namespace http_bench {

std::string post(const std::string& path, const std::string& method, const std::string& uri, const std::string& fields) {
  const auto message = R"({"jsonrpc":"2.0","id":)" + std::string(same_width_id) + R"(,"method":")" + method +
                       R"(","params":{)" + (uri.empty() ? "" : R"("uri":")" + uri + "\",") +
                       R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
                       R"("io.modelcontextprotocol/clientCapabilities":{}}}})";
  return "POST " + path +
         " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, "
         "text/event-stream\r\nMCP-Protocol-Version: "
         "2026-07-28\r\nMcp-Method: " +
         method + (uri.empty() ? "" : "\r\nMcp-Name: " + uri) + "\r\n" + fields +
         "Content-Length: " + std::to_string(message.size()) + "\r\n\r\n" + message;
}

std::string legacy_post(const std::string& message, const std::string& session) {
  return "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, "
         "text/event-stream\r\n" +
         (session.empty() ? "" : "MCP-Protocol-Version: 2025-11-25\r\nMcp-Session-Id: " + session + "\r\n") +
         "Content-Length: " + std::to_string(message.size()) + "\r\n\r\n" + message;
}

/// An answer that has not changed for longer than a walk of the folder is trusted: files are described after the first list.
std::string settled(std::uint16_t port, const std::string& request) {
  constexpr std::chrono::seconds long_enough{3};
  const auto give_up = std::chrono::steady_clock::now() + 20 * long_enough;
  auto body = fetch(port, request).body;
  for (auto since = std::chrono::steady_clock::now(); std::chrono::steady_clock::now() - since < long_enough;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    auto now = fetch(port, request).body;
    if (now == body) continue;
    if (std::chrono::steady_clock::now() > give_up) throw std::runtime_error("an answer keeps changing");
    body = std::move(now);
    since = std::chrono::steady_clock::now();
  }
  return body;
}

void measure(const contestant& by, const std::string& request, std::size_t body, int connections,
             std::chrono::milliseconds time, bench::figures& into) {
  (void)generate(by.port(), request, body, connections, time / 10);  // warm
  by.process().forget_peak();
  const auto before = by.process().processor_seconds();
  auto got = generate(by.port(), request, body, connections, time);
  const auto used = by.process().processor_seconds() - before;
  into.add(std::move(got), used, by.process().status_kib("VmHWM"));
}

int run_with(int count, char** arguments, const char* name,
             const std::function<void(const std::string&, std::chrono::milliseconds, int)>& run) {
  if (count < 2) {
    std::fprintf(stderr, "usage: %s PROGRAM [MILLISECONDS [REPETITIONS]]\n", name);
    return 2;
  }
  try {
    const int time = count > 2 ? std::atoi(arguments[2]) : 1000;
    const int repetitions = count > 3 ? std::atoi(arguments[3]) : 5;
    if (time < 10 || repetitions < 1) throw std::runtime_error("give at least 10 milliseconds and 1 repetition");
    run(arguments[1], std::chrono::milliseconds(time), repetitions);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", name, error.what());
    return 1;
  }
  return 0;
}

}  // namespace http_bench
