/// What a session keeps of what it has sent.
#include "transport/http_server/event_replay.hpp"

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace {

using hondana::transport::http_server::byte_budget;
using hondana::transport::http_server::event_id;
using hondana::transport::http_server::parse_event_id;
using hondana::transport::http_server::replay_buffer;
using hondana::transport::http_server::to_string;

std::vector<std::string> texts(const std::vector<replay_buffer::event>& events) {
  std::vector<std::string> out;
  for (const auto& one : events) out.push_back(to_string(one.id) + " " + *one.message);
  return out;
}

TEST(event_ids, name_the_stream_and_the_place_in_it) {
  EXPECT_EQ(to_string({3, 17}), "3-17");
  EXPECT_EQ(parse_event_id("3-17"), (event_id{3, 17}));
  EXPECT_EQ(parse_event_id("18446744073709551615-0"), (event_id{18446744073709551615ull, 0}));
  for (const auto* wrong :
       {"", "-", "3", "3-", "-17", "3-17-1", "a-1", "1-a", " 1-1", "1-1 ", "+1-1", "1--1", "18446744073709551616-0", "1-1\n"}) {
    EXPECT_FALSE(parse_event_id(wrong)) << wrong;
  }
}

TEST(replay, gives_what_came_after_an_event_of_the_same_stream_only) {
  replay_buffer kept(10'000, std::make_shared<byte_budget>(10'000));
  kept.store({1, 1}, "a");
  kept.store({2, 1}, "b");
  kept.store({1, 2}, "c");
  kept.store({1, 3}, "d");
  EXPECT_EQ(texts(kept.events_after({1, 1})), (std::vector<std::string>{"1-2 c", "1-3 d"}));
  EXPECT_EQ(texts(kept.events_after({2, 0})), (std::vector<std::string>{"2-1 b"}));
  EXPECT_TRUE(kept.events_after({2, 1}).empty());
  EXPECT_TRUE(kept.events_after({9, 0}).empty());
}

TEST(replay, gives_up_the_oldest_events_at_its_cap) {
  replay_buffer kept(1'000, std::make_shared<byte_budget>(100'000));
  for (std::uint64_t i = 1; i <= 100; ++i) kept.store({1, i}, std::string(72, 'x'));
  EXPECT_LE(kept.bytes(), 1'000u);
  const auto left = kept.events_after({1, 0});
  ASSERT_EQ(left.size(), 5u);
  EXPECT_EQ(left.front().id.number, 96u);
  kept.store({1, 101}, std::string(5'000, 'x'));
  EXPECT_EQ(kept.events_after({1, 0}).size(), 5u) << "one that is over the cap alone costs no other";
}

TEST(replay, takes_no_more_than_all_sessions_may_have_together) {
  const auto shared = std::make_shared<byte_budget>(1'000);
  replay_buffer first(10'000, shared);
  {
    replay_buffer second(10'000, shared);
    second.store({1, 1}, std::string(600, 'x'));
    first.store({1, 1}, std::string(600, 'x'));
    EXPECT_TRUE(first.events_after({1, 0}).empty());
    first.store({1, 2}, std::string(100, 'x'));
    first.store({1, 3}, std::string(100, 'x'));
    EXPECT_EQ(texts(first.events_after({1, 0})), (std::vector<std::string>{"1-3 " + std::string(100, 'x')}))
        << "its own oldest one went";
  }
  first.clear();
  EXPECT_TRUE(shared->reserve(1'000)) << "all was given back";
}

}  // namespace
