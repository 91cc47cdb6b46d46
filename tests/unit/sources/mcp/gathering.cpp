/// Lists of another server while they come.
#include "sources/mcp/upstream_lists.hpp"

#include <gtest/gtest.h>

#include <string>

namespace hondana::mcp {
namespace {

resource entry(int number) {
  resource made;
  made.uri = "demo://" + std::to_string(number);
  made.name = made.uri;
  return made;
}

/// A list that never ends; each of its pages has one entry.
paged_range<resource> endless() {
  return paged_range<resource>([next = 0](const std::optional<std::string>&) mutable -> result<list_page<resource>> {
    ++next;
    return list_page<resource>{{entry(next)}, std::to_string(next)};
  });
}

TEST(gathering, takes_what_it_may_and_says_that_there_is_more) {
  list_budget room;
  list_collector<resource> all(3, room, true);
  ASSERT_TRUE(collect(endless(), all));
  EXPECT_TRUE(all.has_more());
  EXPECT_EQ(std::move(all).extract().size(), 3u);
}

// attacks: resource exhaustion (entries that are as long as a message may be)
TEST(gathering, counts_entries_as_they_are_kept) {
  list_budget room;
  list_collector<resource> all(1'000, room, true);
  for (int i = 0; i < 100; ++i) {
    auto one = entry(i);
    one.uri += std::string(1u << 20, 'u');
    one.title = one.description = std::string(1u << 20, 'x');
    one.metadata.resize(100'000);
    ASSERT_TRUE(all.add(std::move(one))) << i;
  }
  EXPECT_GT(room.bytes_left, max_list_bytes - 100 * (64u << 10));
  for (const auto& one : std::move(all).extract()) {
    EXPECT_LE(one.uri.capacity(), 10'000u);
    EXPECT_LE(one.description.capacity(), 40'000u);
    EXPECT_LE(one.metadata.capacity(), 64u);
  }
}

TEST(gathering, of_several_lists_share_their_room) {
  list_budget room;
  list_collector<resource> entries(1'000, room, true);
  int taken = 0;
  for (bool goes_on = true; goes_on; ++taken) {
    auto one = entry(taken);
    for (int i = 0; i < 8; ++i) one.icons.push_back({.src = "data:," + std::string(60'000, 'x')});
    goes_on = entries.add(std::move(one));
  }
  EXPECT_TRUE(entries.has_more());
  EXPECT_NEAR(taken, 140, 10);
  list_collector<skill> skills(1'000, room, true);
  skill one;
  one.uri = "skill://a/SKILL.md";
  one.frontmatter = value::object{{"name", "a"}, {"description", std::string(300'000, 'x')}};
  EXPECT_FALSE(skills.add(one));
  EXPECT_TRUE(skills.has_more());
}

TEST(gathering, ends_when_the_time_is_over) {
  list_budget room;
  room.deadline = list_budget::clock::now() + std::chrono::milliseconds(20);
  list_collector<resource> all(100'000'000, room, true);
  const auto done = collect(endless(), all);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, errc::timed_out);
}

}  // namespace
}  // namespace hondana::mcp
