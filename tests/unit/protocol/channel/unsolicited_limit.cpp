/// How much may come that nobody has asked for.
#include "protocol/channel/channel.hpp"

#include <gtest/gtest.h>

#include <hondana/clock.hpp>

namespace hondana::test {
namespace {

using channel::unsolicited_rate_limit;
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(unsolicited_limit, bears_with_fifty_thousand_messages_at_once_and_a_thousand_a_second) {
  manual_clock clock;
  unsolicited_rate_limit pace;
  for (int i = 0; i < 50'000; ++i) pace.count_message(0);
  EXPECT_EQ(pace.delay(), milliseconds(0));
  for (int i = 0; i < 500; ++i) pace.count_message(0);
  EXPECT_EQ(pace.delay(), milliseconds(500));
  clock.advance(milliseconds(500));
  EXPECT_EQ(pace.delay(), milliseconds(0));
  for (int second = 0; second < 10; ++second) {
    for (int i = 0; i < 1'000; ++i) pace.count_message(0);
    clock.advance(seconds(1));
    EXPECT_EQ(pace.delay(), milliseconds(0)) << second;
  }
}

TEST(unsolicited_limit, counts_bytes_as_well_and_forgets_what_lies_long_ago) {
  manual_clock clock;
  unsolicited_rate_limit pace;
  pace.count_bytes(50'000u * 4'096u);
  EXPECT_EQ(pace.delay(), milliseconds(0));
  pace.count_bytes(2 * 4'096);
  EXPECT_EQ(pace.delay(), milliseconds(2));
  clock.advance(seconds(1'000));
  pace.count_bytes(50'000u * 4'096u);
  EXPECT_EQ(pace.delay(), milliseconds(0)) << "no less than at the start, and no more:";
  pace.count_message(0);
  EXPECT_EQ(pace.delay(), milliseconds(1));
}

}  // namespace
}  // namespace hondana::test
