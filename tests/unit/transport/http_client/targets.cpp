/// What a target may be, where redirects lead, and whom the fields of the target reach.
#include <stdlib.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "transport/http_client/checked_target.hpp"
#include "transport/http_client/http_channel.hpp"
#include "transport/http_client/response_head.hpp"
#include "unit/transport/http_client/scripted_server.hpp"
#include "unit/transport/http_client/scripted_tokens.hpp"
#include "unit/transport/http_client/set_variable.hpp"

namespace {

using hondana::errc;
using hondana::http_target;
using hondana::transport::http_client::check_target;
using hondana::transport::http_client::make_http;
using hondana_test::answering;
using hondana_test::asking;
using hondana_test::call;
using hondana_test::heard_request;
using hondana_test::kept_words;
using hondana_test::scripted_connection;
using hondana_test::scripted_server;

http_target at(std::string url) {
  http_target out;
  out.url = std::move(url);
  out.proxy = "none";
  return out;
}

std::string why_not(const http_target& target) {
  const auto checked = check_target(target);
  if (checked) return "it is fine";
  EXPECT_EQ(checked.error().code, errc::invalid_argument);
  return checked.error().public_text;
}

TEST(http_target, names_an_http_url) {
  for (const std::string url : {"", "example.com", "ftp://example.com/", "file:///etc/passwd", "http://", "javascript:alert(1)",
                                "unix:/x", "http://a b/", "http://[::1/", "http://a:99999/", "ws://a/"})
    EXPECT_NE(why_not(at(url)).find("http"), std::string::npos) << url;
  using namespace std::string_literals;
  EXPECT_NE(why_not(at("http://a/\0b"s)), "it is fine");
  EXPECT_NE(why_not(at("http://a/" + std::string(8192, 'x'))), "it is fine");
  // libcurl decodes the host when it parses and refuses what came out when it connects.
  EXPECT_NE(why_not(at("http:/s\xf6\xff\xff\xffoa%7f/\xd1")).find("percent"), std::string::npos);
  const auto checked = check_target(at("HTTP://Example.COM/Path?q=1#part"));
  ASSERT_TRUE(checked) << checked.error().public_text;
  EXPECT_EQ(checked->origin, "http://example.com:80");
  EXPECT_EQ(checked->url.find('#'), std::string::npos);
}

TEST(http_target, holds_no_user_name) {
  const auto why = why_not(at("http://me:secret@example.com/"));
  EXPECT_NE(why.find("Authorization"), std::string::npos) << why;
  EXPECT_EQ(why.find("secret"), std::string::npos) << why;
}

TEST(http_target, header_fields_are_single_lines) {
  const std::vector<std::pair<std::string, std::string>> bad{{"X-A", "b\r\nX-Evil: 1"},
                                                             {"X-A", "b\nc"},
                                                             {"X\r\nY", "b"},
                                                             {"", "b"},
                                                             {"X A", "b"},
                                                             {"X:", "b"},
                                                             {"X-A", std::string(1, 0)},
                                                             {"X-A", std::string(20'000, 'x')}};
  for (const auto& field : bad) {
    auto target = at("http://a/");
    target.headers = {field};
    EXPECT_NE(why_not(target).find("header field"), std::string::npos) << field.first;
  }
}

TEST(http_target, fields_that_the_transport_sets_are_not_taken) {
  for (const std::string name :
       {"Content-Length", "transfer-encoding", "ACCEPT", "Mcp-Session-Id", "MCP-Protocol-Version", "Last-Event-ID"}) {
    auto target = at("http://a/");
    target.headers = {{name, "1"}};
    EXPECT_NE(why_not(target).find("set automatically"), std::string::npos) << name;
  }
}

TEST(http_target, proxies_are_urls) {
  for (const std::string proxy : {"ftp://a/", "http://", "://", "not a proxy"}) {
    auto target = at("http://a/");
    target.proxy = proxy;
    EXPECT_NE(why_not(target).find("proxy"), std::string::npos) << proxy;
  }
  for (const std::string proxy : {"http://a:3128", "socks5h://a:1080", "https://a"}) {
    auto target = at("http://a/");
    target.proxy = proxy;
    EXPECT_TRUE(check_target(target)) << proxy;
  }
}

TEST(http_target, tokens_are_not_sent_through_a_proxy_that_could_read_them) {
  auto target = at("http://127.0.0.1/mcp");
  target.tokens = std::make_shared<hondana_test::scripted_tokens>("t", hondana_test::scripted_tokens::script());
  target.proxy = "http://a:3128";
  EXPECT_NE(why_not(target).find("through a proxy"), std::string::npos);
  // Inside TLS it could not.
  target.url = "https://127.0.0.1/mcp";
  EXPECT_TRUE(check_target(target));
}

TEST(http_target, a_unix_socket_and_a_proxy_exclude_each_other) {
  auto target = at("http://a/");
  target.socket_path = "/tmp/x";
  target.proxy = "http://b";
  EXPECT_NE(why_not(target).find("exclude"), std::string::npos);
  target.proxy.reset();
  target.socket_path = std::string(200, 'x');
  EXPECT_NE(why_not(target).find("107"), std::string::npos);
}

TEST(http_target, errors_show_no_more_of_a_url_than_they_may) {
  using hondana::transport::http_client::display_url;
  EXPECT_EQ(display_url("https://a:b@c/d?e=f#g"), "https://c/d");
  EXPECT_EQ(display_url("https://a:b/c@d@e/f@g"), "https://a:b/c@d@e/f@g");
  EXPECT_EQ(display_url("http://a/\x1b[31m"), "http://a/?[31m");
  EXPECT_EQ(display_url("http://a/" + std::string(1000, 'x')).size(), 303u);
}

TEST(http_redirects, within_the_origin_keep_method_body_and_fields) {
  for (const int status : {307, 308}) {
    kept_words heard;
    scripted_server server([=](const heard_request& asked, scripted_connection& to) {
      return asked.target == "/new" ? to.answer(200, "application/json", answering(1))
                                    : to.answer(status, "text/html", "<p>moved", "Location: /new\r\n");
    });
    auto target = at(server.url());
    target.headers = {{"Authorization", "Bearer t"}, {"X-Empty", ""}};
    auto channel = std::move(*make_http(target, heard, {}, {}));
    channel->send(call(1));
    ASSERT_TRUE(heard.ending_of(1));
    EXPECT_EQ(heard.messages(1).size(), 1u);
    const auto asked = server.requests(2).at(1);
    EXPECT_EQ(asked.method, "POST");
    EXPECT_EQ(asked.body, asking(1));
    EXPECT_EQ(asked.field("authorization"), "Bearer t");
    EXPECT_TRUE(asked.fields.contains("x-empty"));
  }
}

TEST(http_redirects, other_origins_are_not_followed_and_get_nothing) {
  scripted_server other(
      [](const heard_request&, scripted_connection& to) { return to.answer(200, "application/json", answering(1)); });
  const auto port = std::to_string(other.port());
  const std::vector<std::string> places{"http://127.0.0.1:" + port + "/mcp",
                                        "http://localhost:" + port + "/",
                                        "//127.0.0.1:" + port + "/",
                                        "https://127.0.0.1:" + port + "/",
                                        "http://169.254.169.254/latest/",
                                        "file:///etc/passwd",
                                        "http://[::1]/"};
  for (const auto& place : places) {
    kept_words heard;
    scripted_server server(
        [=](const heard_request&, scripted_connection& to) { return to.answer(307, "", "", "Location: " + place + "\r\n"); });
    auto target = at(server.url());
    target.headers = {{"Authorization", "Bearer t"}};
    auto channel = std::move(*make_http(target, heard, {}, {}));
    channel->send(call(1));
    const auto how = heard.ending_of(1);
    ASSERT_TRUE(how);
    EXPECT_EQ(how->reason.code, errc::protocol_error) << place;
    EXPECT_NE(how->reason.public_text.find("origin"), std::string::npos) << how->reason.public_text;
  }
  EXPECT_EQ(other.connections(), 0u);
}

TEST(http_redirects, a_post_is_not_turned_into_a_get) {
  for (const int status : {301, 302, 303}) {
    kept_words heard;
    scripted_server server(
        [=](const heard_request&, scripted_connection& to) { return to.answer(status, "", "", "Location: /new\r\n"); });
    auto channel = std::move(*make_http(at(server.url()), heard, {}, {}));
    channel->send(call(1));
    const auto how = heard.ending_of(1);
    ASSERT_TRUE(how);
    EXPECT_EQ(how->reason.code, errc::protocol_error);
    EXPECT_NE(how->reason.public_text.find(server.url("/new")), std::string::npos) << how->reason.public_text;
    EXPECT_EQ(server.requests(1).size(), 1u);
  }
}

TEST(http_redirects, five_are_followed) {
  for (const int hops : {5, 6}) {
    kept_words heard;
    scripted_server server([=](const heard_request& asked, scripted_connection& to) {
      const int here = std::stoi(asked.target.substr(1));
      if (here == hops) return to.answer(200, "application/json", answering(1));
      return to.answer(307, "", "", "Location: /" + std::to_string(here + 1) + "\r\n");
    });
    auto channel = std::move(*make_http(at(server.url("/0")), heard, {}, {}));
    channel->send(call(1));
    const auto how = heard.ending_of(1);
    ASSERT_TRUE(how);
    EXPECT_EQ(heard.messages(0).size(), hops == 5 ? 1u : 0u);
    EXPECT_EQ(server.requests(6).size(), 6u);
  }
}

TEST(http_target, a_unix_socket_is_connected_to_whatever_the_url_says) {
  char folder[] = "/tmp/hondana-calls-XXXXXX";
  ASSERT_NE(::mkdtemp(folder), nullptr);
  const auto path = std::string(folder) + "/s";
  {
    kept_words heard;
    scripted_server server(
        [](const heard_request&, scripted_connection& to) { return to.answer(200, "application/json", answering(1)); }, path);
    auto target = at("http://somewhere.example/mcp");
    target.socket_path = path;
    target.proxy.reset();
    auto channel = std::move(*make_http(target, heard, {}, {}));
    channel->send(call(1));
    ASSERT_TRUE(heard.ending_of(1));
    EXPECT_EQ(heard.messages(1).size(), 1u);
    EXPECT_EQ(server.requests(1).at(0).field("host"), "somewhere.example");
  }
  std::filesystem::remove_all(folder);
}

TEST(http_target, a_proxy_is_asked_for_the_whole_url) {
  kept_words heard;
  scripted_server proxy(
      [](const heard_request&, scripted_connection& to) { return to.answer(200, "application/json", answering(1)); });
  auto target = at("http://somewhere.example/mcp");
  target.proxy = proxy.url("");
  auto channel = std::move(*make_http(target, heard, {}, {}));
  channel->send(call(1));
  ASSERT_TRUE(heard.ending_of(1));
  EXPECT_EQ(proxy.requests(1).at(0).target, "http://somewhere.example/mcp");
}

TEST(http_target, explicit_proxy_is_used_also_for_hosts_of_no_proxy) {
  const hondana_test::set_variable excluded("no_proxy", "somewhere.example");
  kept_words heard;
  scripted_server proxy(
      [](const heard_request&, scripted_connection& to) { return to.answer(200, "application/json", answering(1)); });
  auto target = at("http://somewhere.example/mcp");
  target.proxy = proxy.url("");
  auto channel = std::move(*make_http(target, heard, {}, {}));
  channel->send(call(1));
  ASSERT_TRUE(heard.ending_of(1));
  EXPECT_EQ(proxy.requests(1).at(0).target, "http://somewhere.example/mcp");
}

TEST(http_target, a_port_without_tls_is_called_that_and_not_by_the_librarys_words_alone) {
  kept_words heard;
  const scripted_server plain([](const heard_request&, scripted_connection&) { return false; });
  const auto place = "127.0.0.1:" + std::to_string(plain.port());
  auto channel = std::move(*make_http(at("https://" + place + "/mcp"), heard, {}, {}));
  channel->send(call(1));
  const auto why = heard.failure_of(1);
  EXPECT_EQ(why.code, errc::source_unavailable);
  EXPECT_NE(why.public_text.find("https://" + place + " does not speak TLS"), std::string::npos) << why.public_text;
  EXPECT_NE(why.public_text.find("use http://" + place + " ("), std::string::npos) << why.public_text;
}

TEST(http_target, certificates_are_checked) {
  kept_words heard;
  const auto identity = std::make_shared<const hondana_test::tls_identity>();
  scripted_server server(
      [](const heard_request&, scripted_connection& to) { return to.answer(200, "application/json", answering(1)); }, {},
      identity);
  auto channel = std::move(*make_http(at(server.url()), heard, {}, {}));
  channel->send(call(1));
  const auto how = heard.ending_of(1);
  ASSERT_TRUE(how);
  EXPECT_EQ(how->reason.code, errc::source_unavailable);
  EXPECT_NE(how->reason.public_text.find("certificate"), std::string::npos) << how->reason.public_text;
  EXPECT_TRUE(server.requests(0).empty());
}

TEST(http_fields, charsets_and_media_types_are_read_from_content_types) {
  hondana::transport::http_client::response_head head;
  const auto type = [&](std::string text) {
    head.content_type = std::move(text);
    return head.media_type() + "|" + head.charset();
  };
  EXPECT_EQ(type("Text/HTML; boundary=x; Charset=\"UTF-8\" "), "text/html|utf-8");
  EXPECT_EQ(type("application/json"), "application/json|");
  EXPECT_EQ(type(";;; charset"), "|");
  EXPECT_EQ(type("a/b;charset=x;charset=y"), "a/b|x");
}

TEST(http_fields, retry_after_is_seconds_or_a_date) {
  using hondana::transport::http_client::parse_retry_after;
  using std::chrono::milliseconds;
  const auto now = std::chrono::system_clock::from_time_t(784111770);  // 7 s before the date below
  EXPECT_EQ(parse_retry_after("0", now), milliseconds(0));
  EXPECT_EQ(parse_retry_after("120", now), milliseconds(120'000));
  EXPECT_EQ(parse_retry_after("99999999999999999999999", now), std::chrono::hours(24));
  EXPECT_EQ(parse_retry_after("Sun, 06 Nov 1994 08:49:37 GMT", now), milliseconds(7'000));
  EXPECT_EQ(parse_retry_after("Sun, 06 Nov 1994 08:49:00 GMT", now), milliseconds(0));
  EXPECT_EQ(parse_retry_after("Sun, 06 Nov 9999 08:49:00 GMT", now), std::chrono::hours(24));
  for (const std::string bad : {"", "-1", "1.5", "soon", "1 2"}) EXPECT_EQ(parse_retry_after(bad, now), std::nullopt) << bad;
}

}  // namespace
