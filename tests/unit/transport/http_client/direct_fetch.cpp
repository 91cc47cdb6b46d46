/// Resources fetched from where they are: what is read, and what never is.
#include "transport/http_client/direct_fetch.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <array>
#include <chrono>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include <hondana/clock.hpp>

#include "transport/http_client/public_address.hpp"
#include "unit/transport/http_client/scripted_server.hpp"

namespace {

using hondana::errc;
using hondana::transport::http_client::fetch_directly;
using hondana::transport::http_client::fetch_environment;
using hondana::transport::http_client::fetch_limits;
using hondana_test::heard_request;
using hondana_test::scripted_connection;
using hondana_test::scripted_server;

const std::shared_ptr<const hondana_test::tls_identity>& identity() {
  static const auto one = std::make_shared<const hondana_test::tls_identity>();
  return one;
}

/// A server on the one port of this machine that may be read.
struct web {
  explicit web(scripted_server::script plays) : server(std::move(plays), {}, identity()) {
    world.ca_file = identity()->file();
    world.allows_address = [port = server.port()](const sockaddr& to) {
      return to.sa_family == AF_INET && ntohs(reinterpret_cast<const sockaddr_in&>(to).sin_port) == port;
    };
  }
  hondana::result<hondana::transport::http_client::fetch_result> get(const fetch_limits& most = {},
                                                                     std::string_view path = "/a") const {
    return fetch_directly(server.url(path), most, {}, {}, world);
  }
  scripted_server server;
  fetch_environment world;
};

scripted_server::script page(int status, std::string type, std::string body, std::string more = {}) {
  return [=](const heard_request&, scripted_connection& to) { return to.answer(status, type, body, more); };
}

TEST(direct_fetch, gives_content_type_and_bytes) {
  const web with(page(200, "Text/Plain; Charset=\"UTF-8\"", "hello"));
  const auto got = with.get();
  ASSERT_TRUE(got) << got.error().public_text;
  EXPECT_EQ(got->body, "hello");
  EXPECT_EQ(got->size, 5u);
  EXPECT_EQ(got->media_type, "text/plain");
  EXPECT_EQ(got->charset, "utf-8");
  EXPECT_EQ(got->url, with.server.url("/a"));
}

TEST(direct_fetch, sends_nothing_of_the_callers_and_asks_for_no_compression) {
  web with(page(200, "text/plain", "x"));
  ASSERT_TRUE(with.get());
  const auto asked = with.server.requests(1).at(0);
  EXPECT_EQ(asked.method, "GET");
  for (const auto& [name, value] : asked.fields)
    EXPECT_TRUE(name == "host" || name == "user-agent" || name == "accept") << name;
}

TEST(direct_fetch, a_certificate_that_is_not_trusted_is_refused) {
  web with(page(200, "text/plain", "x"));
  with.world.ca_file.clear();
  const auto got = with.get();
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, errc::source_unavailable);
  EXPECT_TRUE(with.server.requests(0).empty());
}

TEST(direct_fetch, says_what_is_wrong_with_a_port_without_tls_and_with_an_endless_header_line) {
  const web with([](const heard_request&, scripted_connection& to) {
    to.send("HTTP/1.1 200 OK\r\nX-Filler: ");
    while (to.send(std::string(1000, 'x'))) {
    }
    return false;
  });
  const auto long_line = with.get();
  ASSERT_FALSE(long_line);
  EXPECT_EQ(long_line.error().code, errc::protocol_error);
  EXPECT_NE(long_line.error().public_text.find("64 KiB"), std::string::npos) << long_line.error().public_text;
  const scripted_server plain([](const heard_request&, scripted_connection&) { return false; });
  fetch_environment all;
  all.allows_address = [](const sockaddr&) { return true; };
  const auto no_tls = fetch_directly("https://127.0.0.1:" + std::to_string(plain.port()) + "/", {}, {}, {}, all);
  ASSERT_FALSE(no_tls);
  EXPECT_NE(no_tls.error().public_text.find("does not speak TLS"), std::string::npos) << no_tls.error().public_text;
}

TEST(direct_fetch, this_machine_is_never_read_from) {
  const scripted_server server(page(200, "text/plain", "secret"), {}, identity());
  const auto port = ":" + std::to_string(server.port()) + "/";
  for (const std::string host : {"127.0.0.1", "localhost", "[::1]", "0x7f.1", "0177.0.0.1", "2130706433", "127.1",
                                 "[::ffff:127.0.0.1]", "0.0.0.0", "[::]", "LOCALHOST."}) {
    const auto got = fetch_directly("https://" + host + port, {}, {}, {});
    ASSERT_FALSE(got) << host;
    EXPECT_NE(got.error().code, errc::internal);
    EXPECT_NE(got.error().public_text.find("cannot fetch"), std::string::npos) << got.error().public_text;
  }
  EXPECT_EQ(fetch_directly("https://127.0.0.1" + port, {}, {}, {}).error().code, errc::access_denied);
  EXPECT_EQ(fetch_directly("https://localhost" + port, {}, {}, {}).error().code, errc::access_denied);
  EXPECT_EQ(server.connections(), 0u);
}

TEST(direct_fetch, a_proxy_gets_no_literal_private_addresses) {
  const scripted_server proxy(page(200, "text/plain", "x"));
  fetch_limits through;
  through.proxy = proxy.url("");
  for (const std::string host : {"127.0.0.1", "localhost", "a.localhost", "[::1]", "10.0.0.1", "0x7f.1", "[fe80::1%25eth0]"}) {
    const auto got = fetch_directly("https://" + host + "/", through, {}, {});
    ASSERT_FALSE(got) << host;
    EXPECT_EQ(got.error().code, errc::access_denied) << host << ' ' << got.error().public_text;
  }
  EXPECT_EQ(proxy.connections(), 0u);
}

TEST(direct_fetch, only_https_without_names_is_fetched) {
  for (const std::string url : {"http://example.com/", "file:///etc/passwd", "ftp://example.com/a", "https://user@example.com/",
                                "https://user:secret@example.com/", "https://", "", "example.com", "gopher://x/1"}) {
    const auto got = fetch_directly(url, {}, {}, {});
    ASSERT_FALSE(got) << url;
    EXPECT_EQ(got.error().code, errc::invalid_argument) << url;
    EXPECT_EQ(got.error().public_text.find("secret"), std::string::npos) << got.error().public_text;
  }
}

TEST(direct_fetch, redirects_are_followed_five_times) {
  for (const int hops : {5, 6}) {
    web with([=](const heard_request& asked, scripted_connection& to) {
      const int at = std::stoi(asked.target.substr(1));
      if (at == hops) return to.answer(200, "text/plain", "there");
      return to.answer(302, "text/plain", "elsewhere", "Location: /" + std::to_string(at + 1) + "\r\n");
    });
    const auto got = with.get({}, "/0");
    EXPECT_EQ(got.has_value(), hops == 5);
    if (got) {
      EXPECT_EQ(got->url, with.server.url("/5"));
      EXPECT_EQ(got->body, "there");
    } else {
      EXPECT_EQ(got.error().code, errc::protocol_error);
    }
  }
}

TEST(direct_fetch, redirects_to_what_would_not_be_fetched_are_not_followed) {
  const scripted_server inside(page(200, "text/plain", "secret"), {}, identity());
  const auto port = std::to_string(inside.port());
  const std::vector<std::pair<std::string, errc>> places{{"https://127.0.0.1:" + port + "/", errc::access_denied},
                                                         {"https://localhost:" + port + "/", errc::access_denied},
                                                         {"http://127.0.0.1:" + port + "/", errc::invalid_argument},
                                                         {"https://a:b@127.0.0.1:" + port + "/", errc::invalid_argument},
                                                         {"file:///etc/passwd", errc::invalid_argument}};
  for (const auto& [place, code] : places) {
    const web with(page(302, "", "", "Location: " + place + "\r\n"));
    const auto got = with.get();
    ASSERT_FALSE(got) << place;
    EXPECT_EQ(got.error().code, code) << place << ' ' << got.error().public_text;
  }
  EXPECT_EQ(inside.connections(), 0u);
}

// attacks: SSRF (a name whose address changes between check and use)
TEST(direct_fetch, an_address_is_judged_on_the_connection_that_is_made_and_on_each_anew) {
  web with([](const heard_request& asked, scripted_connection& to) {
    if (asked.target == "/a") {
      to.answer(302, "", "", "Location: /b\r\nConnection: close\r\n");
      return false;
    }
    return to.answer(200, "text/plain", "secret", "");
  });
  int connections = 0;
  with.world.allows_address = [&](const sockaddr&) { return connections++ == 0; };  // a private one, the second time
  const auto got = with.get();
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, errc::access_denied) << got.error().public_text;
  EXPECT_EQ(connections, 2);
  EXPECT_EQ(with.server.requests(1).size(), 1u);
}

TEST(direct_fetch, statuses_become_errors) {
  const std::vector<std::pair<int, errc>> all{{404, errc::resource_not_found}, {410, errc::resource_not_found},
                                              {401, errc::unauthorized},       {403, errc::unauthorized},
                                              {503, errc::source_unavailable}, {400, errc::protocol_error},
                                              {206, errc::protocol_error},     {304, errc::protocol_error}};
  for (const auto& [status, code] : all) {
    const web with(page(status, "text/plain", status == 304 ? "" : "body"));
    const auto got = with.get();
    ASSERT_FALSE(got) << status;
    EXPECT_EQ(got.error().code, code) << status;
  }
}

TEST(direct_fetch, compressed_content_is_refused) {
  const web with(page(200, "text/plain", "\x1f\x8b", "Content-Encoding: gzip\r\n"));
  const auto got = with.get();
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, errc::protocol_error);
}

TEST(direct_fetch, more_than_the_limit_is_not_read) {
  const web with([](const heard_request&, scripted_connection& to) {
    to.send("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n");
    while (to.send(std::string(10'000, 'x'))) {
    }
    return false;
  });
  fetch_limits small;
  small.max_bytes = 100'000;
  const auto got = with.get(small);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, errc::response_too_large);
}

TEST(direct_fetch, a_sink_takes_the_content_and_may_end_it) {
  const web with(page(200, "text/plain", std::string(1u << 20, 'x')));
  std::uint64_t taken = 0;
  const auto got = fetch_directly(
      with.server.url(), {},
      [&](std::size_t item, std::string_view bytes) {
        EXPECT_EQ(item, 0u);
        taken += bytes.size();
        return hondana::result<void>();
      },
      {}, with.world);
  ASSERT_TRUE(got);
  EXPECT_EQ(taken, 1u << 20);
  EXPECT_EQ(got->size, 1u << 20);
  EXPECT_TRUE(got->body.empty());
  const auto ended = fetch_directly(
      with.server.url(), {},
      [](std::size_t, std::string_view) -> hondana::result<void> {
        return hondana::fail(errc::overloaded, "the disk is full");
      },
      {}, with.world);
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().public_text, "the disk is full");
}

TEST(direct_fetch, a_server_that_never_answers_is_given_up) {
  const web with([](const heard_request&, scripted_connection& to) { return !to.sees_the_end(); });
  fetch_limits brief;
  brief.timeout = std::chrono::milliseconds(50);
  const auto got = with.get(brief);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, errc::timed_out);
}

TEST(direct_fetch, a_server_that_never_comes_to_an_end_is_given_up_after_the_whole_time) {
  hondana::manual_clock clock;
  const web with([](const heard_request&, scripted_connection& to) {
    to.send("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n");
    while (to.send(std::string(10'000, 'x'))) {
    }
    return false;
  });
  fetch_limits brief;
  brief.timeout = std::chrono::seconds(30);
  brief.total_timeout = std::chrono::seconds(60);
  const auto got = fetch_directly(
      with.server.url(), brief,
      [&clock](std::size_t, std::string_view) {
        clock.advance(std::chrono::seconds(29));
        return hondana::result<void>();
      },
      {}, with.world);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, errc::timed_out) << got.error().public_text;
  EXPECT_NE(got.error().public_text.find("within 60000 ms"), std::string::npos) << got.error().public_text;
}

TEST(direct_fetch, time_in_the_sink_does_not_count_as_silence) {
  hondana::manual_clock clock;
  const web with(
      [](const heard_request&, scripted_connection& to) { return to.answer(200, "text/plain", std::string(1u << 20, 'x')); });
  fetch_limits brief;
  brief.timeout = std::chrono::seconds(30);
  std::uint64_t taken = 0;
  const auto got = fetch_directly(
      with.server.url(), brief,
      [&](std::size_t, std::string_view bytes) {
        clock.advance(std::chrono::seconds(40));
        taken += bytes.size();
        return hondana::result<void>();
      },
      {}, with.world);
  ASSERT_TRUE(got) << got.error().public_text;
  EXPECT_EQ(taken, 1u << 20);
}

TEST(direct_fetch, can_be_cancelled) {
  std::stop_source stop;
  const web with([&](const heard_request&, scripted_connection& to) {
    stop.request_stop();
    return !to.sees_the_end();
  });
  const auto got = fetch_directly(with.server.url(), {}, {}, stop.get_token(), with.world);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, errc::cancelled);
}

bool is_public_text(const std::string& text) {
  if (text.find(':') == std::string::npos) {
    in_addr address{};
    EXPECT_EQ(::inet_pton(AF_INET, text.c_str(), &address), 1) << text;
    return hondana::transport::http_client::is_public_ipv4(ntohl(address.s_addr));
  }
  sockaddr_storage held{};
  auto& address = reinterpret_cast<sockaddr_in6&>(held);
  address.sin6_family = AF_INET6;
  EXPECT_EQ(::inet_pton(AF_INET6, text.c_str(), &address.sin6_addr), 1) << text;
  return hondana::transport::http_client::is_public(reinterpret_cast<const sockaddr&>(held));
}

TEST(public_address, knows_what_is_private) {
  for (const std::string text : {"0.0.0.0",
                                 "0.255.255.255",
                                 "10.0.0.0",
                                 "10.255.255.255",
                                 "100.64.0.0",
                                 "100.127.255.255",
                                 "127.0.0.1",
                                 "127.255.255.255",
                                 "169.254.0.0",
                                 "169.254.169.254",
                                 "172.16.0.0",
                                 "172.31.255.255",
                                 "192.0.0.1",
                                 "192.0.2.1",
                                 "192.168.0.0",
                                 "192.168.255.255",
                                 "198.18.0.0",
                                 "198.19.255.255",
                                 "198.51.100.1",
                                 "203.0.113.1",
                                 "168.63.129.16",
                                 "224.0.0.1",
                                 "239.255.255.255",
                                 "240.0.0.1",
                                 "255.255.255.255",
                                 "::",
                                 "::1",
                                 "::127.0.0.1",
                                 "::8.8.8.8",
                                 "::ffff:127.0.0.1",
                                 "::ffff:10.0.0.1",
                                 "64:ff9b::10.0.0.1",
                                 "64:ff9b:1::1",
                                 "2002:7f00:1::",
                                 "2002:a00:1::1",
                                 "2001::1",
                                 "2001:db8::1",
                                 "3fff::1",
                                 "fc00::1",
                                 "fdff::1",
                                 "fe80::1",
                                 "febf::1",
                                 "fec0::1",
                                 "ff02::1",
                                 "100::1",
                                 "5f00::1"})
    EXPECT_FALSE(is_public_text(text)) << text;
}

TEST(public_address, knows_what_is_public) {
  for (const std::string text :
       {"1.1.1.1",        "9.255.255.255",    "11.0.0.0",        "100.63.255.255",  "100.128.0.0",     "126.255.255.255",
        "128.0.0.1",      "169.253.255.255",  "169.255.0.0",     "172.15.255.255",  "172.32.0.0",      "192.167.255.255",
        "192.169.0.0",    "198.17.255.255",   "198.20.0.0",      "223.255.255.255", "2606:4700::1111", "2a00:1450::1",
        "::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2002:808:808::1", "2001:200::1",     "2001:4860::8888"})
    EXPECT_TRUE(is_public_text(text)) << text;
}

}  // namespace
