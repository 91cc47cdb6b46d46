/// Stamps: which changes they show, and when they may hide one.
#include "os/disk/file_stamp.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace hondana::disk {
namespace {

constexpr std::int64_t second = 1'000'000'000;
constexpr std::int64_t millisecond = 1'000'000;

stamp changed_at(std::int64_t when) { return {1, 2, 3, when, when}; }

TEST(stamps, are_racy_for_a_tick_of_their_file_system) {
  const auto changed = 1'700'000'000 * second + 1;
  EXPECT_TRUE(is_racy(changed_at(changed), changed));
  EXPECT_TRUE(is_racy(changed_at(changed), changed + 40 * millisecond));
  EXPECT_FALSE(is_racy(changed_at(changed), changed + 60 * millisecond));
}

TEST(stamps, of_file_systems_that_keep_whole_seconds_are_not_trusted_for_two) {
  const auto changed = 1'700'000'000 * second;
  EXPECT_TRUE(is_racy(changed_at(changed), changed + 2 * second));
  EXPECT_FALSE(is_racy(changed_at(changed), changed + 3 * second));
}

TEST(stamps, of_a_time_to_come_are_racy_until_it_has_passed) {
  const auto now = wall_clock();
  EXPECT_TRUE(is_racy(changed_at(now + 3600 * second), now));
  EXPECT_TRUE(is_racy(changed_at(time_out_of_range), now));
  EXPECT_FALSE(is_racy(changed_at(-time_out_of_range), now));
}

TEST(stamps, of_times_beyond_what_nanoseconds_can_count_are_the_last_that_they_can) {
  struct stat facts{};
  facts.st_mtim.tv_sec = 1'000'000'000'000;
  facts.st_ctim.tv_sec = -1'000'000'000'000;
  EXPECT_EQ(stamp_of(facts).modified, time_out_of_range);
  EXPECT_EQ(stamp_of(facts).changed, -time_out_of_range);
}

TEST(versions, tell_stamps_apart_by_each_of_their_members) {
  const stamp state{1, 2, 3, 4, 5};
  EXPECT_EQ(version_of(state), version_of(state));
  for (const stamp& other : {stamp{9, 2, 3, 4, 5}, {1, 9, 3, 4, 5}, {1, 2, 9, 4, 5}, {1, 2, 3, 9, 5}, {1, 2, 3, 4, 9}}) {
    EXPECT_NE(version_of(other), version_of(state));
  }
}

}  // namespace
}  // namespace hondana::disk
