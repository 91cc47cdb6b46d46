/// How long a service that fails is left alone.
#include "search/embeddings/backoff.hpp"

#include <chrono>

#include <gtest/gtest.h>

namespace {

using hondana::embeddings::backoff;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds its_patience{1'500};

TEST(respite_of_a_service, is_none_without_failures) {
  backoff it;
  EXPECT_FALSE(it.remaining_delay({}, its_patience));
  EXPECT_EQ(it.failures(), 0u);
}

TEST(respite_of_a_service, doubles_from_a_second_to_a_minute_and_ends_with_a_success) {
  backoff it;
  backoff::clock::time_point now(seconds(100));
  for (const int wanted : {1, 2, 4, 8, 16, 32, 60, 60, 60}) {
    it.report_failure(now, now);
    EXPECT_EQ(it.remaining_delay(now, its_patience), milliseconds(seconds(wanted)));
    EXPECT_EQ(it.remaining_delay(now + seconds(wanted) - milliseconds(1), its_patience), milliseconds(1));
    now += seconds(wanted);
    EXPECT_FALSE(it.remaining_delay(now, its_patience));
  }
  EXPECT_EQ(it.failures(), 9u);
  it.report_success();
  EXPECT_FALSE(it.remaining_delay(now, its_patience));
  it.report_failure(now, now);
  EXPECT_EQ(it.remaining_delay(now, its_patience), milliseconds(seconds(1)));
}

TEST(respite_of_a_service, counts_failures_at_the_same_time_once) {
  backoff it;
  const backoff::clock::time_point began(seconds(100));
  for (int i = 0; i < 20; ++i) it.report_failure(began, began + milliseconds(50 + i));
  EXPECT_EQ(it.failures(), 1u);
  EXPECT_EQ(it.remaining_delay(began + milliseconds(50), its_patience), milliseconds(seconds(1)));
}

TEST(respite_of_a_service, lets_one_try_while_the_others_do_without) {
  backoff it;
  backoff::clock::time_point now(seconds(100));
  it.report_failure(now, now);
  now += seconds(1);
  EXPECT_FALSE(it.remaining_delay(now, its_patience));
  EXPECT_EQ(it.remaining_delay(now, its_patience), its_patience);
  now += its_patience;
  EXPECT_FALSE(it.remaining_delay(now, its_patience));
}

TEST(respite_of_a_service, is_what_it_asks_for_where_that_is_longer) {
  backoff it;
  const backoff::clock::time_point now(seconds(100));
  it.report_failure(now, now, milliseconds(seconds(30)));
  EXPECT_EQ(it.remaining_delay(now, its_patience), milliseconds(seconds(30)));
  it.report_failure(now, now, milliseconds(100));
  EXPECT_EQ(it.remaining_delay(now, its_patience), milliseconds(seconds(30)));
  it.report_failure(now, now, milliseconds(std::chrono::hours(24)));
  EXPECT_EQ(it.remaining_delay(now, its_patience), milliseconds(std::chrono::hours(1)));
}

}  // namespace
