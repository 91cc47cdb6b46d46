/// Requests to a service: what is sent, what comes back, and what ends them.
#include "transport/endpoint/endpoint.hpp"

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "deadline.hpp"
#include "unit/transport/endpoint/closed_port.hpp"
#include "unit/transport/endpoint/packed.hpp"
#include "unit/transport/http_client/scripted_server.hpp"

namespace {

using hondana::errc;
using hondana::endpoint::endpoint;
using hondana::endpoint::request;
using hondana::endpoint::settings;
using hondana_test::heard_request;
using hondana_test::packed;
using hondana_test::scripted_connection;
using hondana_test::scripted_server;

/// With as much time as it needs where a test does not set it.
std::shared_ptr<endpoint> made(settings from) {
  if (from.timeout == settings().timeout) from.timeout = hondana_test::event_deadline;
  auto out = endpoint::create(std::move(from));
  if (!out) {
    ADD_FAILURE() << out.error().public_text;
    return {};
  }
  return *out;
}

scripted_server::script saying(std::string body, int status = 200, std::string more = {}) {
  return [=](const heard_request&, scripted_connection& to) { return to.answer(status, "text/plain", body, more); };
}

TEST(asked_endpoint, answers_with_status_type_and_bytes_and_keeps_the_connection) {
  scripted_server server(saying("up 1\n"));
  const auto it = made({.url = server.url("/metrics?module=a")});
  EXPECT_EQ(it->origin(), "http://127.0.0.1:" + std::to_string(server.port()));
  EXPECT_EQ(it->address(), "127.0.0.1:" + std::to_string(server.port()));
  for (int i = 0; i < 3; ++i) {
    const auto got = it->send({}, {});
    ASSERT_TRUE(got) << got.error().public_text;
    EXPECT_EQ(got->status, 200);
    EXPECT_EQ(got->content_type, "text/plain");
    EXPECT_EQ(got->body, "up 1\n");
  }
  EXPECT_EQ(server.connections(), 1u);
  const auto asked = server.requests(3).at(0);
  EXPECT_EQ(asked.target, "/metrics?module=a");
  EXPECT_EQ(asked.field("accept-encoding"), "gzip");
  EXPECT_EQ(asked.field("authorization"), "");
}

TEST(asked_endpoint, escapes_queries_and_joins_paths) {
  scripted_server server(saying("{}"));
  const auto it = made({.url = server.url("/prom/?tenant=x")});
  ASSERT_TRUE(it->send({.path = "/api/v1/query", .query = {{"query", "up{a=\"b&c=d\"} + 1"}, {"time", "1"}}}, {}));
  EXPECT_EQ(server.requests(1).at(0).target, "/prom/api/v1/query?tenant=x&query=up%7Ba%3D%22b%26c%3Dd%22%7D%20%2B%201&time=1");
  ASSERT_TRUE(it->send({.path = "/api/v1/query", .query = {{"query", "a&b"}}, .posts_query = true}, {}));
  const auto form = server.requests(2).at(1);
  EXPECT_EQ(form.method, "POST");
  EXPECT_EQ(form.body, "query=a%26b");
  EXPECT_EQ(form.field("content-type"), "application/x-www-form-urlencoded");
  ASSERT_TRUE(it->send({.path = "/v1/traces", .headers = {{"Content-Type", "application/json"}}, .body = "{\"a\":1}"}, {}));
  const auto posted = server.requests(3).at(2);
  EXPECT_EQ(posted.body, "{\"a\":1}");
  EXPECT_EQ(posted.field("content-type"), "application/json");
}

TEST(asked_endpoint, a_path_never_leaves_the_url) {
  scripted_server server(saying("secret"));
  const auto it = made({.url = server.url("/api")});
  for (const std::string path : {"/../admin", "/a/..", "/%2e%2e/admin", "/a/%2E./b", "/.", "admin", "/a b", "/a?x", "/a#x",
                                 "/a\r\nX: y", "/%zz", "/a%2f..%2fb", "/a\\..\\b", "/a%00"}) {
    const auto got = it->send({.path = path}, {});
    ASSERT_FALSE(got) << path;
    EXPECT_EQ(got.error().code, errc::invalid_argument) << path;
  }
  EXPECT_EQ(server.connections(), 0u);
}

TEST(asked_endpoint, any_status_is_an_answer_and_a_long_one_of_no_success_is_cut) {
  scripted_server server([](const heard_request& what, scripted_connection& to) {
    if (what.target == "/busy") return to.answer(503, "text/plain", "later", "Retry-After: 7\r\n");
    return to.answer(404, "text/html", std::string(200'000, 'x'));
  });
  const auto it = made({.url = server.url("")});
  const auto got = it->send({.path = "/none"}, {});
  ASSERT_TRUE(got) << got.error().public_text;
  EXPECT_EQ(got->status, 404);
  EXPECT_EQ(got->body.size(), 65536u);
  const auto busy = it->send({.path = "/busy"}, {}, [](std::string_view) -> hondana::result<void> {
    ADD_FAILURE() << "the body of a failure went to the sink";
    return {};
  });
  ASSERT_TRUE(busy);
  EXPECT_EQ(busy->body, "later");
  EXPECT_EQ(busy->retry_after, std::chrono::seconds(7));
}

TEST(asked_endpoint, unpacks_gzip_and_says_when_it_is_cut_off_or_none) {
  const std::string text = [] {
    std::string out;
    for (int i = 0; i < 20'000; ++i) out += "some_metric{number=\"" + std::to_string(i) + "\"} 1\n";
    return out;
  }();
  scripted_server server([&](const heard_request& what, scripted_connection& to) {
    auto bytes = packed(text);
    std::string coding = "Content-Encoding: gzip\r\n";
    if (what.target == "/twice") bytes += packed("more\n");
    if (what.target == "/cut") bytes.resize(bytes.size() - 6);
    if (what.target == "/half") bytes.resize(bytes.size() / 2);
    if (what.target == "/none") bytes = "up 1\n";
    if (what.target == "/damaged") bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 0x55);
    if (what.target == "/other") coding = "Content-Encoding: br\r\n";
    return to.answer(200, "text/plain", bytes, coding);
  });
  const auto it = made({.url = server.url("")});
  const auto whole = it->send({.path = "/whole"}, {});
  ASSERT_TRUE(whole) << whole.error().public_text;
  EXPECT_EQ(whole->body, text);
  const auto twice = it->send({.path = "/twice"}, {});
  ASSERT_TRUE(twice) << twice.error().public_text;
  EXPECT_EQ(twice->body, text + "more\n");
  for (const std::string path : {"/cut", "/half", "/none", "/damaged", "/other"}) {
    const auto got = it->send({.path = path}, {});
    ASSERT_FALSE(got) << path;
    EXPECT_EQ(got.error().code, errc::protocol_error) << path;
  }
}

TEST(asked_endpoint, what_is_longer_than_the_limit_ends_there_whether_packed_or_not) {
  std::atomic<bool> has_gone{false};
  scripted_server server([&](const heard_request& what, scripted_connection& to) {
    if (what.target == "/bomb")
      return to.answer(200, "text/plain", packed(std::string(50u << 20, '\0')), "Content-Encoding: gzip\r\n");
    to.send("HTTP/1.1 200 OK\r\nContent-Length: 2147483648\r\n\r\n");
    while (to.send(std::string(65536, 'x'))) {
    }
    has_gone = true;
    return false;
  });
  const auto it = made({.url = server.url("")});
  for (const std::string path : {"/bomb", "/endless"}) {
    std::size_t heard = 0;
    const auto got = it->send({.path = path, .max_bytes = 1u << 20}, {}, [&](std::string_view piece) -> hondana::result<void> {
      heard += piece.size();
      return {};
    });
    ASSERT_FALSE(got) << path;
    EXPECT_EQ(got.error().code, errc::response_too_large) << path;
    EXPECT_LE(heard, 1u << 20);
  }
  // The connection is not kept.
  EXPECT_TRUE(it->send({.path = "/endless", .max_bytes = 10}, {}).error().code == errc::response_too_large);
  EXPECT_EQ(server.connections(), 3u);
}

TEST(asked_endpoint, a_sink_takes_the_body_and_may_end_it_with_its_own_error) {
  scripted_server server(saying("0123456789"));
  const auto it = made({.url = server.url("")});
  std::string heard;
  const auto got = it->send({}, {}, [&](std::string_view piece) -> hondana::result<void> {
    heard += piece;
    return {};
  });
  ASSERT_TRUE(got);
  EXPECT_EQ(heard, "0123456789");
  EXPECT_TRUE(got->body.empty());
  const auto ended = it->send(
      {}, {}, [](std::string_view) -> hondana::result<void> { return hondana::fail(errc::overloaded, "no room for it"); });
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().public_text, "no room for it");
  EXPECT_EQ(it->send({}, {})->body, "0123456789");
}

TEST(asked_endpoint, a_slow_service_costs_its_time_and_no_more) {
  scripted_server server([](const heard_request& what, scripted_connection& to) {
    if (what.target == "/drip") to.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc");
    return to.sees_the_end() && false;
  });
  const auto it = made({.url = server.url(""), .timeout = std::chrono::milliseconds(150)});
  for (const std::string path : {"/silent", "/drip"}) {
    const auto got = it->send({.path = path}, {});
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code, errc::timed_out);
  }
  const auto slow = made({.url = server.url(""), .timeout = std::chrono::minutes(10)});
  EXPECT_EQ(slow->send({.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(100)}, {}).error().code,
            errc::timed_out);
}

TEST(asked_endpoint, can_be_cancelled_at_any_time) {
  scripted_server server([](const heard_request&, scripted_connection& to) { return to.sees_the_end() && false; });
  const auto it = made({.url = server.url(""), .timeout = std::chrono::minutes(10)});
  std::stop_source stop;
  auto asking = std::async(std::launch::async, [&] { return it->send({}, stop.get_token()); });
  ASSERT_EQ(server.requests(1).size(), 1u);
  stop.request_stop();
  const auto got = asking.get();
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, errc::cancelled);
  EXPECT_EQ(it->send({}, stop.get_token()).error().code, errc::cancelled);
  EXPECT_EQ(server.requests(1).size(), 1u);
}

TEST(asked_endpoint, at_most_eight_requests_are_under_way_and_others_wait_for_one) {
  std::promise<void> let_go;
  const auto may_go = let_go.get_future().share();
  scripted_server server([&](const heard_request&, scripted_connection& to) {
    may_go.wait();
    return to.answer(200, "text/plain", "x");
  });
  const auto it = made({.url = server.url(""), .timeout = std::chrono::minutes(10)});
  std::vector<std::future<hondana::result<hondana::endpoint::response>>> all;
  for (int i = 0; i < 8; ++i) all.push_back(std::async(std::launch::async, [&] { return it->send({}, {}); }));
  ASSERT_EQ(server.requests(8).size(), 8u);
  const auto late = it->send({.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(50)}, {});
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, errc::timed_out);
  EXPECT_EQ(server.requests(8).size(), 8u);
  let_go.set_value();
  for (auto& one : all) EXPECT_TRUE(one.get());
  EXPECT_TRUE(it->send({}, {}));
  EXPECT_EQ(server.connections(), 8u);
}

TEST(asked_endpoint, says_what_is_wrong_with_services_that_are_down_or_no_http) {
  const hondana_test::closed_port port;
  const auto down = made({.url = port.url("/metrics?key=hidden")})->send({}, {});
  ASSERT_FALSE(down);
  EXPECT_EQ(down.error().code, errc::source_unavailable);
  EXPECT_NE(down.error().public_text.find("Connection refused"), std::string::npos) << down.error().public_text;
  EXPECT_TRUE(down.error().public_text.starts_with("cannot call http://127.0.0.1:")) << down.error().public_text;
  EXPECT_EQ(down.error().public_text.find("hidden"), std::string::npos) << down.error().public_text;
  scripted_server other([](const heard_request& what, scripted_connection& to) {
    if (what.target == "/short") return to.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc") && false;
    if (what.target == "/nothing") return false;
    if (what.target == "/reset") {
      to.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc");
      to.vanish();
      return false;
    }
    if (what.target == "/long") {
      to.send("HTTP/1.1 200 OK\r\n");
      for (int i = 0; i < 100 && to.send("X-Filler: " + std::string(1000, 'x') + "\r\n"); ++i) {
      }
      return to.sees_the_end() && false;
    }
    return to.send("SSH-2.0-OpenSSH_9.2\r\n") && false;
  });
  const auto it = made({.url = other.url("")});
  EXPECT_EQ(it->send({.path = "/short"}, {}).error().code, errc::source_unavailable);
  EXPECT_EQ(it->send({.path = "/nothing"}, {}).error().code, errc::source_unavailable);
  const auto reset = it->send({.path = "/reset"}, {});
  ASSERT_FALSE(reset);
  EXPECT_EQ(reset.error().code, errc::source_unavailable);
  EXPECT_EQ(reset.error().public_text.find("certificate"), std::string::npos) << reset.error().public_text;
  EXPECT_EQ(it->send({.path = "/long"}, {}).error().code, errc::protocol_error);
  EXPECT_EQ(it->send({.path = "/ssh"}, {}).error().code, errc::protocol_error);
}

TEST(asked_endpoint, goes_through_a_unix_socket) {
  const hondana_test::pem_folder folder;
  scripted_server server(saying("x"), folder.path("s"));
  const auto it = made({.url = "http://service.example/metrics", .socket_path = folder.path("s")});
  EXPECT_EQ(it->address(), folder.path("s"));
  const auto got = it->send({}, {});
  ASSERT_TRUE(got) << got.error().public_text;
  EXPECT_EQ(server.requests(1).at(0).field("host"), "service.example");
}

}  // namespace
