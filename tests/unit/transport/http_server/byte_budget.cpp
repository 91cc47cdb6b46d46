/// What large messages that are still arriving may hold together: who is refused, who is not, and when room returns.
#include "transport/http_server/limits.hpp"

#include <memory>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "unit/transport/http_server/script.hpp"

namespace {

using hondana_test::chunked_post;
using hondana_test::first_line;
using hondana_test::script;
namespace http = hondana::transport::http_server;

http::limits hundred_bytes() {
  http::limits small;
  small.max_body_bytes = 1000;
  small.max_unfinished_bytes = 100;
  small.uncounted_bytes = 10;
  return small;
}

/// The head of a message of 1000 bytes.
const std::string head_of_thousand =
    "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n";

TEST(byte_budget, takes_all_or_nothing) {
  http::byte_budget of(10);
  EXPECT_FALSE(of.reserve(11));
  EXPECT_TRUE(of.reserve(10));
  EXPECT_FALSE(of.reserve(1));
  of.release(1);
  EXPECT_TRUE(of.reserve(1));
}

TEST(byte_budget, that_is_part_of_another_takes_from_both) {
  const auto all = std::make_shared<http::byte_budget>(10);
  http::byte_budget one(8, all);
  http::byte_budget other(8, all);
  EXPECT_TRUE(one.reserve(6));
  EXPECT_FALSE(other.reserve(5)) << "four are left of all";
  EXPECT_TRUE(other.reserve(4));
  EXPECT_FALSE(one.reserve(3)) << "its own";
  one.release(6);
  other.release(4);
  EXPECT_TRUE(other.reserve(8)) << "what was refused took nothing";
  EXPECT_TRUE(all->reserve(2));
}

TEST(byte_budget, gets_everything_back_when_a_share_ends) {
  const auto of = std::make_shared<http::byte_budget>(10);
  {
    http::byte_share one(of);
    EXPECT_TRUE(one.grow_to(4));
    EXPECT_TRUE(one.grow_to(9));
    EXPECT_FALSE(one.grow_to(11));
    EXPECT_FALSE(of->reserve(2));
  }
  EXPECT_TRUE(of->reserve(10));
}

TEST(dialogue, refuses_a_message_when_too_much_is_arriving) {
  script with(hundred_bytes());
  with.talk.receive(head_of_thousand + std::string(110, ' '));
  EXPECT_TRUE(with.talk.output().empty());
  with.talk.receive(" ");
  const auto answer = with.taken();
  EXPECT_EQ(first_line(answer), "HTTP/1.1 503 Service Unavailable");
  EXPECT_NE(answer.find("\r\nRetry-After: 1\r\n"), std::string::npos);
  EXPECT_NE(answer.find("\r\nConnection: close\r\n"), std::string::npos);
  EXPECT_TRUE(answer.ends_with(R"({"jsonrpc":"2.0","error":{"code":-32603,"message":"Service unavailable: too many large )"
                               R"(messages are arriving at once. Retry later."}})"));
  EXPECT_TRUE(with.talk.has_sent_all());
  EXPECT_TRUE(with.asked.messages.empty());
}

TEST(dialogue, counts_chunked_messages_too) {
  script with(hundred_bytes());
  with.talk.receive(chunked_post);
  with.talk.receive("70\r\n" + std::string(0x6f, ' '));
  EXPECT_EQ(first_line(with.taken()), "HTTP/1.1 503 Service Unavailable");
}

TEST(dialogue, shares_the_budget_with_other_connections) {
  const auto shared = std::make_shared<http::byte_budget>(100);
  script first(hundred_bytes(), shared);
  script second(hundred_bytes(), shared);
  first.talk.receive(head_of_thousand + std::string(90, ' '));
  second.talk.receive(head_of_thousand + std::string(40, ' '));
  EXPECT_EQ(first_line(second.taken()), "HTTP/1.1 503 Service Unavailable");
  EXPECT_TRUE(first.talk.output().empty());
}

TEST(dialogue, takes_small_messages_while_large_ones_hold_the_budget) {
  const auto shared = std::make_shared<http::byte_budget>(100);
  script large(hundred_bytes(), shared);
  large.talk.receive(head_of_thousand + std::string(110, ' '));
  EXPECT_FALSE(shared->reserve(1));
  script small(hundred_bytes(), shared);
  for (const char byte : hondana_test::bare_post("[12345678]")) small.talk.receive(std::string_view(&byte, 1));
  EXPECT_EQ(small.asked.messages.size(), 1u);
}

TEST(dialogue, gives_its_share_back_with_the_message) {
  const auto shared = std::make_shared<http::byte_budget>(100);
  script with(hundred_bytes(), shared);
  const auto whole = hondana_test::bare_post(std::string(100, ' '));
  for (const char byte : whole) with.talk.receive(std::string_view(&byte, 1));
  ASSERT_EQ(with.asked.messages.size(), 1u);
  EXPECT_TRUE(shared->reserve(100));
}

TEST(dialogue, gives_its_share_back_when_it_refuses_or_ends) {
  const auto begun = head_of_thousand + std::string(60, ' ');
  const auto chunk = "3c\r\n" + std::string(0x3c, ' ');
  const auto shared = std::make_shared<http::byte_budget>(100);

  script refused(hundred_bytes(), shared);
  refused.talk.receive(begun);
  EXPECT_FALSE(shared->reserve(100));
  refused.talk.receive(std::string(60, ' '));
  EXPECT_EQ(first_line(refused.taken()), "HTTP/1.1 503 Service Unavailable");
  EXPECT_TRUE(shared->reserve(100));
  shared->release(100);

  script late(hundred_bytes(), shared);
  late.talk.receive(begun);
  EXPECT_FALSE(shared->reserve(100));
  late.talk.expire();
  EXPECT_EQ(first_line(late.taken()), "HTTP/1.1 408 Request Timeout");
  EXPECT_TRUE(shared->reserve(100));
  shared->release(100);

  script malformed(hundred_bytes(), shared);
  malformed.talk.receive(chunked_post);
  malformed.talk.receive(chunk);
  EXPECT_FALSE(shared->reserve(100));
  malformed.talk.receive("nonsense\r\n\r\n");
  EXPECT_EQ(first_line(malformed.taken()), "HTTP/1.1 400 Bad Request");
  EXPECT_TRUE(shared->reserve(100));
  shared->release(100);

  script oversized(hundred_bytes(), shared);
  oversized.talk.receive(chunked_post);
  oversized.talk.receive(chunk);
  EXPECT_FALSE(shared->reserve(100));
  oversized.talk.receive("\r\nffff\r\n  ");
  EXPECT_EQ(oversized.asked.oversized, 1);
  EXPECT_TRUE(shared->reserve(100));
  shared->release(100);

  {
    script gone(hundred_bytes(), shared);
    gone.talk.receive(begun);
    EXPECT_FALSE(shared->reserve(100));
    gone.talk.end_of_input();
  }
  EXPECT_TRUE(shared->reserve(100));
}

}  // namespace
