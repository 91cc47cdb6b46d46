/// Hosts and web origins, as header fields and configurations spell them.
#include "base/uri/web_url.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace {

using namespace std::string_view_literals;
using hondana::uri::parse_host_port;
using hondana::uri::parse_origin;

TEST(host_port, is_read_into_one_spelling) {
  for (const auto& [text, host] :
       std::vector<std::pair<std::string, std::string>>{{"mcp.example.com", "mcp.example.com"},
                                                        {"MCP.Example.COM", "mcp.example.com"},
                                                        {"build_7", "build_7"},
                                                        {"192.0.2.1", "192.0.2.1"},
                                                        {"[2001:DB8:0:0::1]", "[2001:db8::1]"},
                                                        {"[::ffff:192.0.2.1]", "[::ffff:192.0.2.1]"},
                                                        {"3com.example", "3com.example"},
                                                        {"xn--wgv71a.example", "xn--wgv71a.example"}}) {
    const auto read = parse_host_port(text);
    ASSERT_TRUE(read) << text;
    EXPECT_EQ(read->host, host);
    EXPECT_FALSE(read->port);
    const auto with_port = parse_host_port(text + ":8443");
    ASSERT_TRUE(with_port) << text;
    EXPECT_EQ(with_port->host, host);
    EXPECT_EQ(with_port->port, 8443);
  }
}

TEST(host_port, that_two_readers_could_take_differently_is_refused) {
  for (const auto text : {"",
                          ":",
                          ":80",
                          ".",
                          "a.",
                          ".a",
                          "a..b",
                          "a b",
                          "a/b",
                          "a@b",
                          "a,b",
                          "a%2eb",
                          "a:",
                          "a:x",
                          "a:-1",
                          "a:65536",
                          "a:000080",
                          "a:80:80",
                          "a:80 ",
                          "*",
                          "*.example.com",
                          "http://a",
                          "[::1",
                          "::1",
                          "[]",
                          "[::1]x",
                          "[::1]:",
                          "[::1%lo]",
                          "[v1.x]",
                          "127.1",
                          "0x7f.0.0.1",
                          "0177.0.0.1",
                          "2130706433",
                          "1.2.3.4.5",
                          "example.1",
                          "example.0x1",
                          "1.2.3.256",
                          "\xe6\x9c\xac.example"}) {
    EXPECT_FALSE(parse_host_port(text)) << text;
  }
  EXPECT_FALSE(parse_host_port("a\0b"sv));
  EXPECT_FALSE(parse_host_port("[::1\0]"sv));
  EXPECT_FALSE(parse_host_port(std::string(254, 'a')));
  EXPECT_TRUE(parse_host_port(std::string(253, 'a')));
}

TEST(origin, has_a_scheme_a_host_and_always_a_port) {
  const auto plain = parse_origin("HTTP://Mcp.Example.com");
  ASSERT_TRUE(plain);
  EXPECT_FALSE(plain->is_secure);
  EXPECT_EQ(plain->authority.host, "mcp.example.com");
  EXPECT_EQ(plain->authority.port, 80);
  EXPECT_EQ(plain, parse_origin("http://mcp.example.com:80"));
  const auto secure = parse_origin("https://mcp.example.com");
  ASSERT_TRUE(secure);
  EXPECT_EQ(secure->authority.port, 443);
  EXPECT_NE(secure, plain);
}

TEST(origin, that_is_no_web_page_is_refused) {
  for (const auto text : {"null", "", "http://", "https:///", "file://a", "ws://a", "a", "//a", "http:/a", "http://a/",
                          "http://a/b", "http://a?b", "http://u@a", "http://a http://b", "https://*", "*"}) {
    EXPECT_FALSE(parse_origin(text)) << text;
  }
}

}  // namespace
