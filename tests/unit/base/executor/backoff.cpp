/// Pauses between attempts.
#include "base/executor/backoff.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stop_token>

#include <gtest/gtest.h>

namespace hondana::executor {
namespace {

using namespace std::chrono_literals;

TEST(backoff, doubles_up_to_its_maximum) {
  constexpr backoff pauses{5s, 60s};
  EXPECT_EQ(pauses.delay(1), 5s);
  EXPECT_EQ(pauses.delay(2), 10s);
  EXPECT_EQ(pauses.delay(4), 40s);
  for (const std::size_t many : {std::size_t{5}, std::size_t{1000}, SIZE_MAX}) EXPECT_EQ(pauses.delay(many), 60s);
}

TEST(backoff, of_no_time_stays_zero) { EXPECT_EQ((backoff{0ms, 60s}.delay(SIZE_MAX)), 0ms); }

TEST(backoff, first_pause_is_at_most_the_maximum) { EXPECT_EQ((backoff{10s, 1s}.delay(1)), 1s); }

TEST(backoff, random_delay_stays_in_its_range) {
  EXPECT_EQ(random_delay(0ms), 0ms);
  for (int i = 0; i < 100; ++i) {
    const auto delay = random_delay(3ms);
    EXPECT_GE(delay, 0ms);
    EXPECT_LE(delay, 3ms);
  }
}

TEST(backoff, sleep_ends_with_a_stop_request) {
  std::stop_source stop;
  EXPECT_TRUE(sleep_unless_stopped(0ms, stop.get_token()));
  stop.request_stop();
  EXPECT_FALSE(sleep_unless_stopped(1h, stop.get_token()));
}

}  // namespace
}  // namespace hondana::executor
