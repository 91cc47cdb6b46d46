/// Which hosts, origins and media types are let in.
#include "transport/http_server/request_head.hpp"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace {

using namespace std::string_view_literals;
using hondana::transport::http_server::accepts_json;
using hondana::transport::http_server::is_json_content;
using hondana::transport::http_server::is_local_authority;
using hondana::transport::http_server::is_local_origin;

TEST(host, names_this_machine_by_loopback_name_and_literal_at_any_port) {
  for (const auto host : {"localhost", "LocalHost:7325", "localhost:0", "127.0.0.1", "127.0.0.1:65535", "[::1]", "[::1]:80",
                          "[0:0:0:0:0:0:0:1]:80"}) {
    EXPECT_TRUE(is_local_authority(host, "127.0.0.1")) << host;
  }
}

TEST(host, names_this_machine_by_the_bound_address) {
  EXPECT_TRUE(is_local_authority("127.9.8.7:1234", "127.9.8.7"));
  EXPECT_FALSE(is_local_authority("127.9.8.7:1234", "127.0.0.1"));
  EXPECT_FALSE(is_local_authority("127.9.8.7:1234", "::1"));
}

TEST(host, of_another_machine_is_refused) {
  for (const auto host : {"evil.example",
                          "evil.example:7325",
                          "localhost.evil.example",
                          "127.0.0.1.evil.example",
                          "localhost.",
                          "",
                          ":80",
                          "[::1",
                          "[::2]",
                          "[]",
                          "::1",
                          "localhost:",
                          "localhost:x",
                          "localhost:65536",
                          "localhost:123456",
                          "127.0.0.1:80:80",
                          "127.1",
                          "0x7f.0.0.1",
                          "0177.0.0.1",
                          "2130706433",
                          "[::ffff:127.0.0.1]",
                          "user@localhost",
                          "localhost evil",
                          "localhost,evil",
                          "0.0.0.0",
                          "[::]",
                          "[::1]x",
                          "[::1%lo]"}) {
    EXPECT_FALSE(is_local_authority(host, "127.0.0.1")) << host;
  }
  EXPECT_FALSE(is_local_authority("127.0.0.1\0.evil"sv, "127.0.0.1"));
  EXPECT_FALSE(is_local_authority(std::string(5000, '1'), "127.0.0.1"));
}

TEST(origin, is_local_for_pages_of_this_machine) {
  for (const auto origin : {"http://localhost", "http://localhost:5173", "https://127.0.0.1:8443", "HTTP://[::1]:6274"}) {
    EXPECT_TRUE(is_local_origin(origin, "127.0.0.1")) << origin;
  }
}

TEST(origin, of_other_pages_is_refused) {
  for (const auto origin :
       {"null", "", "http://", "http://evil.example", "http://localhost.evil.example", "http://evil.example:7325", "file://",
        "file://localhost", "chrome-extension://localhost", "http://localhost/path", "http://localhost http://evil.example",
        "http://localhost@evil.example", "localhost", "//localhost", "http:/localhost"}) {
    EXPECT_FALSE(is_local_origin(origin, "127.0.0.1")) << origin;
  }
}

TEST(content_type, is_json_with_or_without_parameters) {
  for (const auto type :
       {"application/json", "Application/JSON", "application/json; charset=utf-8", "application/json;charset=\"UTF-8\"",
        "application/json ; profile=\"a;b\" ; charset=utf-8", "application/json;", "application/json; x"}) {
    EXPECT_TRUE(is_json_content(type)) << type;
  }
}

TEST(content_type, of_anything_else_is_refused) {
  for (const auto type :
       {"", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "json", "application/",
        "/json", "application/jsonx", "application/json-rpc", "application/json, text/plain", "text/plain; application/json",
        "application/json; charset=shift_jis", "application /json", "application/json; charset=\"utf-16\""}) {
    EXPECT_FALSE(is_json_content(type)) << type;
  }
}

TEST(accept, admits_json_by_name_by_range_and_by_saying_nothing) {
  for (const auto accept : {"", " ", "*/*", "application/*", "application/json", "application/json, text/event-stream",
                            "text/event-stream, application/json", "text/html, */*;q=0.1", "APPLICATION/JSON;q=0.001",
                            "application/*;q=0, application/json", "text/plain;x=\"a,b\", application/json",
                            ",, application/json ,", "garbage, */*"}) {
    EXPECT_TRUE(accepts_json(accept)) << accept;
  }
}

TEST(accept, without_json_is_not_enough) {
  for (const auto accept :
       {"text/event-stream", "text/html", "application/xml", "application/json;q=0", "application/json;q=0.000",
        "*/*, application/json;q=0", "application/*;q=0", "garbage", "application/jsonp", "*/json"}) {
    EXPECT_FALSE(accepts_json(accept)) << accept;
  }
}

}  // namespace
