/// The HTTP/1 state machine, event by event: requests, refusals, deadlines and endings.
#include "transport/http_server/http1_protocol.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <hondana/clock.hpp>

#include "unit/transport/http_server/script.hpp"

namespace {

using hondana_test::bare_post;
using hondana_test::chunked_post;
using hondana_test::first_line;
using hondana_test::script;
namespace http = hondana::transport::http_server;
namespace rpc = hondana::rpc;
using std::chrono::milliseconds;

/// The answer without its Date.
std::string undated(std::string answer) {
  for (auto at = answer.find("Date: "); at != std::string::npos; at = answer.find("Date: ", at)) {
    answer.erase(at, answer.find("\r\n", at) + 2 - at);
  }
  return answer;
}

TEST(dialogue, answers_a_message_in_one_piece) {
  script with;
  with.talk.receive(bare_post("{}"));
  ASSERT_EQ(with.asked.messages, std::vector<std::string>{"{}"});
  EXPECT_TRUE(with.talk.output().empty());
  with.answer("[1]");
  EXPECT_EQ(undated(with.taken()),
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 3\r\nCache-Control: no-store\r\n"
            "X-Content-Type-Options: nosniff\r\n\r\n[1]");
  EXPECT_FALSE(with.talk.is_closed());
  EXPECT_TRUE(with.talk.wants_input());
}

TEST(dialogue, dates_its_answers) {
  script with;
  with.talk.receive("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const auto answer = with.taken();
  const auto at = answer.find("\r\nDate: ");
  ASSERT_NE(at, std::string::npos);
  EXPECT_EQ(answer.substr(at + 33, 6), " GMT\r\n") << answer;
}

TEST(dialogue, takes_a_message_one_byte_at_a_time) {
  script with;
  for (const char byte : std::string(chunked_post) + "2\r\n{}\r\n0\r\n\r\n") with.talk.receive(std::string_view(&byte, 1));
  EXPECT_EQ(with.asked.messages, std::vector<std::string>{"{}"});
}

TEST(dialogue, answers_accepted_without_content) {
  script with;
  with.talk.receive(bare_post("{}"));
  with.talk.send_response(with.asked.last, {202, std::nullopt});
  EXPECT_EQ(undated(with.taken()),
            "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n\r\n");
}

TEST(dialogue, answers_pipelined_requests_in_order) {
  script with;
  with.talk.receive(bare_post("1") + "\r\n" + bare_post("2") + "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n" +
                    bare_post("3"));
  EXPECT_EQ(with.asked.messages, std::vector<std::string>{"1"});
  with.answer("one");
  EXPECT_TRUE(with.taken().ends_with("\r\n\r\none"));
  EXPECT_EQ(with.asked.messages, (std::vector<std::string>{"1", "2"}));
  with.answer("two");
  const auto rest = with.taken();
  EXPECT_NE(rest.find("\r\n\r\ntwo"), std::string::npos);
  EXPECT_TRUE(rest.ends_with(R"({"status":"ok"})"));
  EXPECT_EQ(with.asked.messages, (std::vector<std::string>{"1", "2", "3"}));
}

TEST(dialogue, stops_reading_while_enough_is_waiting) {
  http::limits small;
  small.max_pipelined_bytes = 80;
  script with(small);
  with.talk.receive(bare_post("1"));
  EXPECT_TRUE(with.talk.wants_input());
  with.talk.receive(bare_post("2"));
  EXPECT_FALSE(with.talk.wants_input());
  with.answer("one");
  with.taken();
  EXPECT_TRUE(with.talk.wants_input());
}

TEST(dialogue, drops_an_answer_that_comes_twice_or_late) {
  script with;
  with.talk.receive(bare_post("1"));
  const auto first = with.asked.last;
  with.answer("one");
  with.answer("one again");
  EXPECT_TRUE(with.taken().ends_with("\r\n\r\none"));
  with.talk.receive(bare_post("2"));
  with.talk.send_response(first, {200, rpc::body("late")});
  EXPECT_TRUE(with.talk.output().empty());
}

TEST(dialogue, asks_to_continue_only_when_the_body_is_awaited) {
  script with;
  const auto whole = bare_post("{}", "Expect: 100-continue\r\n");
  with.talk.receive(whole.substr(0, whole.size() - 2));
  EXPECT_EQ(with.taken(), "HTTP/1.1 100 Continue\r\n\r\n");
  with.talk.receive("{}");
  EXPECT_EQ(with.asked.messages.size(), 1u);
  with.answer("done");
  EXPECT_EQ(first_line(with.taken()), "HTTP/1.1 200 OK");
  with.talk.receive(whole);
  EXPECT_EQ(with.taken(), "");
  EXPECT_EQ(with.asked.messages.size(), 2u);
}

TEST(dialogue, does_not_ask_to_continue_what_it_refuses) {
  script with;
  with.talk.receive(
      "POST /mcp HTTP/1.1\r\nHost: evil.example\r\nContent-Type: application/json\r\nContent-Length: 5\r\n"
      "Expect: 100-continue\r\n\r\n");
  const auto answer = with.taken();
  EXPECT_EQ(first_line(answer), "HTTP/1.1 403 Forbidden");
  EXPECT_NE(answer.find("Connection: close\r\n"), std::string::npos);
  EXPECT_TRUE(with.talk.has_sent_all());
}

TEST(dialogue, keeps_the_connection_after_a_refusal_without_a_body) {
  script with;
  with.talk.receive("GET /nowhere HTTP/1.1\r\nHost: localhost\r\n\r\nPUT /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const auto answers = with.taken();
  EXPECT_EQ(first_line(answers), "HTTP/1.1 404 Not Found");
  EXPECT_NE(answers.find("HTTP/1.1 405 Method Not Allowed\r\n"), std::string::npos);
  EXPECT_EQ(answers.find("Connection: close"), std::string::npos);
}

TEST(dialogue, answers_head_without_content) {
  script with;
  with.talk.receive("HEAD /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const auto answer = with.taken();
  EXPECT_NE(answer.find("Content-Length: 15\r\n"), std::string::npos);
  EXPECT_TRUE(answer.ends_with("\r\n\r\n"));
}

TEST(dialogue, speaks_to_old_clients) {
  script with;
  with.talk.receive("GET /healthz HTTP/1.0\r\nHost: localhost\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_NE(with.taken().find("Connection: keep-alive\r\n"), std::string::npos);
  with.talk.receive("GET /healthz HTTP/1.0\r\nHost: localhost\r\n\r\n");
  EXPECT_NE(with.taken().find("Connection: close\r\n"), std::string::npos);
  EXPECT_TRUE(with.talk.has_sent_all());
}

TEST(dialogue, refuses_an_oversized_message_and_closes) {
  http::limits small;
  small.max_body_bytes = 10;
  for (const std::string& text : {bare_post("01234567890"), std::string(chunked_post) + "b\r\n01234567890\r\n0\r\n\r\n",
                                  std::string(chunked_post) + "FFFFFFFFFFFFFFFF\r\n"}) {
    script with(small);
    with.talk.receive(text);
    EXPECT_EQ(with.asked.oversized, 1) << text;
    EXPECT_TRUE(with.asked.messages.empty()) << text;
    with.answer("too large", 400);
    const auto answer = with.taken();
    EXPECT_EQ(first_line(answer), "HTTP/1.1 413 Content Too Large") << text;
    EXPECT_NE(answer.find("Connection: close\r\n"), std::string::npos) << text;
    EXPECT_TRUE(with.talk.has_sent_all()) << text;
  }
}

TEST(dialogue, refuses_malformed_requests_and_closes) {
  for (const auto& [text, line] : std::vector<std::pair<std::string, std::string>>{
           {"\x16\x03\x01 \r\n\r\n", "HTTP/1.1 400 Bad Request"},
           {"GET /healthz HTTP/1.1\r\n\r\n", "HTTP/1.1 400 Bad Request"},
           {"GET / HTTP/1.1\r\nX: " + std::string(20'000, 'x'), "HTTP/1.1 431 Request Header Fields Too Large"},
           {std::string(chunked_post) + "zz\r\n....", "HTTP/1.1 400 Bad Request"}}) {
    script with;
    with.talk.receive(text);
    const auto answer = with.taken();
    EXPECT_EQ(first_line(answer), line);
    EXPECT_NE(answer.find(R"({"jsonrpc":"2.0","error":{"code":-32600,"message":")"), std::string::npos) << answer;
  }
}

TEST(dialogue, closes_an_idle_connection_without_a_word) {
  script with;
  with.talk.expire();
  EXPECT_TRUE(with.talk.is_closed());
  EXPECT_FALSE(with.talk.was_truncated());
  EXPECT_TRUE(with.talk.output().empty());
}

TEST(dialogue, says_that_a_request_came_too_slowly) {
  for (const std::string& begun :
       {std::string("P"), std::string("POST /mcp HTTP/1.1\r\nHost: "), bare_post("{}").substr(0, 90)}) {
    script with;
    with.talk.receive(begun);
    with.talk.expire();
    EXPECT_EQ(first_line(with.taken()), "HTTP/1.1 408 Request Timeout") << begun;
    EXPECT_TRUE(with.talk.has_sent_all()) << begun;
  }
}

TEST(dialogue, keeps_to_its_deadlines) {
  const hondana::manual_clock clock;
  http::limits with_times;
  with_times.header_timeout = milliseconds(1'000'000);
  with_times.body_idle_timeout = milliseconds(2'000'000);
  with_times.body_timeout = milliseconds(2'500'000);
  with_times.keep_alive_timeout = milliseconds(3'000'000);
  with_times.stall_timeout = milliseconds(4'000'000);
  with_times.linger_timeout = milliseconds(5'000'000);
  script with(with_times);
  const auto seconds_left = [&] {
    return std::chrono::duration_cast<std::chrono::seconds>(with.talk.deadline() - http::http1_protocol::clock::now()).count();
  };
  const auto text = bare_post("{}");
  EXPECT_EQ(seconds_left(), 1000);
  with.talk.receive(text.substr(0, 20));
  EXPECT_EQ(seconds_left(), 1000);
  with.talk.receive(text.substr(20, text.size() - 21));
  EXPECT_EQ(seconds_left(), 2000);
  with.talk.receive(text.substr(text.size() - 1));
  EXPECT_EQ(with.talk.deadline(), http::http1_protocol::clock::time_point::max());
  with.answer("x");
  EXPECT_EQ(seconds_left(), 4000);
  with.taken();
  EXPECT_EQ(seconds_left(), 3000);
  with.talk.receive("GET /healthz HTTP/1.0\r\nHost: localhost\r\n\r\n");
  with.taken();
  EXPECT_EQ(seconds_left(), 5000);
}

TEST(dialogue, drops_a_peer_that_takes_no_bytes) {
  script with;
  with.talk.receive(bare_post("{}"));
  with.answer("x");
  with.talk.expire();
  EXPECT_TRUE(with.talk.is_closed());
  EXPECT_TRUE(with.talk.was_truncated());
}

TEST(dialogue, cancels_when_the_peer_leaves_during_a_request) {
  script with;
  with.talk.receive(bare_post("{}"));
  with.talk.end_of_input();
  EXPECT_EQ(with.asked.forgotten, 1);
  EXPECT_TRUE(with.talk.is_closed());
  with.answer("late");
  EXPECT_TRUE(with.talk.output().empty());
}

TEST(dialogue, ends_when_the_peer_leaves_between_or_within_requests) {
  for (const std::string& begun : {std::string(), std::string("POST"), bare_post("{}").substr(0, 90)}) {
    script with;
    with.talk.receive(begun);
    with.talk.end_of_input();
    EXPECT_TRUE(with.talk.is_closed()) << begun;
    EXPECT_EQ(with.asked.forgotten, 0) << begun;
  }
}

TEST(dialogue, throws_away_a_bounded_amount_after_the_last_answer) {
  http::limits small;
  small.max_linger_bytes = 10;
  script with(small);
  with.talk.receive("nonsense\r\n\r\n");
  with.taken();
  ASSERT_TRUE(with.talk.has_sent_all());
  with.talk.receive("0123456789");
  EXPECT_FALSE(with.talk.is_closed());
  with.talk.receive("x");
  EXPECT_TRUE(with.talk.is_closed());
}

TEST(dialogue, drains_an_idle_connection_at_once_and_a_busy_one_after_its_answer) {
  script idle;
  idle.talk.drain();
  EXPECT_TRUE(idle.talk.is_closed());

  script busy;
  busy.talk.receive(bare_post("{}"));
  busy.talk.drain();
  EXPECT_FALSE(busy.talk.is_closed());
  busy.answer("done");
  const auto answer = busy.taken();
  EXPECT_NE(answer.find("Connection: close\r\n"), std::string::npos);
  EXPECT_TRUE(answer.ends_with("\r\n\r\ndone"));
  EXPECT_TRUE(busy.talk.is_closed());
  EXPECT_FALSE(busy.talk.was_truncated());

  script beginning;
  beginning.talk.receive("POST /mcp");
  beginning.talk.drain();
  EXPECT_FALSE(beginning.talk.is_closed());
  beginning.talk.receive(bare_post("{}").substr(9));
  beginning.answer("done");
  EXPECT_NE(beginning.taken().find("Connection: close\r\n"), std::string::npos);
}

TEST(dialogue, turns_a_peer_away) {
  script with;
  with.talk.reject_overloaded();
  const auto answer = with.taken();
  EXPECT_EQ(first_line(answer), "HTTP/1.1 503 Service Unavailable");
  EXPECT_NE(answer.find("Retry-After: 1\r\n"), std::string::npos);
  EXPECT_TRUE(with.talk.has_sent_all());
}

TEST(dialogue, tells_of_every_refusal_before_a_session_and_of_nothing_else) {
  const auto told = [](std::string_view text, void (*more)(script&) = nullptr) {
    script with;
    with.talk.receive(text);
    if (more != nullptr) more(with);
    (void)with.taken();
    return with.asked.refusals;
  };
  using all = std::vector<int>;
  EXPECT_EQ(told("nonsense\r\n\r\n"), all{400});
  EXPECT_EQ(told("GET /none HTTP/1.1\r\nHost: localhost\r\n\r\n"), all{404});
  EXPECT_EQ(told("GET /mcp HTTP/1.1\r\nHost: evil.example\r\n\r\n"), all{403});
  EXPECT_EQ(told(bare_post("{}").substr(0, 90), [](script& with) { with.talk.expire(); }), all{408});
  EXPECT_EQ(told("", [](script& with) { with.talk.reject_overloaded(); }), all{503});
  EXPECT_EQ(told("GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n"), all{}) << "a report is no refusal";
  EXPECT_EQ(told("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"), all{});
  EXPECT_EQ(told(bare_post("{}"), [](script& with) { with.answer("x", 400); }), all{}) << "which a session gave";
}

TEST(dialogue, lets_a_local_page_read_answers) {
  script with;
  with.talk.receive(bare_post("{}", "Origin: http://localhost:6274\r\n"));
  with.answer("x");
  const auto answer = with.taken();
  EXPECT_NE(answer.find("Access-Control-Allow-Origin: http://localhost:6274\r\n"), std::string::npos);
  EXPECT_NE(answer.find("Vary: Origin\r\n"), std::string::npos);
}

}  // namespace
