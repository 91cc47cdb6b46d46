/// Mounts in a row, and the circles they can make.
#include "sources/mcp/mount_chain.hpp"

#include <gtest/gtest.h>

namespace hondana::mcp {
namespace {

using ids = std::vector<std::string>;

TEST(mount_chain, tells_those_that_requests_came_through_to_those_that_follow) {
  chain one({}, {});
  EXPECT_EQ(one.sent(), ids{one.id()});
  EXPECT_EQ(one.circle({"mb", "ma"}), "");
  EXPECT_EQ(one.sent(), (ids{one.id(), "mb", "ma"}));
  EXPECT_EQ(one.generation(), 2u);
  EXPECT_EQ(one.circle({"ma"}), "");
  EXPECT_EQ(one.generation(), 2u);
}

TEST(mount_chain, notices_a_request_that_comes_back) {
  chain near({}, {});
  chain far({}, {});
  EXPECT_EQ(far.circle(near.sent()), "");
  EXPECT_EQ(near.circle(far.sent()), "the request already passed through this mount");
  EXPECT_EQ(near.sent(), (std::vector<std::string>{near.id(), far.id()})) << "the others of the circle hear of it from now on";
}

TEST(mount_chain, notices_a_command_that_starts_itself) {
  const chain outer("hondana\0stdio", {});
  const chain inner("hondana\0stdio", outer.variable());
  EXPECT_EQ(inner.standing_circle(), "this server was itself started by the command of this mount");
  const chain other("something else", outer.variable());
  EXPECT_EQ(other.standing_circle(), "");
}

TEST(mount_chain, tells_processes_about_those_before_them) {
  chain outer("a command", {});
  EXPECT_EQ(outer.circle({"mx"}), "");
  const chain inner({}, outer.variable());
  EXPECT_EQ(inner.sent().size(), 4u);
  EXPECT_EQ(outer.circle(inner.sent()), "the request already passed through this mount");
  EXPECT_EQ(outer.standing_circle(), "") << "what peers say is no proof of how this process was started";
}

TEST(mount_chain, takes_a_very_long_row_for_a_circle) {
  chain one({}, {});
  EXPECT_EQ(one.circle(ids(17, "mx")), "the request passed through more than 16 mounts");
  std::string inherited;
  for (int i = 0; i < 17; ++i) inherited += "m" + std::to_string(i) + ',';
  EXPECT_EQ(chain({}, inherited).standing_circle(), "this server was started through more than 16 mounts");
}

TEST(mount_chain, remembers_a_bounded_number_and_nothing_that_is_no_id) {
  chain one({}, "not an id,,UPPER,ma");
  EXPECT_EQ(one.sent(), (ids{one.id(), "ma"}));
  for (int i = 0; i < 100; ++i) EXPECT_EQ(one.circle({"m" + std::to_string(i), "B A D"}), "");
  EXPECT_EQ(one.sent().size(), 1 + most_in_a_row);
  EXPECT_EQ(one.sent().back(), "m99");
  EXPECT_EQ(one.standing_circle(), "");
}

}  // namespace
}  // namespace hondana::mcp
