/// The HTTP/1 state machine while it is found out who asks.
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <hondana/clock.hpp>

#include "transport/http_server/http1_protocol.hpp"
#include "unit/transport/http_server/script.hpp"

namespace {

using hondana_test::bare_post;
using hondana_test::first_line;
using hondana_test::script;
namespace http = hondana::transport::http_server;
using strings = std::vector<std::string>;

http::http1_handler::auth_outcome refused() { return tl::unexpected(http::error_response(401, "Unauthorized")); }

TEST(dialogue_with_callers, asks_once_a_request_and_only_where_it_matters) {
  script with;
  with.talk.receive("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
  with.taken();
  with.talk.receive("OPTIONS /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n");
  with.taken();
  with.talk.receive("GET /elsewhere HTTP/1.1\r\nHost: localhost\r\n\r\n");
  with.taken();
  with.talk.receive("POST /mcp HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 0\r\n\r\n");
  with.taken();
  EXPECT_EQ(with.asked.asked_who, 0);
  for (const char byte : bare_post("{}")) with.talk.receive(std::string_view(&byte, 1));
  EXPECT_EQ(with.asked.asked_who, 1);
  EXPECT_EQ(with.asked.messages, strings{"{}"});
}

TEST(dialogue_with_callers, hands_a_message_in_once_it_is_known_who_asks) {
  script with;
  with.asked.awaits_identity = true;
  with.talk.receive(bare_post("one") + bare_post("two"));
  EXPECT_EQ(with.asked.messages, strings{});
  EXPECT_TRUE(with.talk.output().empty());
  EXPECT_TRUE(with.talk.is_authenticating(with.asked.identifying));
  with.talk.on_authenticated(with.asked.identifying, {});
  EXPECT_EQ(with.asked.messages, strings{"one"});
  with.asked.awaits_identity = false;
  with.answer("1");
  EXPECT_TRUE(with.taken().ends_with("\r\n\r\n1"));
  EXPECT_EQ(with.asked.messages, (strings{"one", "two"}));
}

TEST(dialogue_with_callers, refuses_before_the_body_has_come) {
  script with;
  with.asked.identity = refused();
  with.talk.receive(
      "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n"
      "Expect: 100-continue\r\n\r\n");
  const auto answer = with.taken();
  EXPECT_EQ(first_line(answer), "HTTP/1.1 401 Unauthorized");
  EXPECT_NE(answer.find("\r\nConnection: close\r\n"), std::string::npos) << "what is left would be taken for a request";
  EXPECT_TRUE(with.talk.has_sent_all());
}

TEST(dialogue_with_callers, refuses_a_request_without_a_body_and_takes_the_next) {
  script with;
  with.asked.awaits_identity = true;
  with.talk.receive("DELETE /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n");
  with.talk.on_authenticated(with.asked.identifying, refused());
  EXPECT_EQ(first_line(with.taken()), "HTTP/1.1 401 Unauthorized");
  EXPECT_TRUE(with.asked.left.empty());
  with.asked.awaits_identity = false;
  with.talk.receive(bare_post("{}"));
  EXPECT_EQ(with.asked.messages, strings{"{}"});
}

TEST(dialogue_with_callers, reads_no_more_than_pipelined_bytes_while_it_waits) {
  http::limits small;
  small.max_pipelined_bytes = 80;
  script with(small);
  with.asked.awaits_identity = true;
  with.talk.receive("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 200\r\n\r\n");
  EXPECT_TRUE(with.talk.wants_input());
  with.talk.receive(std::string(100, 'x'));
  EXPECT_FALSE(with.talk.wants_input());
  with.talk.on_authenticated(with.asked.identifying, {});
  EXPECT_TRUE(with.talk.wants_input());
  with.talk.receive(std::string(100, 'y'));
  EXPECT_EQ(with.asked.messages, strings{std::string(100, 'x') + std::string(100, 'y')});
}

TEST(dialogue_with_callers, gives_leave_to_send_a_body_only_to_those_who_are_known) {
  script with;
  with.asked.awaits_identity = true;
  with.talk.receive(
      "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\n"
      "Expect: 100-continue\r\n\r\n");
  EXPECT_TRUE(with.talk.output().empty());
  with.talk.on_authenticated(with.asked.identifying, {});
  EXPECT_EQ(with.taken(), "HTTP/1.1 100 Continue\r\n\r\n");
  with.talk.receive("{}");
  EXPECT_EQ(with.asked.messages, strings{"{}"});
}

TEST(dialogue_with_callers, drops_news_that_come_late_or_of_another_request) {
  script with;
  with.asked.awaits_identity = true;
  with.talk.receive("DELETE /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const auto first = with.asked.identifying;
  with.talk.expire();
  const auto late = with.taken();
  EXPECT_EQ(first_line(late), "HTTP/1.1 503 Service Unavailable");
  EXPECT_NE(late.find("\r\nRetry-After: 1\r\n"), std::string::npos);
  with.talk.on_authenticated(first, {});
  EXPECT_TRUE(with.talk.output().empty());
  with.talk.receive("DELETE /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_NE(with.asked.identifying, first);
  with.talk.on_authenticated(first, {});
  EXPECT_TRUE(with.asked.left.empty());
  with.talk.on_authenticated(with.asked.identifying, {});
  EXPECT_EQ(with.asked.left.size(), 1u);
}

TEST(dialogue_with_callers, waits_for_them_as_long_as_for_a_source) {
  const hondana::manual_clock clock;
  http::limits slow;
  slow.pull_timeout = std::chrono::hours(1);
  script with(slow);
  with.asked.awaits_identity = true;
  with.talk.receive(bare_post("{}"));
  EXPECT_EQ(with.talk.deadline(), http::http1_protocol::clock::now() + std::chrono::hours(1));
}

TEST(dialogue_with_callers, ends_when_the_peer_leaves_meanwhile) {
  script with;
  with.asked.awaits_identity = true;
  with.talk.receive(bare_post("{}"));
  with.talk.end_of_input();
  EXPECT_TRUE(with.talk.is_closed());
  with.talk.on_authenticated(with.asked.identifying, {});
  EXPECT_TRUE(with.talk.output().empty());
  EXPECT_EQ(with.asked.messages, strings{});
}

TEST(dialogue_with_callers, answers_them_when_the_server_stops_meanwhile) {
  script with;
  with.asked.awaits_identity = true;
  with.talk.receive(bare_post("{}"));
  with.talk.drain();
  EXPECT_FALSE(with.talk.is_closed());
  with.talk.on_authenticated(with.asked.identifying, {});
  ASSERT_EQ(with.asked.messages, strings{"{}"});
  with.answer("1");
  EXPECT_NE(with.taken().find("\r\nConnection: close\r\n"), std::string::npos);
}

TEST(dialogue_with_callers, gives_metadata_that_may_be_kept) {
  script with;
  with.talk.receive("GET /.well-known/oauth-protected-resource/mcp?x=y HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const auto answer = with.taken();
  EXPECT_TRUE(answer.ends_with("\r\n\r\n{\"about\":\"/mcp\"}")) << answer;
  EXPECT_NE(answer.find("\r\nCache-Control: max-age=300\r\n"), std::string::npos);
  EXPECT_EQ(answer.find("no-store"), std::string::npos);
}

}  // namespace
