/// What becomes of a request by its head alone.
#include "transport/http_server/routes.hpp"

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace {

namespace http = hondana::transport::http_server;
using http::route;

const http::site this_host("127.0.0.1");

/// A good POST to /mcp, to be spoiled by the tests.
http::request_head good_post() {
  http::request_head head;
  head.method = "POST";
  head.target = "/mcp";
  head.has_body = true;
  head.fields = {
      {"Host", "127.0.0.1:7325"}, {"Content-Type", "application/json"}, {"Accept", "application/json, text/event-stream"}};
  return head;
}

http::request_head request_for(std::string_view target) {
  http::request_head head;
  head.method = "GET";
  head.target = target;
  head.fields = {{"Host", "localhost:7325"}};
  return head;
}

void replace(http::request_head& head, std::string_view name, std::string_view value) {
  for (auto& one : head.fields) {
    if (one.name == name) one.value = value;
  }
}

void remove(http::request_head& head, std::string_view name) {
  std::erase_if(head.fields, [name](const auto& one) { return one.name == name; });
}

int status_of(const http::request_head& head) {
  const auto what = http::find_route(head, this_host);
  return what.type == route::kind::response ? what.response.status : 200;
}

TEST(routes, a_post_to_mcp_is_a_message) {
  EXPECT_EQ(http::find_route(good_post(), this_host).type, route::kind::message);
  auto with_query = good_post();
  with_query.target = "/mcp?session=1";
  EXPECT_EQ(http::find_route(with_query, this_host).type, route::kind::message);
  auto absolute = good_post();
  absolute.target = "http://localhost:7325/mcp";
  EXPECT_EQ(http::find_route(absolute, this_host).type, route::kind::message);
}

TEST(routes, the_mirrored_headers_are_passed_up) {
  auto head = good_post();
  head.fields.push_back({"mcp-protocol-version", "2026-07-28"});
  head.fields.push_back({"MCP-METHOD", "resources/read"});
  head.fields.push_back({"Mcp-Name", "file:///a"});
  const auto what = http::find_route(head, this_host);
  EXPECT_EQ(what.headers.protocol_version, "2026-07-28");
  EXPECT_EQ(what.headers.method, "resources/read");
  EXPECT_EQ(what.headers.name, "file:///a");
}

TEST(routes, a_mirrored_header_that_is_repeated_is_malformed) {
  for (const auto name : {"MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"}) {
    auto head = good_post();
    head.fields.push_back({name, "x"});
    head.fields.push_back({name, "x"});
    EXPECT_EQ(status_of(head), 400) << name;
  }
}

TEST(routes, a_foreign_host_is_forbidden_on_every_route) {
  for (const auto target : {"/mcp", "/healthz", "/", "/metrics"}) {
    for (const auto host : {"evil.example", "evil.example:7325", ""}) {
      auto post = good_post();
      post.target = target;
      replace(post, "Host", host);
      EXPECT_EQ(status_of(post), 403) << target << ' ' << host;
      auto plain = request_for(target);
      replace(plain, "Host", host);
      EXPECT_EQ(status_of(plain), 403) << target << ' ' << host;
      plain.method = "OPTIONS";
      EXPECT_EQ(status_of(plain), 403) << target << ' ' << host;
    }
  }
}

TEST(routes, the_answer_to_a_foreign_host_names_it_and_the_key_that_allows_it) {
  const auto answer_to = [](std::string_view host) {
    auto head = good_post();
    replace(head, "Host", host);
    return http::find_route(head, this_host).response.content;
  };
  const auto answer = answer_to("docs.lan:7325");
  EXPECT_NE(answer.find(R"(Forbidden: the Host \"docs.lan:7325\" is not a name of this server.)"), std::string::npos) << answer;
  EXPECT_NE(answer.find("add the name to hosts in [http] of the server's configuration"), std::string::npos) << answer;
  EXPECT_NE(answer_to("a\"b\x01").find(R"(the Host \"a?b?\" is)"), std::string::npos) << answer_to("a\"b\x01");
  EXPECT_NE(answer_to(std::string(5000, 'a')).find("\"" + std::string(100, 'a') + "\\\""), std::string::npos);
}

TEST(routes, a_foreign_authority_in_the_target_is_forbidden) {
  auto head = good_post();
  head.target = "http://evil.example/mcp";
  EXPECT_EQ(status_of(head), 403);
  EXPECT_NE(http::find_route(head, this_host).response.content.find(R"(\"evil.example\")"), std::string::npos);
}

TEST(routes, a_foreign_origin_is_forbidden_on_every_route) {
  for (const auto target : {"/mcp", "/healthz", "/", "/metrics"}) {
    for (const auto origin : {"http://evil.example", "null", "", "http://localhost.evil.example"}) {
      auto head = good_post();
      head.target = target;
      head.fields.push_back({"Origin", origin});
      EXPECT_EQ(status_of(head), 403) << target << ' ' << origin;
    }
  }
}

TEST(routes, a_second_origin_is_forbidden) {
  auto head = good_post();
  head.fields.push_back({"Origin", "http://localhost"});
  head.fields.push_back({"Origin", "http://localhost"});
  EXPECT_EQ(status_of(head), 403);
}

TEST(routes, exactly_one_host_is_required) {
  auto none = good_post();
  remove(none, "Host");
  EXPECT_EQ(status_of(none), 400);
  auto two = good_post();
  two.fields.push_back({"host", "127.0.0.1"});
  EXPECT_EQ(status_of(two), 400);
}

TEST(routes, a_local_origin_is_told_that_it_may_read) {
  auto head = good_post();
  head.fields.push_back({"Origin", "http://localhost:6274"});
  EXPECT_EQ(http::find_route(head, this_host).allowed_origin, "http://localhost:6274");
}

TEST(routes, a_preflight_lists_methods_and_headers) {
  auto head = request_for("/mcp");
  head.method = "OPTIONS";
  head.fields.push_back({"Origin", "http://localhost:6274"});
  const auto what = http::find_route(head, this_host);
  EXPECT_EQ(what.response.status, 204);
  EXPECT_NE(what.response.fields.find("Access-Control-Allow-Methods: GET, POST, DELETE, OPTIONS\r\n"), std::string::npos);
  EXPECT_NE(what.response.fields.find("MCP-Protocol-Version"), std::string::npos);
  EXPECT_EQ(what.allowed_origin, "http://localhost:6274");
}

TEST(routes, another_content_type_is_not_supported) {
  for (const auto type : {"text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""}) {
    auto head = good_post();
    replace(head, "Content-Type", type);
    EXPECT_EQ(status_of(head), 415) << type;
  }
  auto none = good_post();
  remove(none, "Content-Type");
  EXPECT_EQ(status_of(none), 415);
  auto two = good_post();
  two.fields.push_back({"Content-Type", "application/json"});
  EXPECT_EQ(status_of(two), 415);
  auto packed = good_post();
  packed.fields.push_back({"Content-Encoding", "gzip"});
  EXPECT_EQ(status_of(packed), 415);
}

TEST(routes, an_accept_that_excludes_json_is_not_acceptable) {
  auto head = good_post();
  replace(head, "Accept", "text/html");
  EXPECT_EQ(status_of(head), 406);
  head.fields.push_back({"Accept", "application/json"});
  EXPECT_EQ(status_of(head), 200);
  remove(head, "Accept");
  EXPECT_EQ(status_of(head), 200);
}

TEST(routes, an_unknown_expectation_fails) {
  auto head = good_post();
  head.fields.push_back({"Expect", "100-continue"});
  EXPECT_EQ(status_of(head), 200);
  replace(head, "Expect", "a miracle");
  EXPECT_EQ(status_of(head), 417);
}

TEST(routes, other_methods_on_mcp_are_told_what_is_allowed) {
  for (const auto method : {"PUT", "HEAD", "PATCH", "CONNECT", "post"}) {
    auto head = request_for("/mcp");
    head.method = method;
    const auto what = http::find_route(head, this_host);
    EXPECT_EQ(what.response.status, 405) << method;
    EXPECT_EQ(what.response.fields, "Allow: GET, POST, DELETE, OPTIONS\r\n") << method;
    EXPECT_EQ(what.response.content_type, "application/json") << method;
    EXPECT_TRUE(what.response.content.starts_with(R"({"jsonrpc":"2.0","error":{"code":-32600,"message":"Method not allowed:)"))
        << method;
    EXPECT_EQ(what.response.content.find("\"id\""), std::string::npos) << method;
  }
}

TEST(routes, health_is_asked_by_get_and_head) {
  EXPECT_EQ(http::find_route(request_for("/healthz"), this_host).type, route::kind::health);
  auto head = request_for("/healthz");
  head.method = "HEAD";
  EXPECT_EQ(http::find_route(head, this_host).type, route::kind::health);
  head.method = "POST";
  EXPECT_EQ(status_of(head), 405);
}

TEST(routes, anything_else_is_not_found_and_names_the_endpoint) {
  for (const auto target : {"/", "/mcp/", "/mcpx", "/MCP", "/%6dcp", "*", "mcp", "/healthz/../mcp", "http://localhost"}) {
    const auto what = http::find_route(request_for(target), this_host);
    EXPECT_EQ(what.response.status, 404) << target;
    EXPECT_NE(what.response.content.find("/mcp"), std::string::npos) << target;
  }
}

// attacks: an Origin that writes a line of the log
TEST(routes, strangers_are_named_in_the_log_without_what_would_pass_for_more_of_it) {
  auto by_origin = good_post();
  by_origin.fields.push_back({"Origin", "https://x\" may ask; refused 10.0.0.1 \\\x80"});
  EXPECT_EQ(http::find_route(by_origin, this_host).rejection_reason,
            "the Origin \"https://x??may?ask;?refused?10.0.0.1???\" is not allowed (--origin)");
  auto by_host = good_post();
  replace(by_host, "Host", "evil.example\tx\"");
  EXPECT_EQ(http::find_route(by_host, this_host).rejection_reason,
            "the Host \"evil.example?x?\" is not a name of this server (--host)");
}

}  // namespace
