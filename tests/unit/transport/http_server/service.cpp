/// The HTTP server as its clients see it: routes, messages, listening and draining.
#include "transport/http_server/service.hpp"

#include <chrono>
#include <future>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <hondana/clock.hpp>

#include "support/must.hpp"
#include "unit/transport/http_server/client.hpp"
#include "unit/transport/http_server/shelf.hpp"

namespace {

using hondana_test::client;
using hondana_test::get;
using hondana_test::library;
using hondana_test::post;
using std::chrono::milliseconds;

const std::string ping = hondana_test::modern("server/discover");

TEST(http_service, answers_a_request_with_json) {
  library with;
  client peer(with.port());
  peer.send(post(ping));
  const auto got = peer.receive();
  EXPECT_EQ(got.status, 200);
  EXPECT_EQ(got.fields.at("content-type"), "application/json");
  EXPECT_EQ(got.fields.at("cache-control"), "no-store");
  EXPECT_EQ(got.fields.at("x-content-type-options"), "nosniff");
  EXPECT_FALSE(got.fields.contains("server"));
  EXPECT_TRUE(got.body.starts_with(R"({"jsonrpc":"2.0","id":7,"result":{"resultType":"complete",)")) << got.body;
}

TEST(http_service, answers_many_requests_on_one_connection) {
  library with;
  client peer(with.port());
  for (int i = 0; i < 200; ++i) {
    peer.send(post(hondana_test::modern("server/discover", std::to_string(i))));
    ASSERT_TRUE(peer.receive().body.starts_with(R"({"jsonrpc":"2.0","id":)" + std::to_string(i) + R"(,"result":{)"));
  }
}

TEST(http_service, answers_pipelined_requests_in_order) {
  library with;
  client peer(with.port());
  std::string all;
  for (int i = 0; i < 50; ++i) all += post(library::read("memo:///a", std::to_string(i)));
  peer.send(all);
  for (int i = 0; i < 50; ++i) {
    const auto got = peer.receive();
    ASSERT_TRUE(got.body.starts_with(R"({"jsonrpc":"2.0","id":)" + std::to_string(i) + ",")) << got.body;
  }
}

// requires: */transports.accepted
TEST(http_service, accepts_a_notification_without_content) {
  library with;
  client peer(with.port());
  peer.send(post(R"({"jsonrpc":"2.0","method":"notifications/initialized"})", "MCP-Protocol-Version: 2026-07-28\r\n"));
  const auto got = peer.receive();
  EXPECT_EQ(got.status, 202);
  EXPECT_EQ(got.body, "");
  EXPECT_FALSE(got.fields.contains("content-type"));
}

TEST(http_service, takes_a_request_one_byte_at_a_time) {
  library with;
  client peer(with.port());
  for (const char byte : post(ping)) peer.send(std::string_view(&byte, 1));
  EXPECT_EQ(peer.receive().status, 200);
}

TEST(http_service, takes_a_large_message) {
  library with;
  client peer(with.port());
  peer.send(post(hondana_test::modern("server/discover", "7", "\"filler\":\"" + std::string(8u << 20, 'x') + "\",")));
  EXPECT_EQ(peer.receive().status, 200);
}

TEST(http_service, refuses_a_message_over_the_cap) {
  hondana::transport::http_server::limits small;
  small.max_body_bytes = 1000;
  library with(small);
  client peer(with.port());
  peer.send(post(std::string(2'000'000, ' ')));
  const auto got = peer.receive();
  EXPECT_EQ(got.status, 413);
  EXPECT_NE(got.body.find("1000"), std::string::npos) << got.body;
  EXPECT_TRUE(peer.sees_the_end());
}

TEST(http_service, refuses_what_is_too_much_at_once_and_serves_on) {
  hondana::transport::http_server::limits small;
  small.max_unfinished_bytes = 200'000;
  library with(small);
  client greedy(with.port());
  greedy.send("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n" +
              std::string(400'000, ' '));
  const auto got = greedy.receive();
  EXPECT_EQ(got.status, 503);
  EXPECT_EQ(got.fields.at("retry-after"), "1");
  EXPECT_EQ(got.fields.at("connection"), "close");
  EXPECT_TRUE(greedy.sees_the_end());

  client modest(with.port());
  modest.send(post(hondana_test::modern("server/discover", "7", "\"filler\":\"" + std::string(190'000, 'x') + "\",")));
  EXPECT_EQ(modest.receive().status, 200);
}

TEST(http_service, refuses_a_header_over_the_cap) {
  library with;
  client peer(with.port());
  peer.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + std::string(100'000, 'x') + "\r\n\r\n");
  EXPECT_EQ(peer.receive().status, 431);
  EXPECT_TRUE(peer.sees_the_end());
}

TEST(http_service, waits_for_permission_to_continue) {
  library with;
  client peer(with.port());
  const auto text = post(ping, "Expect: 100-continue\r\n");
  peer.send(text.substr(0, text.size() - ping.size()));
  EXPECT_EQ(peer.receive_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  peer.send(ping);
  EXPECT_EQ(peer.receive().status, 200);
}

TEST(http_service, serves_clients_of_http_1_0) {
  library with;
  client peer(with.port());
  peer.send(hondana_test::old_post(ping));
  const auto got = peer.receive();
  EXPECT_EQ(got.status, 200);
  EXPECT_EQ(got.fields.at("connection"), "close");
  EXPECT_TRUE(peer.sees_the_end());
}

TEST(http_service, reports_health_without_paths) {
  library with;
  client peer(with.port());
  peer.send(get("/healthz"));
  EXPECT_EQ(peer.receive().body, R"({"status":"ok","sources":[{"name":"shelf","ok":true}]})");
  with.source->is_well = false;
  peer.send(get("/healthz"));
  EXPECT_EQ(peer.receive().body, R"({"status":"degraded","sources":[{"name":"shelf","ok":false}]})");
  peer.send("HEAD /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const auto head = peer.receive(false);
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.fields.at("content-length"), "61");
}

TEST(http_service, refuses_strangers_on_every_route) {
  library with;
  for (const auto target : {"/mcp", "/sse", "/message", "/healthz", "/readyz", "/metrics", "/"}) {
    for (const auto fields : {"Host: evil.example", "Host: evil.example:7325", "Host: localhost\r\nOrigin: http://evil.example",
                              "Host: localhost\r\nOrigin: null"}) {
      client peer(with.port());
      peer.send("GET " + std::string(target) + " HTTP/1.1\r\n" + fields + "\r\n\r\n");
      EXPECT_EQ(peer.receive().status, 403) << target << ' ' << fields;
    }
  }
}

TEST(http_service, refuses_posts_a_foreign_page_could_send) {
  library with;
  for (const auto type : {"text/plain", "application/x-www-form-urlencoded"}) {
    client peer(with.port());
    peer.send("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nContent-Type: " + std::string(type) +
              "\r\n\r\n{}");
    EXPECT_EQ(peer.receive().status, 415) << type;
  }
}

TEST(http_service, tells_equal_ids_of_two_clients_apart) {
  library with;
  std::promise<void> both;
  const auto may_go = both.get_future().share();
  hondana_test::tally arrived;
  for (const std::string name : {"memo:///one", "memo:///two"}) {
    with.source->entries[name] = [&arrived, may_go, name](const auto&) {
      arrived.add();
      may_go.wait();
      return hondana::text_read_result("this is " + name);
    };
  }
  client first(with.port());
  client second(with.port());
  first.send(post(library::read("memo:///one", "1")));
  second.send(post(library::read("memo:///two", "1")));
  ASSERT_TRUE(arrived.reaches(1));
  both.set_value();
  EXPECT_NE(second.receive().body.find("this is memo:///two"), std::string::npos);
  EXPECT_NE(first.receive().body.find("this is memo:///one"), std::string::npos);
}

TEST(http_service, cancels_when_the_client_leaves) {
  const hondana::manual_clock clock;  // Deadlines stop work, too.
  library with;
  hondana_test::tally begun;
  std::promise<bool> stopped;
  with.source->entries["memo:///slow"] = [&](const hondana::read_request& request) -> hondana::result<hondana::read_result> {
    std::promise<void> asked;
    const std::stop_callback on_stop(request.stop, [&asked] { asked.set_value(); });
    begun.add();
    stopped.set_value(asked.get_future().wait_for(hondana_test::event_deadline) == std::future_status::ready);
    return hondana::fail(hondana::errc::cancelled, "Cancelled");
  };
  client peer(with.port());
  peer.send(post(library::read("memo:///slow")));
  ASSERT_TRUE(begun.reaches(1));
  peer.vanish();
  EXPECT_TRUE(stopped.get_future().get());
}

TEST(http_service, says_that_a_port_is_in_use_and_what_to_do) {
  library with;
  hondana::server other = must(hondana::server::create());
  const auto second = hondana::http_service::start(other, {"127.0.0.1", with.port()});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, hondana::errc::source_unavailable);
  EXPECT_EQ(second.error().public_text,
            "Cannot listen on 127.0.0.1:" + std::to_string(with.port()) +
                ": the port is already in use. Stop the program that uses it, or choose another port "
                "with --port (0 takes any free one).");
}

TEST(http_service, listens_on_loopback_literals_only) {
  hondana::server server = must(hondana::server::create());
  for (const auto address : {"0.0.0.0", "::", "192.0.2.1", "localhost", "", "127.0.0.1:80", "127.1", "evil.example"}) {
    const auto service = hondana::http_service::start(server, {address, 0});
    ASSERT_FALSE(service) << address;
    EXPECT_EQ(service.error().code, hondana::errc::invalid_argument) << address;
    EXPECT_TRUE(service.error().public_text.starts_with("Cannot listen on ")) << service.error().public_text;
  }
  const auto another = hondana::http_service::start(server, {"127.0.0.2", 0});
  ASSERT_TRUE(another) << another.error().public_text;
  EXPECT_NE(another->port(), 0);
}

TEST(http_service, can_listen_again_at_once_where_it_listened) {
  std::uint16_t port = 0;
  {
    library with;
    port = with.port();
    client peer(port);
    peer.send(post(ping));
    EXPECT_EQ(peer.receive().status, 200);
  }
  hondana::server server = must(hondana::server::create());
  EXPECT_TRUE(hondana::http_service::start(server, {"127.0.0.1", port}));
}

TEST(http_service, drain_finishes_the_request_under_way) {
  library with;
  hondana_test::tally begun;
  std::promise<void> go;
  with.source->entries["memo:///slow"] = [&](const auto&) {
    begun.add();
    go.get_future().wait();
    return hondana::text_read_result("finished");
  };
  client idle(with.port());
  idle.send(post(ping));
  EXPECT_EQ(idle.receive().status, 200);
  client busy(with.port());
  busy.send(post(library::read("memo:///slow")));
  ASSERT_TRUE(begun.reaches(1));

  auto drained = std::async(std::launch::async, [&] { with.service->drain(hondana_test::event_deadline); });
  EXPECT_TRUE(idle.sees_the_end());
  EXPECT_THROW(client(with.port()), std::runtime_error);
  go.set_value();
  const auto got = busy.receive();
  EXPECT_EQ(got.fields.at("connection"), "close");
  EXPECT_NE(got.body.find("finished"), std::string::npos);
  EXPECT_TRUE(busy.sees_the_end());
  EXPECT_EQ(drained.wait_for(hondana_test::event_deadline), std::future_status::ready);
}

TEST(http_service, drain_ends_a_stream_of_changes_that_is_asked_for_meanwhile) {
  library with;
  const auto listen = hondana_test::modern("subscriptions/listen", "1", R"("notifications":{"resourcesListChanged":true},)");
  const auto whole = post(listen);
  client asking(with.port());
  asking.send(whole.substr(0, whole.size() - 10));
  client idle(with.port());
  idle.send(post(ping));
  EXPECT_EQ(idle.receive().status, 200);
  auto drained = std::async(std::launch::async, [&] { with.service->drain(hondana_test::event_deadline); });
  EXPECT_TRUE(idle.sees_the_end());
  asking.send(whole.substr(whole.size() - 10));
  const auto got = asking.receive();
  EXPECT_NE(got.body.find("acknowledged"), std::string::npos) << got.body;
  EXPECT_NE(got.body.find("\"id\":1,\"result\""), std::string::npos) << got.body;
  EXPECT_EQ(drained.wait_for(hondana_test::event_deadline), std::future_status::ready);
}

TEST(http_service, drain_gives_up_at_its_limit) {
  library with;
  hondana_test::tally begun;
  std::promise<void> go;
  with.source->entries["memo:///stuck"] = [&](const auto&) {
    begun.add();
    go.get_future().wait();
    return hondana::text_read_result("too late");
  };
  client busy(with.port());
  busy.send(post(library::read("memo:///stuck")));
  ASSERT_TRUE(begun.reaches(1));
  with.service->drain(milliseconds(1));
  EXPECT_TRUE(busy.sees_the_end());
  EXPECT_EQ(with.service->connections(), 0u);
  go.set_value();
}

TEST(http_service, an_answer_after_the_end_goes_nowhere) {
  std::promise<void> go;
  hondana_test::tally begun;
  auto with = std::make_unique<library>();
  with->source->entries["memo:///slow"] = [&](const auto&) {
    begun.add();
    go.get_future().wait();
    return hondana::text_read_result("too late");
  };
  client peer(with->port());
  peer.send(post(library::read("memo:///slow")));
  ASSERT_TRUE(begun.reaches(1));
  with->service.reset();
  EXPECT_TRUE(peer.sees_the_end());
  go.set_value();
  with.reset();
}

}  // namespace
