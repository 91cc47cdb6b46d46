/// Callers about whom others must be asked first.
#include <poll.h>

#include <chrono>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hondana/clock.hpp>

#include "unit/transport/http_server/client.hpp"
#include "unit/transport/http_server/guarded.hpp"
#include "unit/transport/http_server/protected_requests.hpp"
#include "unit/transport/http_server/shelf.hpp"

namespace {

using hondana_test::ask;
using hondana_test::bearer;
using hondana_test::client;
using hondana_test::eventually;
using hondana_test::guarded;
using hondana_test::post;
using hondana_test::protected_post;
using hondana_test::who;
using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::Not;

/// True once so many of them have something to read.
bool are_answered(const std::vector<client>& peers, int count) {
  std::vector<pollfd> all;
  for (const auto& one : peers) all.push_back({one.socket(), POLLIN, 0});
  return eventually([&] { return ::poll(all.data(), all.size(), 0) >= count; });
}

TEST(callers, that_must_be_asked_about_wait_while_others_are_served) {
  guarded with;
  auto waiting = with.peer();
  const auto request = post(who, bearer("slow-alice"));
  const auto body = request.find("\r\n\r\n") + 4;
  waiting.send(request.substr(0, body));
  ASSERT_TRUE(with.clerk->asked.reaches(1));
  EXPECT_THAT(ask(with, protected_post("bob")).body, HasSubstr("\"bob at "));
  waiting.send(request.substr(body) + protected_post("carol"));
  with.clerk->open();
  EXPECT_THAT(waiting.receive().body, HasSubstr("\"alice at 127.0.0.1\""));
  EXPECT_THAT(waiting.receive().body, HasSubstr("\"carol at "));
}

TEST(callers, that_must_be_asked_about_are_given_leave_to_send_their_body_afterwards) {
  guarded with;
  auto peer = with.peer();
  const auto request = post(who, bearer("slow-alice") + "Expect: 100-continue\r\n");
  const auto body = request.find("\r\n\r\n") + 4;
  peer.send(request.substr(0, body));
  ASSERT_TRUE(with.clerk->asked.reaches(1));
  with.clerk->open();
  EXPECT_EQ(peer.receive_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  peer.send(request.substr(body));
  EXPECT_THAT(peer.receive().body, HasSubstr("\"alice at "));
}

TEST(callers, about_whom_nobody_answers_are_told_so_when_their_time_is_over) {
  hondana::manual_clock clock;
  hondana::server_options options;
  options.call_timeout = milliseconds(200);
  guarded with(options);
  auto peer = with.peer();
  peer.send("DELETE /mcp HTTP/1.1\r\nHost: localhost\r\n" + bearer("slow-alice") + "\r\n");
  ASSERT_TRUE(with.clerk->asked.reaches(1));
  EXPECT_TRUE(eventually([&] {
    clock.advance(milliseconds(200));
    return peer.has_received("\r\n");
  }));
  const auto got = peer.receive();
  EXPECT_EQ(got.status, 503);
  EXPECT_EQ(got.fields.at("retry-after"), "1");
  // Late news of one request is none of the next one's.
  peer.send("DELETE /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(peer.receive().status, 401);
  with.clerk->open();
  peer.send(protected_post("bob"));
  EXPECT_THAT(peer.receive().body, HasSubstr("\"bob at "));
}

TEST(callers, about_whom_an_authenticator_throws_are_told_to_come_back) {
  guarded with;
  const auto got = ask(with, protected_post("failing"));
  EXPECT_EQ(got.status, 503);
  EXPECT_EQ(got.fields.at("retry-after"), "1");
  EXPECT_THAT(got.body, Not(HasSubstr("the test's authenticator")));
  EXPECT_THAT(with.log(), HasSubstr("the test's authenticator fails"));
}

TEST(callers, that_flood_with_unknown_tokens_are_bounded_and_others_served) {
  const hondana::manual_clock clock;
  guarded with;
  std::vector<client> flood;
  constexpr std::size_t more_than_wait = 4 + 256 + 20;
  for (std::size_t i = 0; i < more_than_wait; ++i) {
    flood.push_back(with.peer());
    flood.back().send("DELETE /mcp HTTP/1.1\r\nHost: localhost\r\n" + bearer("slow-" + std::to_string(i)) + "\r\n");
  }
  ASSERT_TRUE(with.clerk->asked.reaches(4));
  EXPECT_THAT(ask(with, protected_post("bob")).body, HasSubstr("\"bob at "));
  ASSERT_TRUE(are_answered(flood, 20)) << "more wait than may";
  with.clerk->open();
  std::size_t busy = 0;
  std::size_t known = 0;
  for (auto& one : flood) {
    const auto got = one.receive();
    if (got.status == 503 && got.fields.at("retry-after") == "1") ++busy;
    if (got.status == 400) ++known;  // there is no session to end
  }
  EXPECT_GE(busy, 20u);
  EXPECT_GE(known, 256u);
  EXPECT_EQ(busy + known, more_than_wait);
}

// attacks: ending other people's streams by a flood of unknown tokens
TEST(callers, whose_streams_are_open_are_asked_about_again_while_a_flood_of_unknown_tokens_waits) {
  hondana::manual_clock clock;
  hondana::server_options options;
  options.call_timeout = std::chrono::hours(24);  // The flood waits longer than this test.
  guarded with(options);
  with.clerk->holds = milliseconds(50);
  auto stream = with.peer();
  stream.send(protected_post(
      "brief-alice", hondana_test::modern("subscriptions/listen", "9", R"("notifications":{"resourcesListChanged":true},)")));
  EXPECT_THAT(stream.receive_until("\n\n"), HasSubstr("200 OK"));
  std::vector<client> flood;
  constexpr std::size_t more_than_wait = 4 + 256 + 20;
  for (std::size_t i = 0; i < more_than_wait; ++i) {
    flood.push_back(with.peer());
    flood.back().send("DELETE /mcp HTTP/1.1\r\nHost: localhost\r\n" + bearer("slow-" + std::to_string(i)) + "\r\n");
  }
  ASSERT_TRUE(are_answered(flood, 20)) << "more wait than may";
  // Every thread for strangers is taken, and their queue is full.
  const auto before = with.clerk->asked.count();
  EXPECT_TRUE(eventually([&] {
    clock.advance(std::chrono::seconds(1));
    return with.clerk->asked.count() >= before + 2;
  }));
  with.server.notify_resources_changed();
  EXPECT_THAT(stream.receive_until("list_changed"), HasSubstr("list_changed"));
}

TEST(callers, that_leave_while_they_are_asked_about_are_let_go) {
  hondana::http_options small;
  small.max_connections = 1;
  guarded with({}, small);
  auto first = with.peer();
  first.send(post(who, bearer("slow-alice")));
  ASSERT_TRUE(with.clerk->asked.reaches(1));
  first.vanish();
  // The one place there is becomes free although nobody has answered yet.
  EXPECT_TRUE(eventually([&] { return ask(with, protected_post("bob")).status == 200; }));
}

TEST(callers, that_are_asked_about_when_the_server_stops_do_not_keep_it) {
  guarded with;
  auto peer = with.peer();
  peer.send(post(who, bearer("slow-alice")));
  ASSERT_TRUE(with.clerk->asked.reaches(1));
  with.service->drain(milliseconds(0));
  EXPECT_TRUE(peer.sees_the_end());
}

}  // namespace
