/// Which hosts and origins a listening address lets in.
#include "transport/http_server/routes.hpp"

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace {

namespace http = hondana::transport::http_server;
using http::site;

std::shared_ptr<const site> with(std::vector<std::string> hosts, std::vector<std::string> origins = {}) {
  auto made = site::make("192.0.2.7", site::offer::everything, hosts, origins);
  if (!made) throw std::runtime_error(made.error().public_text);
  return *made;
}

TEST(site, admits_loopback_the_bound_address_and_configured_hosts) {
  const auto here = with({"mcp.example.com", "shelf:8080", "[2001:db8::1]"});
  for (const auto host : {"localhost", "127.0.0.1:7325", "[::1]", "192.0.2.7:80", "mcp.example.com", "MCP.example.com:443",
                          "shelf:8080", "[2001:DB8:0::1]:7325"}) {
    EXPECT_TRUE(here->allows_host(host)) << host;
  }
  for (const auto host : {"evil.example", "shelf", "shelf:80", "x.mcp.example.com", "mcp.example.com.", "192.0.2.8", "0.0.0.0",
                          "mcp.example.com@evil.example", ""}) {
    EXPECT_FALSE(here->allows_host(host)) << host;
  }
}

TEST(site, without_an_address_of_its_own_admits_no_address_of_all) {
  const site everywhere("");
  EXPECT_TRUE(everywhere.allows_host("localhost"));
  for (const auto host : {"0.0.0.0", "0.0.0.0:7325", "[::]", ""}) EXPECT_FALSE(everywhere.allows_host(host)) << host;
}

TEST(site, admits_pages_of_this_machine_of_the_server_itself_and_configured_ones) {
  const auto here = with({"mcp.example.com"}, {"https://app.example", "http://dev.example:5173"});
  const std::string_view host = "mcp.example.com";
  for (const auto origin : {"http://localhost:6274", "https://app.example", "https://APP.example:443",
                            "http://dev.example:5173", "https://mcp.example.com", "http://mcp.example.com"}) {
    EXPECT_TRUE(here->allows_origin(origin, host)) << origin;
  }
  for (const auto origin : {"http://app.example", "https://app.example:444", "https://app.example.evil.example", "null", "",
                            "http://dev.example", "https://mcp.example.com:8443", "https://evil.example"}) {
    EXPECT_FALSE(here->allows_origin(origin, host)) << origin;
  }
  EXPECT_TRUE(here->allows_origin("https://mcp.example.com:8443", "mcp.example.com:8443"));
}

TEST(site, names_a_malformed_host_or_origin) {
  const auto host = site::make("127.0.0.1", site::offer::everything, {"*.example.com"}, {});
  ASSERT_FALSE(host);
  EXPECT_EQ(host.error().code, hondana::errc::invalid_argument);
  EXPECT_NE(host.error().public_text.find("*.example.com"), std::string::npos);
  const auto origin = site::make("127.0.0.1", site::offer::everything, {}, {"https://app.example/"});
  ASSERT_FALSE(origin);
  EXPECT_NE(origin.error().public_text.find("https://app.example/"), std::string::npos);
}

http::request_head head_of(std::string_view method, std::string_view target, std::string_view host, std::string_view origin) {
  http::request_head head;
  head.method = method;
  head.target = target;
  head.fields = {{"Host", host}, {"Content-Type", "application/json"}};
  if (!origin.empty()) head.fields.push_back({"Origin", origin});
  return head;
}

int status_of(const http::request_head& head, const site& at) {
  const auto what = http::find_route(head, at);
  return what.type == http::route::kind::response ? what.response.status : 200;
}

constexpr std::string_view every_route[] = {"/mcp", "/sse", "/message", "/healthz", "/readyz", "/metrics", "/", "/nowhere"};

// requires: */transports.origin_validated */transports.origin_forbidden
TEST(dns_rebinding, a_foreign_host_is_refused_on_every_route_by_every_method_on_every_site) {
  const auto named = with({"mcp.example.com"}, {"https://app.example"});
  const site reports("127.0.0.1", site::offer::reports);
  const site messages("127.0.0.1", site::offer::messages);
  for (const auto* at : {named.get(), &reports, &messages}) {
    for (const auto target : every_route) {
      for (const auto method : {"GET", "POST", "DELETE", "OPTIONS", "HEAD"}) {
        for (const auto host :
             {"evil.example", "evil.example:7325", "localhost.evil.example", "127.0.0.1.nip.example", "0.0.0.0"}) {
          EXPECT_EQ(status_of(head_of(method, target, host, ""), *at), 403) << method << ' ' << target << ' ' << host;
        }
        for (const auto origin :
             {"https://evil.example", "null", "http://localhost.evil.example", "https://app.example.evil.example"}) {
          const auto head = head_of(method, target, "localhost", origin);
          EXPECT_EQ(status_of(head, *at), 403) << method << ' ' << target << ' ' << origin;
          EXPECT_EQ(http::find_route(head, *at).allowed_origin, "") << "told a foreign page that it may read";
        }
      }
    }
  }
}

TEST(cross_site_post, without_json_is_refused_on_every_route_whoever_sends_it) {
  const auto here = with({"mcp.example.com"}, {"https://app.example"});
  for (const auto target : {"/mcp", "/message?sessionId=0123456789abcdef0123456789abcdef"}) {
    for (const auto origin : {"", "https://app.example", "http://localhost:6274"}) {
      for (const auto type : {"text/plain", "text/plain;charset=UTF-8", "application/x-www-form-urlencoded",
                              "multipart/form-data; boundary=b", ""}) {
        auto head = head_of("POST", target, "localhost", origin);
        head.fields[1].value = type;
        EXPECT_EQ(status_of(head, *here), 415) << target << ' ' << origin << ' ' << type;
      }
      auto head = head_of("POST", target, "localhost", origin);
      head.fields.erase(head.fields.begin() + 1);
      EXPECT_EQ(status_of(head, *here), 415) << target << ' ' << origin;
    }
  }
  for (const auto target : {"/sse", "/healthz", "/readyz"}) {
    EXPECT_EQ(status_of(head_of("POST", target, "localhost", ""), *here), 405) << target;
  }
}

TEST(cors, a_configured_page_is_told_what_it_may_send_and_read) {
  const auto here = with({"mcp.example.com"}, {"https://app.example"});
  auto head = head_of("OPTIONS", "/mcp", "mcp.example.com", "https://app.example");
  head.fields.push_back(
      {"Access-Control-Request-Headers", "content-type, mcp-param-city,Mcp-Param-Zip , mcp-param-\x01, x-other"});
  const auto what = http::find_route(head, *here);
  EXPECT_EQ(what.response.status, 204);
  EXPECT_EQ(what.allowed_origin, "https://app.example");
  for (const auto name : {"Authorization", "Last-Event-ID", "Mcp-Session-Id", "MCP-Protocol-Version", "Mcp-Method", "Mcp-Name",
                          ", mcp-param-city", ", Mcp-Param-Zip"}) {
    EXPECT_NE(what.response.fields.find(name), std::string::npos) << name << " in " << what.response.fields;
  }
  EXPECT_EQ(what.response.fields.find('\x01'), std::string::npos);
  EXPECT_EQ(what.response.fields.find("x-other"), std::string::npos);
}

TEST(admin_address, reports_and_does_nothing_else) {
  const site reports("127.0.0.1", site::offer::reports);
  const site messages("127.0.0.1", site::offer::messages);
  EXPECT_EQ(http::find_route(head_of("GET", "/healthz", "localhost", ""), reports).type, http::route::kind::health);
  EXPECT_EQ(http::find_route(head_of("GET", "/readyz", "localhost", ""), reports).type, http::route::kind::ready);
  EXPECT_EQ(status_of(head_of("POST", "/mcp", "localhost", ""), reports), 404);
  EXPECT_EQ(status_of(head_of("GET", "/healthz", "localhost", ""), messages), 404);
  EXPECT_EQ(status_of(head_of("GET", "/readyz", "localhost", ""), messages), 404);
  EXPECT_EQ(http::find_route(head_of("POST", "/mcp", "localhost", ""), messages).type, http::route::kind::message);
}

}  // namespace
