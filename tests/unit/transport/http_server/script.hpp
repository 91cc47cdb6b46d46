/// Drives the HTTP/1 state machine event by event, without sockets or clocks.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/rpc/message_body.hpp"
#include "transport/http_server/http1_protocol.hpp"
#include "transport/http_server/limits.hpp"

namespace hondana_test {

namespace http = hondana::transport::http_server;
namespace rpc = hondana::rpc;

/// Records what a dialogue asks for.
class host final : public http::http1_handler {
 public:
  std::optional<auth_outcome> authenticate(const http::request_head&, const http::route&, request_id of) override {
    identifying = of;
    ++asked_who;
    return awaits_identity ? std::nullopt : std::optional(identity);
  }
  void receive(std::string_view message, const rpc::http_headers&, request_id of) override {
    messages.emplace_back(message);
    last = of;
  }
  void reject_oversized(const rpc::http_headers&, request_id of) override {
    ++oversized;
    last = of;
  }
  std::optional<rpc::outgoing_response> open_stream(const rpc::http_headers& headers, request_id of) override {
    opened.push_back(headers);
    last = of;
    return std::exchange(refuses_stream, std::nullopt);
  }
  rpc::outgoing_response end_session(const rpc::http_headers& headers) override {
    left.push_back(headers);
    return {204, std::nullopt};
  }
  std::optional<rpc::outgoing_response> open_sse(request_id of) override {
    last = of;
    return std::nullopt;
  }
  rpc::outgoing_response receive_sse_message(std::string_view message, const rpc::http_headers&) override {
    paired.emplace_back(message);
    return {202, std::nullopt};
  }
  void cancel() override { ++forgotten; }
  hondana::result<void> pull(std::shared_ptr<http::outgoing_body> what, request_id of) override {
    if (lane_is_full) return hondana::fail(hondana::errc::overloaded, "The source \"memo\" is busy. Ask again later.");
    pulling = std::move(what);
    last = of;
    return {};
  }
  http::plain_response report(http::route::kind which) override {
    return {which == http::route::kind::ready ? 503 : 200, "application/json", R"({"status":"ok"})", {}};
  }
  http::plain_response describe_resource(const http::request_head&, std::string_view path) override {
    return {200, "application/json", "{\"about\":\"" + std::string(path) + "\"}", {}, "max-age=300"};
  }
  void on_rejected(int status) override { refusals.push_back(status); }
  void log(std::string_view line) override { lines.emplace_back(line); }

  std::vector<std::string> messages;
  std::vector<std::string> lines;
  std::vector<int> refusals;
  std::shared_ptr<http::outgoing_body> pulling;
  std::vector<rpc::http_headers> opened;
  std::vector<rpc::http_headers> left;
  std::vector<std::string> paired;
  std::optional<rpc::outgoing_response> refuses_stream;
  auth_outcome identity;  // of whoever asks
  bool awaits_identity = false;
  request_id identifying = 0;
  int asked_who = 0;
  request_id last = 0;
  int oversized = 0;
  int forgotten = 0;
  bool lane_is_full = false;
};

/// A dialogue whose output is taken by the test.
struct script {
  explicit script(http::limits with = {}) : script(with, std::make_shared<http::byte_budget>(with.max_unfinished_bytes)) {}
  script(http::limits with, std::shared_ptr<http::byte_budget> shared)
      : talk(asked, std::make_shared<const http::limits>(with), std::make_shared<const http::site>("127.0.0.1"),
             std::move(shared), std::make_shared<http::byte_budget>(with.max_unsent_bytes)) {}

  /// Takes all output, again and again until there is none.
  std::string taken() {
    std::string out;
    while (!talk.output().empty()) {
      for (const auto one : talk.output().parts()) out += one;
      talk.on_drained();
    }
    return out;
  }
  void answer(std::string text, int status = 200) { talk.send_response(asked.last, {status, rpc::body(std::move(text))}); }

  host asked;
  http::http1_protocol talk;
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
