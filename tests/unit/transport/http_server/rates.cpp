/// Callers who ask too much over HTTP: told so with a status and a time, as early as it is known.
#include <poll.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hondana/clock.hpp>

#include "unit/transport/http_server/client.hpp"
#include "unit/transport/http_server/guarded.hpp"
#include "unit/transport/http_server/protected_requests.hpp"
#include "unit/transport/http_server/shelf.hpp"

namespace {

using hondana_test::answer;
using hondana_test::ask;
using hondana_test::bearer;
using hondana_test::client;
using hondana_test::eventually;
using hondana_test::get;
using hondana_test::guarded;
using hondana_test::initialize;
using hondana_test::legacy_read;
using hondana_test::library;
using hondana_test::post;
using hondana_test::protected_post;
using hondana_test::who;
using testing::HasSubstr;

constexpr double never = 0.001;  // a second: none comes back while a test runs

hondana::server_options by_address(double burst) {
  hondana::server_options out;
  out.limits.per_address = {hondana::rate_quota{never, burst}, {}, {}};
  out.limits.limits_loopback = true;
  return out;
}

hondana::server_options by_identity(hondana::rate_quotas all) {
  hondana::server_options out;
  out.limits.per_identity = all;
  return out;
}

std::string field_of(const answer& got, const std::string& name) {
  const auto found = got.fields.find(name);
  return found == got.fields.end() ? std::string() : found->second;
}

int seconds_until(const answer& got) { return std::atoi(field_of(got, "retry-after").c_str()); }

std::string session_of(guarded& with, std::string_view token, std::string_view revision = "2025-03-26") {
  auto hello = initialize();
  hello.replace(hello.find("2025-11-25"), 10, revision);
  return field_of(ask(with, post(hello, bearer(token))), "mcp-session-id");
}

std::string in_session(const std::string& id, std::string_view token, const std::string& message) {
  return post(message, bearer(token) + "Mcp-Session-Id: " + id + "\r\n");
}

/// Which of them have something to read, once `wanted` have.
std::vector<bool> answered_first(const std::vector<client>& all, std::ptrdiff_t wanted) {
  std::vector<bool> out(all.size());
  EXPECT_TRUE(eventually([&] {
    std::vector<pollfd> sockets;
    for (const auto& one : all) sockets.push_back({one.socket(), POLLIN, 0});
    (void)::poll(sockets.data(), sockets.size(), 0);
    for (std::size_t i = 0; i < all.size(); ++i) out[i] = sockets[i].revents != 0;
    return std::count(out.begin(), out.end(), true) >= wanted;
  }));
  return out;
}

TEST(http_rates, an_address_is_refused_before_it_is_asked_who_it_is) {
  const hondana::manual_clock clock;
  guarded with(by_address(3));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(ask(with, post(who)).status, 401);
  const auto refused = ask(with, protected_post("slow-alice"));
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(seconds_until(refused), 1000);
  EXPECT_EQ(field_of(refused, "www-authenticate"), "");
  EXPECT_THAT(refused.body, HasSubstr(R"("error":{"code":429,"message":"Too many requests from this address: wait )"));
  EXPECT_THAT(refused.body, HasSubstr(R"("data":{"retryAfterMs":)"));
  EXPECT_EQ(with.clerk->asked.count(), 0u);
  EXPECT_NE(with.clerk->last().bearer_token, "slow-alice");
  EXPECT_THAT(with.log(), HasSubstr("refused 127.0.0.1 with 429: Too many requests from this address: wait "));
}

TEST(http_rates, an_address_is_refused_before_the_body_has_come) {
  guarded with(by_address(1));
  EXPECT_EQ(ask(with, post(who)).status, 401);
  auto peer = with.peer();
  const auto whole = protected_post("alice");
  peer.send(whole.substr(0, whole.find("\r\n\r\n") + 4));
  const auto refused = peer.receive();
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(field_of(refused, "connection"), "close");
  EXPECT_TRUE(peer.sees_the_end());
}

TEST(http_rates, other_addresses_are_served_and_so_are_reports) {
  guarded with(by_address(1));
  EXPECT_EQ(ask(with, protected_post("alice")).status, 200);
  EXPECT_EQ(ask(with, protected_post("alice")).status, 429);
  auto other = client::from_address("127.0.0.2", with.service->port());
  other.send(protected_post("alice"));
  EXPECT_EQ(other.receive().status, 200);
  EXPECT_EQ(ask(with, get("/healthz")).status, 200);
}

TEST(http_rates, this_machine_is_not_counted_unless_that_is_wanted) {
  auto options = by_address(1);
  options.limits.limits_loopback = false;
  guarded with(options);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(ask(with, protected_post("alice")).status, 200);
}

TEST(http_rates, clients_behind_a_trusted_proxy_count_by_their_own_networks) {
  hondana::http_options where;
  where.trusted_proxies = {"127.0.0.1"};
  auto options = by_address(1);
  options.limits.limits_loopback = false;
  guarded with(options, where);
  const auto from = [&](std::string_view address) {
    return ask(with, post(who, bearer("alice") + "X-Forwarded-For: " + std::string(address) + "\r\n")).status;
  };
  EXPECT_EQ(from("2001:db8::1"), 200);
  EXPECT_EQ(from("2001:db8::2"), 429);
  EXPECT_EQ(from("2001:db8:0:1::2"), 200);
  EXPECT_EQ(from("192.0.2.1"), 200);
  EXPECT_EQ(from("192.0.2.1"), 429);
}

TEST(http_rates, a_stateless_request_of_a_caller_is_refused_with_a_status) {
  const hondana::manual_clock clock;
  guarded with(by_identity({hondana::rate_quota{never, 2}, {}, {}}));
  for (int i = 0; i < 2; ++i) EXPECT_EQ(ask(with, protected_post("alice")).status, 200);
  const auto refused = ask(with, protected_post("alice"));
  EXPECT_EQ(refused.status, 429);
  EXPECT_GT(seconds_until(refused), 900);
  EXPECT_THAT(refused.body, HasSubstr(R"("id":1,"error":{"code":429,"message":"Too many requests from this caller)"));
  EXPECT_THAT(with.log(), HasSubstr("refused 127.0.0.1 (alice) with 429: Too many requests from this caller: wait "));
  for (int i = 0; i < 30; ++i) EXPECT_EQ(ask(with, protected_post("alice")).status, 429);
  const auto log = with.log();
  EXPECT_LT(std::count(log.begin(), log.end(), '\n'), 30) << "a line each would be a flood";
  EXPECT_EQ(ask(with, protected_post("bob")).status, 200);
}

TEST(http_rates, a_request_of_a_session_is_refused_with_a_status_and_the_session_lives_on) {
  guarded with(by_identity({hondana::rate_quota{never, 2}, {}, {}}));
  const auto id = session_of(with, "alice");
  ASSERT_FALSE(id.empty());
  EXPECT_THAT(ask(with, in_session(id, "alice", legacy_read)).body, HasSubstr("alice at "));
  const auto refused = ask(with, in_session(id, "alice", legacy_read));
  EXPECT_EQ(refused.status, 429);
  EXPECT_GT(seconds_until(refused), 900);
  EXPECT_THAT(refused.body, HasSubstr(R"("id":1,"error":{"code":429)"));
  ASSERT_TRUE(with.server.replace({}, {with.source}));
  EXPECT_THAT(ask(with, in_session(id, "alice", legacy_read)).body, HasSubstr("alice at "));
}

TEST(http_rates, a_client_of_the_oldest_transport_is_told_on_its_stream) {
  guarded with(by_identity({hondana::rate_quota{never, 1}, {}, {}}));
  auto stream = with.peer();
  stream.send("GET /sse HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n" + bearer("alice") + "\r\n");
  const auto greeting = stream.receive_until("\n\n");
  const auto place = greeting.find("/message?sessionId=");
  ASSERT_NE(place, std::string::npos) << greeting;
  const auto target = greeting.substr(place, greeting.find_first_of("\r\n", place) - place);
  const auto say = [&](const std::string& message) {
    return ask(with, "POST " + target + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: " +
                         std::to_string(message.size()) + "\r\n" + bearer("alice") + "\r\n" + message)
        .status;
  };
  auto hello = initialize();
  hello.replace(hello.find("2025-11-25"), 10, "2024-11-05");
  EXPECT_EQ(say(hello), 202);
  EXPECT_THAT(stream.receive_until("\n\n"), HasSubstr(R"("id":0,"result")"));
  EXPECT_EQ(say(legacy_read), 202);
  const auto told = stream.receive_until("\n\n");
  EXPECT_THAT(told, HasSubstr(R"("id":1,"error":{"code":429)"));
  EXPECT_THAT(told, HasSubstr(R"("data":{"retryAfterMs":)"));
}

TEST(http_rates, each_message_of_a_batch_counts_for_its_address_too) {
  auto options = by_address(4);
  guarded with(options);
  const auto id = session_of(with, "alice");  // the first of them
  std::string batch = "[";
  for (int i = 1; i <= 4; ++i) {
    batch += (i == 1 ? "" : ",") + std::string(R"({"jsonrpc":"2.0","id":)") + std::to_string(i) + R"(,"method":"ping"})";
  }
  const auto got = ask(with, in_session(id, "alice", batch + "]"));
  EXPECT_EQ(got.status, 200);
  EXPECT_THAT(got.body, HasSubstr(R"("id":3,"result")"));
  EXPECT_THAT(got.body, HasSubstr(R"("id":4,"error":{"code":429)"));
}

TEST(http_rates, whoever_has_had_too_many_bytes_waits_until_they_are_made_up_for) {
  const hondana::manual_clock clock;
  auto options = by_identity({{}, hondana::rate_quota{1000, 1000}, {}});
  guarded with(options);
  with.source->entries["memo:///long"] = [](const auto&) { return hondana::text_read_result(std::string(50'000, 'x')); };
  EXPECT_EQ(ask(with, protected_post("alice", library::read("memo:///long"))).status, 200);
  // An answer is charged for when it was written, perhaps a moment after it was read.
  answer refused;
  EXPECT_TRUE(eventually([&] {
    refused = ask(with, protected_post("alice"));
    return refused.status == 429;
  }));
  EXPECT_GE(seconds_until(refused), 49);
  EXPECT_THAT(refused.body, HasSubstr("Too many response bytes from this caller"));
  EXPECT_EQ(ask(with, protected_post("bob")).status, 200);
}

TEST(http_rates, an_answer_that_its_reader_leaves_half_way_is_charged_for_what_was_written) {
  const hondana::manual_clock clock;
  auto options = by_identity({{}, hondana::rate_quota{1000, 1000}, {}});
  guarded with(options);
  const auto given = std::make_shared<std::atomic<std::uint64_t>>(0);
  with.source->entries["memo:///huge"] = [given](const auto&) -> hondana::result<hondana::read_result> {
    hondana::read_result out;
    hondana::resource_content one;
    one.data = std::make_shared<hondana_test::letters>(64u << 20, given);
    out.contents.push_back(std::move(one));
    return out;
  };
  {
    client peer(with.service->port(), 4096);
    peer.send(protected_post("alice", library::read("memo:///huge")));
    EXPECT_THAT(peer.receive_until("xxxx"), HasSubstr("200 OK"));
    peer.vanish();
  }
  // Until the server has noticed, the answer is not over.
  EXPECT_TRUE(eventually([&] { return ask(with, protected_post("alice")).status == 429; }));
  EXPECT_LT(*given, 64u << 20) << "it was read to its end for nobody";
}

TEST(http_rates, a_flood_of_unknown_tokens_from_one_network_leaves_room_for_others) {
  const hondana::manual_clock clock;
  hondana::http_options where;
  where.trusted_proxies = {"127.0.0.1"};
  guarded with({}, where);
  const auto from = [](std::string_view address, std::string_view token) {
    return post(who, bearer(token) + "X-Forwarded-For: " + std::string(address) + "\r\n");
  };
  std::vector<client> flood;
  for (int i = 0; i < 40; ++i) {
    const bool has_begun = i != 2 || with.clerk->asked.reaches(2);
    ASSERT_TRUE(has_begun);
    flood.push_back(with.peer());
    flood.back().send(from("192.0.2.1", "slow-" + std::to_string(i)));
  }
  // 2 are asked about and 32 wait; the others are told at once.
  const auto is_refused = answered_first(flood, 6);
  EXPECT_EQ(std::count(is_refused.begin(), is_refused.end(), true), 6);
  for (std::size_t i = 0; i < flood.size(); ++i) {
    if (!is_refused[i]) continue;
    const auto got = flood[i].receive();
    EXPECT_EQ(got.status, 503);
    EXPECT_EQ(field_of(got, "retry-after"), "1");
  }
  auto other = with.peer();
  other.send(from("198.51.100.1", "slow-bob"));
  EXPECT_TRUE(with.clerk->asked.reaches(3)) << "one network has all threads that ask";
  EXPECT_EQ(with.clerk->asked.count(), 3u);
  with.clerk->open();
  EXPECT_THAT(other.receive().body, HasSubstr("bob at 198.51.100.1"));
  for (std::size_t i = 0; i < flood.size(); ++i) {
    if (is_refused[i]) continue;
    EXPECT_EQ(flood[i].receive().status, 200) << i;
  }
}

}  // namespace
