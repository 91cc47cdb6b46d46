/// How often a server that says its lists have changed is asked for them.
#include "sources/mcp/upstream.hpp"

#include <gtest/gtest.h>

namespace hondana::mcp {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const pacing::clock::time_point now = pacing::clock::time_point() + std::chrono::hours(1);

TEST(mount_pacing, begins_at_once) { EXPECT_LE(pacing().next(), now); }

TEST(mount_pacing, rests_nine_times_as_long_as_it_took) {
  pacing of;
  of.asked(now, milliseconds(20), true);
  EXPECT_EQ(of.next(), now + milliseconds(180));
  of.asked(now, seconds(60), true);
  EXPECT_EQ(of.next(), now + seconds(10));
}

TEST(mount_pacing, waits_longer_each_time_that_nothing_has_changed_and_begins_anew_when_something_has) {
  pacing of;
  for (const int pause : {50, 100, 200, 400}) {
    of.asked(now, milliseconds(1), false);
    EXPECT_EQ(of.next(), now + milliseconds(pause));
  }
  for (int i = 0; i < 100; ++i) of.asked(now, milliseconds(1), false);
  EXPECT_EQ(of.next(), now + seconds(10));
  of.asked(now, milliseconds(1), true);
  EXPECT_EQ(of.next(), now + milliseconds(9));
}

}  // namespace
}  // namespace hondana::mcp
