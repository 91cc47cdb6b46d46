/// How often a server that says its lists have changed is asked for them.
#include "sources/mcp/upstream.hpp"

#include <gtest/gtest.h>

namespace hondana::mcp {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const list_pacer::clock::time_point now = list_pacer::clock::time_point() + std::chrono::hours(1);

TEST(mount_pacing, begins_at_once) { EXPECT_LE(list_pacer().next(), now); }

TEST(mount_pacing, rests_nine_times_as_long_as_it_took) {
  list_pacer of;
  of.record_request(now, milliseconds(20), true);
  EXPECT_EQ(of.next(), now + milliseconds(180));
  of.record_request(now, seconds(60), true);
  EXPECT_EQ(of.next(), now + seconds(10));
}

TEST(mount_pacing, waits_longer_each_time_that_nothing_has_changed_and_begins_anew_when_something_has) {
  list_pacer of;
  for (const int pause : {50, 100, 200, 400}) {
    of.record_request(now, milliseconds(1), false);
    EXPECT_EQ(of.next(), now + milliseconds(pause));
  }
  for (int i = 0; i < 100; ++i) of.record_request(now, milliseconds(1), false);
  EXPECT_EQ(of.next(), now + seconds(10));
  of.record_request(now, milliseconds(1), true);
  EXPECT_EQ(of.next(), now + milliseconds(9));
}

}  // namespace
}  // namespace hondana::mcp
