/// What is sent as HTTP and is none, what a browser could be made to send, and connections that only cost, by port and socket.
#include <sys/stat.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "red_team/lines.hpp"

namespace {

using red_team::connection;
using red_team::shelf;
using red_team::target;

constexpr std::string_view list =
    R"({"jsonrpc":"2.0","id":1,"method":"resources/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":)"
    R"("2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}})";

/// A POST with these fields in place of those it would have.
std::string post(std::string_view fields, std::string_view body) {
  return "POST /mcp HTTP/1.1\r\n" + std::string(fields) +
         "Accept: application/json\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: resources/list\r\n\r\n" +
         std::string(body);
}
const std::string length = "Content-Length: " + std::to_string(list.size()) + "\r\n";
const std::string json = "Content-Type: application/json\r\n";
const std::string host = "Host: localhost\r\n";

struct shape {
  std::string_view what;
  std::string bytes;
  std::vector<int> statuses;  ///< 0: the connection ends without an answer.
};

std::vector<shape> malformed() {
  std::string many;
  for (int i = 0; i < 5'000; ++i) many += "X-" + std::to_string(i) + ": y\r\n";
  return {
      {"length and chunks", post(host + json + length + "Transfer-Encoding: chunked\r\n", "0\r\n\r\n"), {400}},
      {"two lengths", post(host + json + length + "Content-Length: 1\r\n", list), {400}},
      {"a negative length", post(host + json + "Content-Length: -1\r\n", ""), {400}},
      {"an endless length", post(host + json + "Content-Length: 99999999999999999999999\r\n", ""), {400, 413}},
      {"a length of 65 MB", post(host + json + "Content-Length: 65000000\r\n", "{"), {413}},
      {"an absurd chunk", post(host + json + "Transfer-Encoding: chunked\r\n", "ffffffffffffffff\r\n"), {400, 413}},
      {"a chunk of 4 GB", post(host + json + "Transfer-Encoding: chunked\r\n", "ffffffff\r\nx"), {400, 413}},
      {"a chunk that is none", post(host + json + "Transfer-Encoding: chunked\r\n", "zz\r\nabcd\r\n0\r\n\r\n"), {400}},
      {"another coding", post(host + json + "Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n"), {400, 501}},
      {"a header bomb of many fields", post(host + json + length + many, list), {400, 431}},
      {"a header bomb of one field", post(host + json + length + "X: " + std::string(1 << 20, 'x') + "\r\n", list), {400, 431}},
      {"a target without end", "GET /" + std::string(1 << 20, 'a') + " HTTP/1.1\r\nHost: localhost\r\n\r\n", {400, 414, 431}},
      {"a folded host", post("Host: localhost\r\n evil.example\r\n" + json + length, list), {400, 403}},
      {"a space before the colon", post(host + json + length + "X : a\r\n", list), {400}},
      {"a line feed alone", "GET /healthz HTTP/1.1\nHost: localhost\n\n", {400}},
      {"NUL in a field", post(host + json + length + std::string("X: a\0b\r\n", 8), list), {400}},
      {"another version", "GET /healthz HTTP/9.9\r\nHost: localhost\r\n\r\n", {400, 505}},
      {"no HTTP at all", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 nonsense\r\n\r\n", {400}},
      {"no host", post(json + length, list), {400}},
      {"two hosts", post(host + host + json + length, list), {400}},
      {"mirrored twice", post(host + json + length + "Mcp-Method: resources/list\r\n", list), {400}},
      {"coded content", post(host + json + length + "Content-Encoding: gzip\r\n", list), {415}},
      {"text/plain", post(host + length + "Content-Type: text/plain\r\n", list), {415}},
      {"text/plain with a charset", post(host + length + "Content-Type: text/plain;charset=UTF-8\r\n", list), {415}},
      {"a form", post(host + length + "Content-Type: application/x-www-form-urlencoded\r\n", list), {415}},
      {"a form in parts", post(host + length + "Content-Type: multipart/form-data; boundary=b\r\n", list), {415}},
      {"no type", post(host + length, list), {415}},
      {"two types", post(host + json + length + "Content-Type: text/plain\r\n", list), {415}},
      {"traversal in the target", "GET /../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n", {404, 400}},
      {"a proxy's request", "GET http://169.254.169.254/latest/ HTTP/1.1\r\nHost: localhost\r\n\r\n", {403}},
      {"CONNECT", "CONNECT 169.254.169.254:80 HTTP/1.1\r\nHost: localhost\r\n\r\n", {400, 403, 404, 405}},
      {"TRACE", "TRACE /mcp HTTP/1.1\r\nHost: localhost\r\nCookie: a=b\r\n\r\n", {405}},
  };
}

class red_team_http : public testing::TestWithParam<std::string_view> {};
INSTANTIATE_TEST_SUITE_P(over, red_team_http, testing::Values("http", "unix"),
                         [](const auto& one) { return std::string(one.param); });

TEST_P(red_team_http, that_is_malformed_or_that_a_page_could_send_is_refused) {
  const shelf what;
  target under(what, GetParam(), true);
  for (const auto& one : malformed()) {
    connection by(under.where());
    // What is refused by its head may close before all of it was taken.
    static_cast<void>(by.send(one.bytes));
    const auto answer = by.receive();
    EXPECT_NE(std::find(one.statuses.begin(), one.statuses.end(), answer.status), one.statuses.end())
        << one.what << ": " << answer.head << answer.body.substr(0, 300);
    EXPECT_FALSE(answer.body.empty()) << one.what << " is refused without a word";
    EXPECT_EQ(answer.body.find("\"result\":"), std::string::npos) << one.what << ": " << answer.body.substr(0, 300);
    EXPECT_NE(answer.head.find("\r\nX-Content-Type-Options: nosniff\r\n"), std::string::npos) << one.what << answer.head;
  }
  EXPECT_TRUE(under.serves(what));
}

/// Every route there is or might be.
constexpr std::string_view routes[] = {"/mcp",
                                       "/sse",
                                       "/message?sessionId=0123456789abcdef0123456789abcdef",
                                       "/healthz",
                                       "/readyz",
                                       "/metrics",
                                       "/",
                                       "/nowhere",
                                       "/.well-known/oauth-protected-resource",
                                       "/.well-known/oauth-protected-resource/mcp",
                                       "/.well-known/oauth-authorization-server",
                                       "*"};
constexpr std::string_view methods[] = {"GET", "HEAD", "POST", "DELETE", "OPTIONS", "PUT", "PATCH"};

void expect_forbidden(const std::string& where, std::string_view method, std::string_view target, std::string_view fields) {
  connection by(where);
  const bool has_body = method == "POST" || method == "PUT" || method == "PATCH";
  ASSERT_TRUE(by.send(std::string(method) + " " + std::string(target) + " HTTP/1.1\r\n" + std::string(fields) + json +
                      "Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: "
                      "resources/list\r\n" +
                      (has_body ? length + "\r\n" + std::string(list) : "\r\n")));
  const auto answer = by.receive(method != "HEAD");
  EXPECT_EQ(answer.status, 403) << method << ' ' << target << ' ' << fields << ": " << answer.head;
  EXPECT_EQ(answer.head.find("Access-Control-Allow-Origin"), std::string::npos) << "tells a foreign page that it may read";
  EXPECT_EQ(answer.body.find("\"result\":"), std::string::npos) << method << ' ' << target << ' ' << fields;
}

void expect_no_rebinding(const std::string& where) {
  for (const auto target : routes) {
    for (const auto method : methods) {
      for (const std::string fields :
           {"Host: evil.example\r\n", "Host: evil.example:80\r\n", "Host: localhost.evil.example\r\n", "Host: 0.0.0.0\r\n",
            "Host: 127.0.0.1.nip.example\r\n", "Host: [::ffff:127.0.0.1].evil.example\r\n",
            "Host: localhost\r\nOrigin: https://evil.example\r\n", "Host: localhost\r\nOrigin: null\r\n",
            "Host: localhost\r\nOrigin: http://localhost.evil.example\r\n", "Host: localhost\r\nOrigin: file://\r\n"}) {
        expect_forbidden(where, method, target, fields);
      }
    }
  }
}

TEST_P(red_team_http, of_a_foreign_host_or_page_is_refused_on_every_route) {
  const shelf what;
  target under(what, GetParam(), true);
  expect_no_rebinding(under.where());
  EXPECT_TRUE(under.serves(what));
}

TEST(red_team_rebinding, is_refused_at_the_address_for_reports_and_beside_it) {
  const shelf what;
  target under(what, "http", true, "[http]\nadmin = \"" + what.path("admin") + "\"\n");
  expect_no_rebinding(what.path("admin"));
  expect_no_rebinding(under.where());
  EXPECT_TRUE(under.serves(what));
}

TEST(red_team_rebinding, is_refused_before_a_caller_is_asked_who_it_is) {
  const shelf what;
  what.put("tokens", "");
  ASSERT_EQ(::chmod(what.path("tokens").c_str(), 0600), 0);
  program_test::process program({"serve", "--port", "0", "--config", what.configuration("[auth]\ntokens = \"tokens\"\n")});
  ASSERT_TRUE(program.error_line_with("Stop with Ctrl-C", program_test::within(program_test::patience))) << program.errors();
  const auto at = program.errors().find("http://127.0.0.1:") + 17;
  const auto port = program.errors().substr(at, program.errors().find('/', at) - at);
  expect_no_rebinding(port);
  connection by(port);
  ASSERT_TRUE(by.send(post(host + json + length, list)));
  EXPECT_EQ(by.receive().status, 401);
}

TEST_P(red_team_http, connections_that_never_finish_leave_others_served) {
  const shelf what;
  target under(what, GetParam(), true);
  std::vector<std::unique_ptr<connection>> held;
  for (int i = 0; i < 64; ++i) {
    held.push_back(std::make_unique<connection>(under.where()));
    ASSERT_TRUE(held.back()->send(i % 2 == 0 ? "POST /mcp HTTP/1.1\r\nHost: loc" : "G"));
  }
  for (int i = 0; i < 64; ++i) {
    held.push_back(std::make_unique<connection>(under.where()));
    ASSERT_TRUE(held.back()->send(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 16000000\r\n\r\n{"));
  }
  EXPECT_TRUE(under.serves(what));
}

TEST_P(red_team_http, streams_that_stay_open_leave_others_served) {
  const shelf what;
  target under(what, GetParam(), true);
  std::vector<std::unique_ptr<connection>> held;
  constexpr std::string_view listen =
      R"({"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"resourcesListChanged":true},"_meta":)"
      R"({"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}})";
  for (std::size_t i = 0; i < red_team::scaled(1'000) + 50; ++i) {
    held.push_back(std::make_unique<connection>(under.where()));
    ASSERT_TRUE(held.back()->send(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, "
        "text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: subscriptions/listen\r\n"
        "Content-Length: " +
        std::to_string(listen.size()) + "\r\n\r\n" + std::string(listen)));
  }
  EXPECT_TRUE(under.serves(what));
}

}  // namespace
