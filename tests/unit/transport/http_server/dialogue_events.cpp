/// The HTTP/1 state machine, event by event: answers that are streams of events.
#include <chrono>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "unit/transport/http_server/script.hpp"

namespace {

using hondana_test::bare_post;
using hondana_test::first_line;
using hondana_test::script;
namespace http = hondana::transport::http_server;
namespace rpc = hondana::rpc;
using kind = http::portion::kind;

http::portion portion(kind what, std::string text = {}, std::string id = {}) {
  http::portion out;
  out.type = what;
  if (!text.empty()) out.content.content = rpc::body(std::move(text));
  out.id = std::move(id);
  return out;
}

std::string get_stream(std::string_view target = "/mcp") {
  return "GET " + std::string(target) +
         " HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\nMcp-Session-Id: s\r\n\r\n";
}

/// The body of an answer whose head has been taken off.
std::string chunk(const std::string& text) {
  char size[16];
  std::snprintf(size, sizeof size, "%zx\r\n", text.size());
  return size + text + "\r\n";
}

TEST(dialogue_events, sends_each_message_as_an_event_and_ends_with_the_answer) {
  script with;
  with.talk.receive(bare_post("{}"));
  with.talk.send_portion(with.asked.last, portion(kind::opening, {}, "4-1"));
  const auto head = with.taken();
  EXPECT_EQ(first_line(head), "HTTP/1.1 200 OK");
  EXPECT_NE(head.find("Content-Type: text/event-stream\r\n"), std::string::npos);
  EXPECT_NE(head.find("X-Accel-Buffering: no\r\n"), std::string::npos);
  EXPECT_NE(head.find("Cache-Control: no-cache\r\n"), std::string::npos);
  EXPECT_EQ(head.find("no-store"), std::string::npos);
  EXPECT_TRUE(head.ends_with("\r\n\r\n" + chunk("id: 4-1\ndata: \n\n"))) << head;
  EXPECT_TRUE(with.talk.wants_portion());
  with.talk.send_portion(with.asked.last, portion(kind::message, "[1]", "4-2"));
  EXPECT_EQ(with.taken(), chunk("id: 4-2\ndata: [1]\n\n"));
  with.talk.send_portion(with.asked.last, portion(kind::answer, "[2]", "4-3"));
  EXPECT_EQ(with.taken(), chunk("id: 4-3\ndata: [2]\n\n") + "0\r\n\r\n");
  EXPECT_FALSE(with.talk.wants_portion());
  EXPECT_TRUE(with.talk.wants_input());
  EXPECT_FALSE(with.talk.is_closed());
  with.talk.receive(bare_post("3"));
  EXPECT_EQ(with.asked.messages.back(), "3") << "the connection lives on";
}

TEST(dialogue_events, wants_no_message_while_the_peer_has_not_taken_the_last) {
  script with;
  with.talk.receive(bare_post("{}"));
  with.talk.send_portion(with.asked.last, portion(kind::opening));
  EXPECT_FALSE(with.talk.wants_portion());
  with.talk.send_portion(with.asked.last, portion(kind::message, "[1]"));
  EXPECT_EQ(with.taken().find("data"), std::string::npos) << "it was not asked for";
  with.talk.send_portion(with.asked.last, portion(kind::message, "[2]"));
  EXPECT_EQ(with.taken(), chunk("data: [2]\n\n"));
}

TEST(dialogue_events, breaks_no_event_at_a_line_end_inside_a_message) {
  script with;
  with.talk.receive(bare_post("{}"));
  with.talk.send_portion(with.asked.last, portion(kind::opening));
  with.taken();
  with.talk.send_portion(with.asked.last, portion(kind::message, "{\n\"a\":\r1}"));
  EXPECT_EQ(with.taken(), chunk("data: {\ndata: \"a\":\ndata: 1}\n\n"));
}

TEST(dialogue_events, an_idle_stream_gives_signs_of_life) {
  script with;
  with.talk.receive(get_stream());
  with.talk.send_portion(with.asked.last, portion(kind::opening));
  with.taken();
  EXPECT_LT(with.talk.deadline(), http::http1_protocol::clock::time_point::max());
  with.talk.expire();
  EXPECT_EQ(with.taken(), chunk(":\n\n"));
  EXPECT_TRUE(with.talk.wants_portion());
  with.talk.expire();
  EXPECT_EQ(with.taken(), chunk(":\n\n"));
  EXPECT_FALSE(with.talk.is_closed());
}

TEST(dialogue_events, gives_up_on_a_peer_that_takes_nothing) {
  script with;
  with.talk.receive(get_stream());
  with.talk.send_portion(with.asked.last, portion(kind::opening));
  with.talk.expire();
  EXPECT_TRUE(with.talk.is_closed());
  EXPECT_TRUE(with.talk.was_truncated());
}

TEST(dialogue_events, tells_the_host_when_the_peer_of_a_stream_has_gone) {
  script with;
  with.talk.receive(get_stream());
  with.talk.send_portion(with.asked.last, portion(kind::opening));
  with.taken();
  EXPECT_TRUE(with.talk.wants_input());
  with.talk.end_of_input();
  EXPECT_EQ(with.asked.forgotten, 1);
  EXPECT_TRUE(with.talk.is_closed());
}

// requires: 2025-11-25/transports.retry_before_closing
TEST(dialogue_events, closes_a_released_stream_after_saying_when_to_come_back) {
  script with;
  with.talk.receive(bare_post("{}"));
  with.talk.send_portion(with.asked.last, portion(kind::opening, {}, "4-1"));
  with.taken();
  auto pause = portion(kind::retry);
  pause.delay = std::chrono::milliseconds(500);
  with.talk.send_portion(with.asked.last, std::move(pause));
  EXPECT_EQ(with.taken(), chunk("retry: 500\n\n") + "0\r\n\r\n");
  EXPECT_FALSE(with.talk.wants_portion());
  EXPECT_TRUE(with.talk.wants_input());
}

TEST(dialogue_events, ends_a_stream_that_is_over_without_an_answer) {
  script with;
  with.talk.receive(get_stream());
  with.talk.send_portion(with.asked.last, portion(kind::opening));
  with.taken();
  with.talk.send_portion(with.asked.last, portion(kind::end));
  EXPECT_EQ(with.taken(), "0\r\n\r\n");
  EXPECT_TRUE(with.talk.wants_input());

  script before;
  before.talk.receive(bare_post("{}"));
  before.talk.send_portion(before.asked.last, portion(kind::end));
  EXPECT_EQ(first_line(before.taken()), "HTTP/1.1 404 Not Found");
}

TEST(dialogue_events, refuses_a_stream_as_its_host_says) {
  script with;
  with.asked.refuses_stream = rpc::outgoing_response{404, rpc::body("{}")};
  with.talk.receive(get_stream() + get_stream());
  const auto answers = with.taken();
  EXPECT_EQ(first_line(answers), "HTTP/1.1 404 Not Found");
  EXPECT_EQ(with.asked.opened.size(), 2u) << "the connection lives on";
  EXPECT_EQ(with.asked.opened.front().session_id, "s");
}

TEST(dialogue_events, a_session_is_left_by_delete) {
  script with;
  with.talk.receive("DELETE /mcp HTTP/1.1\r\nHost: localhost\r\nMcp-Session-Id: s\r\n\r\n");
  const auto answer = with.taken();
  EXPECT_EQ(first_line(answer), "HTTP/1.1 204 No Content");
  EXPECT_EQ(answer.find("Content-Length"), std::string::npos);
  ASSERT_EQ(with.asked.left.size(), 1u);
  EXPECT_EQ(with.asked.left.front().session_id, "s");
}

TEST(dialogue_events, old_clients_get_events_until_the_connection_closes) {
  script with;
  with.talk.receive("POST /mcp HTTP/1.0\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}");
  with.talk.send_portion(with.asked.last, portion(kind::opening));
  const auto head = with.taken();
  EXPECT_EQ(head.find("Transfer-Encoding"), std::string::npos);
  EXPECT_NE(head.find("Connection: close\r\n"), std::string::npos);
  with.talk.send_portion(with.asked.last, portion(kind::message, "[1]"));
  EXPECT_EQ(with.taken(), "data: [1]\n\n");
  with.talk.send_portion(with.asked.last, portion(kind::end));
  EXPECT_EQ(with.taken(), "");
  EXPECT_TRUE(with.talk.has_sent_all());
}

TEST(dialogue_events, draining_ends_streams_that_have_no_end_of_their_own) {
  for (const bool is_idle : {true, false}) {
    script with;
    with.talk.receive(get_stream());
    with.talk.send_portion(with.asked.last, portion(kind::opening));
    if (is_idle) with.taken();
    with.talk.drain();
    EXPECT_TRUE(with.taken().ends_with("0\r\n\r\n")) << is_idle;
    EXPECT_EQ(with.asked.forgotten, 1) << is_idle;
    EXPECT_TRUE(with.talk.is_closed()) << is_idle;
  }
  script asked;
  asked.talk.receive(bare_post("{}"));
  asked.talk.send_portion(asked.asked.last, portion(kind::opening));
  asked.taken();
  asked.talk.drain();
  EXPECT_TRUE(asked.talk.wants_portion()) << "an answer is still to come";
  asked.talk.send_portion(asked.asked.last, portion(kind::answer, "[1]"));
  EXPECT_EQ(asked.taken(), chunk("data: [1]\n\n") + "0\r\n\r\n");
  EXPECT_TRUE(asked.talk.is_closed());
}

TEST(dialogue_events, the_pair_of_the_oldest_revision_opens_a_stream_and_accepts_messages) {
  script with;
  with.talk.receive(get_stream("/sse"));
  auto first = portion(kind::message, "/message?sessionId=x");
  first.event = "endpoint";
  with.talk.send_portion(with.asked.last, portion(kind::opening));
  with.taken();
  with.talk.send_portion(with.asked.last, std::move(first));
  EXPECT_EQ(with.taken(), chunk("event: endpoint\ndata: /message?sessionId=x\n\n"));

  script other;
  other.talk.receive(
      "POST /message?sessionId=x HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}");
  EXPECT_EQ(first_line(other.taken()), "HTTP/1.1 202 Accepted");
  EXPECT_EQ(other.asked.paired, std::vector<std::string>{"{}"});
}

}  // namespace
