/// Drives the HTTP/1 state machine event by event, without sockets or clocks.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rpc/body.hpp"
#include "transport/http/body_budget.hpp"
#include "transport/http/dialogue.hpp"
#include "transport/http/limits.hpp"

namespace hondana_test {

namespace http = hondana::transport::http;
namespace rpc = hondana::rpc;

/// Records what a dialogue asks for.
class host final : public http::dialogue_host {
 public:
  void receive(std::string_view message, const rpc::http_headers&, ticket of) override {
    messages.emplace_back(message);
    last = of;
  }
  void refuse_oversized(const rpc::http_headers&, ticket of) override {
    ++oversized;
    last = of;
  }
  void forget() override { ++forgotten; }
  hondana::result<void> pull(std::shared_ptr<http::outgoing> what, ticket of) override {
    if (lane_is_full) return hondana::fail(hondana::errc::overloaded, "The source \"memo\" is busy. Ask again later.");
    pulling = std::move(what);
    last = of;
    return {};
  }
  std::string health() override { return R"({"status":"ok"})"; }
  void log(std::string_view line) override { lines.emplace_back(line); }

  std::vector<std::string> messages;
  std::vector<std::string> lines;
  std::shared_ptr<http::outgoing> pulling;
  ticket last = 0;
  int oversized = 0;
  int forgotten = 0;
  bool lane_is_full = false;
};

/// A dialogue whose output is taken by the test.
struct script {
  explicit script(http::limits with = {}) : script(with, std::make_shared<http::body_budget>(with.unfinished_bytes)) {}
  script(http::limits with, std::shared_ptr<http::body_budget> shared) : talk(asked, with, "127.0.0.1", std::move(shared)) {}

  /// Takes all output, again and again until there is none.
  std::string taken() {
    std::string out;
    while (!talk.output().empty()) {
      out += talk.output().head + talk.output().body;
      talk.drained();
    }
    return out;
  }
  void answer(std::string text, int status = 200) { talk.answered(asked.last, {status, rpc::body(std::move(text))}); }

  host asked;
  http::dialogue talk;
};

inline std::string post(std::string_view body, std::string_view more = {}) {
  return "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: " +
         std::to_string(body.size()) + "\r\n" + std::string(more) + "\r\n" + std::string(body);
}

inline constexpr std::string_view chunked_post =
    "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";

/// The status line.
inline std::string first_line(const std::string& answer) { return answer.substr(0, answer.find("\r\n")); }

}  // namespace hondana_test
