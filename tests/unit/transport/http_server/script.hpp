/// Drives the HTTP/1 state machine event by event, without sockets or clocks.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/rpc/message_body.hpp"
#include "transport/http_server/http1_dialogue.hpp"
#include "transport/http_server/limits.hpp"

namespace hondana_test {

namespace http = hondana::transport::http_server;
namespace rpc = hondana::rpc;

/// Records what a dialogue asks for.
class host final : public http::dialogue_host {
 public:
  std::optional<identified> identify(const http::request_head&, const http::verdict&, ticket of) override {
    identifying = of;
    ++asked_who;
    return awaits_identity ? std::nullopt : std::optional(identity);
  }
  void receive(std::string_view message, const rpc::http_headers&, ticket of) override {
    messages.emplace_back(message);
    last = of;
  }
  void refuse_oversized(const rpc::http_headers&, ticket of) override {
    ++oversized;
    last = of;
  }
  std::optional<rpc::delivery> open_stream(const rpc::http_headers& headers, ticket of) override {
    opened.push_back(headers);
    last = of;
    return std::exchange(refuses_stream, std::nullopt);
  }
  rpc::delivery leave(const rpc::http_headers& headers) override {
    left.push_back(headers);
    return {204, std::nullopt};
  }
  std::optional<rpc::delivery> open_pair(ticket of) override {
    last = of;
    return std::nullopt;
  }
  rpc::delivery receive_paired(std::string_view message, const rpc::http_headers&) override {
    paired.emplace_back(message);
    return {202, std::nullopt};
  }
  void forget() override { ++forgotten; }
  hondana::result<void> pull(std::shared_ptr<http::outgoing> what, ticket of) override {
    if (lane_is_full) return hondana::fail(hondana::errc::overloaded, "The source \"memo\" is busy. Ask again later.");
    pulling = std::move(what);
    last = of;
    return {};
  }
  http::plain_answer report(http::verdict::kind which) override {
    return {which == http::verdict::kind::ready ? 503 : 200, "application/json", R"({"status":"ok"})", {}};
  }
  http::plain_answer describe(const http::request_head&, std::string_view path) override {
    return {200, "application/json", "{\"about\":\"" + std::string(path) + "\"}", {}, "max-age=300"};
  }
  void refused(int status) override { refusals.push_back(status); }
  void log(std::string_view line) override { lines.emplace_back(line); }

  std::vector<std::string> messages;
  std::vector<std::string> lines;
  std::vector<int> refusals;
  std::shared_ptr<http::outgoing> pulling;
  std::vector<rpc::http_headers> opened;
  std::vector<rpc::http_headers> left;
  std::vector<std::string> paired;
  std::optional<rpc::delivery> refuses_stream;
  identified identity;  // of whoever asks
  bool awaits_identity = false;
  ticket identifying = 0;
  int asked_who = 0;
  ticket last = 0;
  int oversized = 0;
  int forgotten = 0;
  bool lane_is_full = false;
};

/// A dialogue whose output is taken by the test.
struct script {
  explicit script(http::limits with = {}) : script(with, std::make_shared<http::byte_budget>(with.unfinished_bytes)) {}
  script(http::limits with, std::shared_ptr<http::byte_budget> shared)
      : talk(asked, std::make_shared<const http::limits>(with), std::make_shared<const http::site>("127.0.0.1"),
             std::move(shared), std::make_shared<http::byte_budget>(with.unsent_bytes)) {}

  /// Takes all output, again and again until there is none.
  std::string taken() {
    std::string out;
    while (!talk.output().empty()) {
      for (const auto one : talk.output().parts()) out += one;
      talk.drained();
    }
    return out;
  }
  void answer(std::string text, int status = 200) { talk.answered(asked.last, {status, rpc::body(std::move(text))}); }

  host asked;
  http::dialogue talk;
};

inline std::string bare_post(std::string_view body, std::string_view more = {}) {
  return "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: " +
         std::to_string(body.size()) + "\r\n" + std::string(more) + "\r\n" + std::string(body);
}

inline constexpr std::string_view chunked_post =
    "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";

/// The status line.
inline std::string first_line(const std::string& answer) { return answer.substr(0, answer.find("\r\n")); }

}  // namespace hondana_test
