/// Mounts in a row, and the circles they can make.
#include "sources/mcp/mount_chain.hpp"

#include <gtest/gtest.h>

namespace hondana::mcp {
namespace {

using ids = std::vector<std::string>;

TEST(mount_chain, tells_those_that_requests_came_through_to_those_that_follow) {
  mount_chain one({}, {});
  EXPECT_EQ(one.outgoing_ids(), ids{one.id()});
  EXPECT_EQ(one.find_cycle({"mb", "ma"}), "");
  EXPECT_EQ(one.outgoing_ids(), (ids{one.id(), "mb", "ma"}));
  EXPECT_EQ(one.generation(), 2u);
  EXPECT_EQ(one.find_cycle({"ma"}), "");
  EXPECT_EQ(one.generation(), 2u);
}

TEST(mount_chain, notices_a_request_that_comes_back) {
  mount_chain near({}, {});
  mount_chain far({}, {});
  EXPECT_EQ(far.find_cycle(near.outgoing_ids()), "");
  EXPECT_EQ(near.find_cycle(far.outgoing_ids()), "the request already passed through this mount");
  EXPECT_EQ(near.outgoing_ids(), (std::vector<std::string>{near.id(), far.id()}))
      << "the others of the circle hear of it from now on";
}

TEST(mount_chain, notices_a_command_that_starts_itself) {
  const mount_chain outer("hondana\0stdio", {});
  const mount_chain inner("hondana\0stdio", outer.environment_value());
  EXPECT_EQ(inner.find_permanent_cycle(), "this server was itself started by the command of this mount");
  const mount_chain other("something else", outer.environment_value());
  EXPECT_EQ(other.find_permanent_cycle(), "");
}

TEST(mount_chain, tells_processes_about_those_before_them) {
  mount_chain outer("a command", {});
  EXPECT_EQ(outer.find_cycle({"mx"}), "");
  const mount_chain inner({}, outer.environment_value());
  EXPECT_EQ(inner.outgoing_ids().size(), 4u);
  EXPECT_EQ(outer.find_cycle(inner.outgoing_ids()), "the request already passed through this mount");
  EXPECT_EQ(outer.find_permanent_cycle(), "") << "what peers say is no proof of how this process was started";
}

TEST(mount_chain, takes_a_very_long_row_for_a_circle) {
  mount_chain one({}, {});
  EXPECT_EQ(one.find_cycle(ids(17, "mx")), "the request passed through more than 16 mounts");
  std::string inherited;
  for (int i = 0; i < 17; ++i) inherited += "m" + std::to_string(i) + ',';
  EXPECT_EQ(mount_chain({}, inherited).find_permanent_cycle(), "this server was started through more than 16 mounts");
}

TEST(mount_chain, remembers_a_bounded_number_and_nothing_that_is_no_id) {
  mount_chain one({}, "not an id,,UPPER,ma");
  EXPECT_EQ(one.outgoing_ids(), (ids{one.id(), "ma"}));
  for (int i = 0; i < 100; ++i) EXPECT_EQ(one.find_cycle({"m" + std::to_string(i), "B A D"}), "");
  EXPECT_EQ(one.outgoing_ids().size(), 1 + max_mounts);
  EXPECT_EQ(one.outgoing_ids().back(), "m99");
  EXPECT_EQ(one.find_permanent_cycle(), "");
}

}  // namespace
}  // namespace hondana::mcp
