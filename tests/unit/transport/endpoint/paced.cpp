/// What callers may ask for besides: how slow an answer may be, redirects as answers, and what a head says.
#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <hondana/clock.hpp>

#include "deadline.hpp"
#include "transport/endpoint/endpoint.hpp"
#include "unit/transport/http_client/scripted_server.hpp"

namespace {

using namespace std::chrono_literals;
using hondana::errc;
using hondana::endpoint::endpoint;
using hondana::endpoint::request;
using hondana::endpoint::response;
using hondana_test::heard_request;
using hondana_test::scripted_connection;
using hondana_test::scripted_server;

TEST(paced_endpoint, ends_an_answer_that_stalls_or_does_not_begin_and_lets_a_quick_one_pass) {
  hondana::manual_clock clock;
  std::promise<void> begun;
  std::atomic<bool> is_over = false;
  scripted_server server([&, has_begun = begun.get_future().share()](const heard_request& asked, scripted_connection& to) {
    if (asked.target == "/quick") return to.answer(200, "text/plain", std::string(50'000, 'x'));
    if (asked.target == "/never") {
      clock.advance(150ms);
      return to.sees_the_end() && false;
    }
    to.send("HTTP/1.1 200 OK\r\nContent-Length: 9000\r\n\r\n" + std::string(3'000, 'x'));
    has_begun.wait_for(hondana_test::event_deadline);
    // Bytes may have come in the present while and in the next.
    (void)hondana_test::eventually([&] {
      clock.advance(150ms);
      return is_over.load();
    });
    return false;
  });
  const auto it = endpoint::create({.url = server.url(""), .timeout = 1h});
  ASSERT_TRUE(it) << it.error().public_text;
  request what;
  what.progress = {.header_timeout = 5s, .interval = 5s, .min_bytes = 100};
  what.path = "/quick";
  const auto quick = (*it)->send(what, {});
  ASSERT_TRUE(quick) << quick.error().public_text;
  EXPECT_EQ(quick->body.size(), 50'000u);
  what.progress = {.header_timeout = 150ms, .interval = 150ms, .min_bytes = 100};
  what.path = "/stalls";
  const auto stalled = (*it)->send(what, {}, [&begun, has_begun = false](std::string_view) mutable -> hondana::result<void> {
    if (!std::exchange(has_begun, true)) begun.set_value();
    return {};
  });
  is_over = true;
  ASSERT_FALSE(stalled);
  EXPECT_EQ(stalled.error().code, errc::timed_out);
  EXPECT_NE(stalled.error().public_text.find("stalled: fewer than 100 bytes arrived in 150 ms"), std::string::npos)
      << stalled.error().public_text;
  what.path = "/never";
  const auto never = (*it)->send(what, {});
  ASSERT_FALSE(never);
  EXPECT_EQ(never.error().code, errc::timed_out);
  EXPECT_NE(never.error().public_text.find("no answer within the timeout"), std::string::npos) << never.error().public_text;
}

TEST(paced_endpoint, gives_redirects_to_whoever_follows_them_and_tells_what_a_head_says) {
  scripted_server server([](const heard_request& asked, scripted_connection& to) {
    if (asked.target == "/part")
      return to.answer(206, "text/plain", "cd", "Content-Range: bytes 2-3/9\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n");
    return to.answer(307, "text/plain", "elsewhere", "Location: https://evil.example/x\r\n");
  });
  const auto it = endpoint::create({.url = server.url(""), .timeout = hondana_test::event_deadline});
  ASSERT_TRUE(it);
  request what;
  what.follows_redirects = false;
  const auto redirect = (*it)->send(what, {});
  ASSERT_TRUE(redirect) << redirect.error().public_text;
  EXPECT_EQ(redirect->status, 307);
  EXPECT_EQ(redirect->location, "https://evil.example/x");
  what.path = "/part";
  what.accepts_compressed = false;
  std::string heard;
  what.on_head = [&heard](const response& head) {
    heard = head.content_range + ' ' + std::to_string(head.status) + ' ' + head.content_type;
    return hondana::result<void>{};
  };
  const auto part = (*it)->send(what, {});
  ASSERT_TRUE(part) << part.error().public_text;
  EXPECT_EQ(heard, "bytes 2-3/9 206 text/plain");
  EXPECT_EQ(part->date, "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(part->body, "cd");
  EXPECT_EQ(server.requests(2).at(1).field("accept-encoding"), "");
}

}  // namespace
