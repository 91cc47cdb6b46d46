/// What callers may ask for besides: how slow an answer may be, redirects as answers, and what a head says.
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "endpoint/endpoint.hpp"
#include "unit/transport/http_calls/scripted_server.hpp"

namespace {

using namespace std::chrono_literals;
using hondana::errc;
using hondana::endpoint::answer;
using hondana::endpoint::endpoint;
using hondana::endpoint::request;
using hondana_test::heard_request;
using hondana_test::scripted_connection;
using hondana_test::scripted_server;

TEST(paced_endpoint, ends_an_answer_that_stalls_or_does_not_begin_and_lets_a_quick_one_pass) {
  std::promise<void> over;
  const auto waiting = over.get_future().share();
  scripted_server server([waiting](const heard_request& asked, scripted_connection& to) {
    if (asked.target == "/quick") return to.answer(200, "text/plain", std::string(50'000, 'x'));
    if (asked.target == "/stalls") to.send("HTTP/1.1 200 OK\r\nContent-Length: 9000\r\n\r\n" + std::string(3'000, 'x'));
    waiting.wait_for(20s);
    return false;
  });
  const auto it = endpoint::of({.url = server.url(""), .time = 20s});
  ASSERT_TRUE(it) << it.error().public_text;
  request what;
  what.speed = {.head = 5s, .time = 5s, .bytes = 100};
  what.path = "/quick";
  const auto quick = (*it)->ask(what, {});
  ASSERT_TRUE(quick) << quick.error().public_text;
  EXPECT_EQ(quick->bytes.size(), 50'000u);
  for (const auto& [path, says] : {std::pair("/stalls", "has stalled: less than 100 bytes came in 150 ms"),
                                   std::pair("/never", "no answer within the time given")}) {
    what.path = path;
    // Of the one that stalls the head comes, if late on a busy machine.
    what.speed = {.head = what.path == "/stalls" ? 5s : std::chrono::milliseconds(150), .time = 150ms, .bytes = 100};
    const auto begin = std::chrono::steady_clock::now();
    const auto got = (*it)->ask(what, {});
    ASSERT_FALSE(got) << path;
    EXPECT_EQ(got.error().code, errc::timed_out);
    EXPECT_NE(got.error().public_text.find(says), std::string::npos) << got.error().public_text;
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 15s);
  }
  over.set_value();
}

TEST(paced_endpoint, gives_redirects_to_whoever_follows_them_and_tells_what_a_head_says) {
  scripted_server server([](const heard_request& asked, scripted_connection& to) {
    if (asked.target == "/part")
      return to.answer(206, "text/plain", "cd", "Content-Range: bytes 2-3/9\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n");
    return to.answer(307, "text/plain", "elsewhere", "Location: https://evil.example/x\r\n");
  });
  const auto it = endpoint::of({.url = server.url(""), .time = 20s});
  ASSERT_TRUE(it);
  request what;
  what.follows_redirects = false;
  const auto redirect = (*it)->ask(what, {});
  ASSERT_TRUE(redirect) << redirect.error().public_text;
  EXPECT_EQ(redirect->status, 307);
  EXPECT_EQ(redirect->location, "https://evil.example/x");
  what.path = "/part";
  what.is_packed = false;
  std::string heard;
  what.on_head = [&heard](const answer& head) {
    heard = head.content_range + ' ' + std::to_string(head.status) + ' ' + head.content_type;
    return hondana::result<void>{};
  };
  const auto part = (*it)->ask(what, {});
  ASSERT_TRUE(part) << part.error().public_text;
  EXPECT_EQ(heard, "bytes 2-3/9 206 text/plain");
  EXPECT_EQ(part->date, "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(part->bytes, "cd");
  EXPECT_EQ(server.requests(2).at(1).field("accept-encoding"), "");
}

}  // namespace
