/// Token buckets: what is granted, what is owed, and who is forgotten.
#include "base/rate_limit/rate_limiter.hpp"

#include <chrono>
#include <string>

#include <gtest/gtest.h>

namespace hondana::rate_limit {
namespace {

using namespace std::chrono_literals;

const clock::time_point start{std::chrono::hours(1)};
const token_cost one_request{};
const token_cost one_completion{true, true};

/// 0: no limit of requests or bytes, and the default burst.
rate_quotas per_second(double requests, double burst, double bytes = 0) {
  rate_quotas out;
  if (requests > 0) out.requests = rate_quota{requests, burst > 0 ? std::optional(burst) : std::nullopt};
  if (bytes > 0) out.bytes = rate_quota{bytes};
  return out;
}

/// How many in a row are granted at `at`, of at most a thousand.
int granted(bucket_table& by, std::string_view who, const rate_quotas& allowed, clock::time_point at) {
  int count = 0;
  while (count < 1000 && !by.consume(who, allowed, one_request, at)) ++count;
  return count;
}

TEST(ledger, grants_the_burst_at_once_and_the_rate_afterwards) {
  bucket_table by(1024);
  const auto allowed = per_second(10, 30);
  EXPECT_EQ(granted(by, "alice", allowed, start), 30);
  EXPECT_EQ(granted(by, "alice", allowed, start + 500ms), 5);
  EXPECT_EQ(granted(by, "alice", allowed, start + 1h), 30) << "more than the burst is never saved up";
}

TEST(ledger, saves_up_two_seconds_where_no_burst_is_said) {
  bucket_table by(1024);
  EXPECT_EQ(granted(by, "alice", per_second(10, 0), start), 20);
  EXPECT_EQ(granted(by, "bob", per_second(0.1, 0), start), 1) << "less than one could never be used";
}

TEST(ledger, says_when_the_next_one_would_be_granted) {
  bucket_table by(1024);
  const auto allowed = per_second(4, 1);
  ASSERT_FALSE(by.consume("alice", allowed, one_request, start));
  const auto refused = by.consume("alice", allowed, one_request, start);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->quantity, limited_quantity::requests);
  EXPECT_EQ(refused->retry_after, 250ms);
  EXPECT_TRUE(by.consume("alice", allowed, one_request, start + 249ms));
  EXPECT_FALSE(by.consume("alice", allowed, one_request, start + refused->retry_after));
}

TEST(ledger, does_not_let_one_caller_use_what_another_has) {
  bucket_table by(1024);
  const auto allowed = per_second(1, 3);
  EXPECT_EQ(granted(by, "alice", allowed, start), 3);
  EXPECT_EQ(granted(by, "bob", allowed, start), 3);
}

TEST(ledger, refuses_without_taking) {
  bucket_table by(1024);
  const rate_quotas allowed{rate_quota{1, 5}, {}, rate_quota{1, 2}};
  EXPECT_FALSE(by.consume("alice", allowed, one_completion, start));
  EXPECT_FALSE(by.consume("alice", allowed, one_completion, start));
  for (int i = 0; i < 10; ++i) {
    const auto refused = by.consume("alice", allowed, one_completion, start);
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->quantity, limited_quantity::completions);
  }
  EXPECT_EQ(granted(by, "alice", allowed, start), 3) << "what was refused cost requests";
}

TEST(ledger, takes_bytes_into_debt_and_refuses_until_it_is_made_up_for) {
  bucket_table by(1024);
  const auto allowed = per_second(0, 0, 1000);
  ASSERT_FALSE(by.consume("alice", allowed, one_request, start));
  by.charge("alice", allowed, 2000 + 5000, start);
  const auto refused = by.consume("alice", allowed, one_request, start);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->quantity, limited_quantity::bytes);
  EXPECT_EQ(refused->retry_after, 5s);
  EXPECT_TRUE(by.consume("alice", allowed, one_request, start + 4999ms));
  EXPECT_FALSE(by.consume("alice", allowed, one_request, start + 5s));
}

TEST(ledger, names_a_debt_without_end_as_a_day) {
  bucket_table by(1024);
  const auto allowed = per_second(0, 0, 1);
  by.charge("alice", allowed, 1e300, start);
  const auto refused = by.consume("alice", allowed, one_request, start);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->retry_after, 24h);
}

TEST(ledger, gives_back_what_was_not_used_but_no_more_than_the_burst) {
  bucket_table by(1024);
  const auto allowed = per_second(1, 3);
  EXPECT_EQ(granted(by, "alice", allowed, start), 3);
  by.refund("alice", allowed, one_request, start);
  EXPECT_EQ(granted(by, "alice", allowed, start), 1);
  for (int i = 0; i < 10; ++i) by.refund("alice", allowed, one_request, start);
  EXPECT_EQ(granted(by, "alice", allowed, start), 3);
}

TEST(ledger, is_not_confused_by_a_clock_that_stands_still_or_is_read_out_of_order) {
  bucket_table by(1024);
  const auto allowed = per_second(10, 10);
  EXPECT_EQ(granted(by, "alice", allowed, start + 1s), 10);
  EXPECT_EQ(granted(by, "alice", allowed, start), 0);
  EXPECT_EQ(granted(by, "alice", allowed, start + 1s), 0) << "a second was counted twice";
  EXPECT_EQ(granted(by, "alice", allowed, start + 2s), 10);
}

TEST(ledger, keeps_what_callers_owe_when_the_limits_change) {
  bucket_table by(1024);
  EXPECT_EQ(granted(by, "alice", per_second(1, 100), start), 100);
  EXPECT_EQ(granted(by, "alice", per_second(1, 5), start), 0);
  EXPECT_EQ(granted(by, "alice", per_second(0, 0), start), 1000) << "without a limit there is none";
  EXPECT_EQ(granted(by, "alice", per_second(1, 5), start), 5);
}

TEST(ledger, never_keeps_more_balances_than_it_may) {
  bucket_table by(128);
  const auto allowed = per_second(1, 2);
  for (int i = 0; i < 10'000; ++i) (void)by.consume("stranger " + std::to_string(i), allowed, one_request, start);
  EXPECT_LE(by.size(), 128u);
}

TEST(ledger, does_not_forget_a_debt_for_the_sake_of_strangers) {
  bucket_table by(64);  // one a shard, so that each stranger of that shard wants that one's place
  const auto allowed = per_second(1, 2);
  EXPECT_EQ(granted(by, "alice", allowed, start), 2);
  for (int i = 0; i < 10'000; ++i) (void)by.consume("stranger " + std::to_string(i), allowed, one_request, start);
  EXPECT_EQ(granted(by, "alice", allowed, start), 0);
}

TEST(ledger, has_strangers_beyond_its_room_share_one_balance_a_shard) {
  bucket_table by(64);
  const auto allowed = per_second(1, 2);
  int all = 0;
  for (int i = 0; i < 10'000; ++i) all += granted(by, "stranger " + std::to_string(i), allowed, start);
  EXPECT_LE(all, 64 * (2 + 2)) << "whoever comes under many names gets more than the balances there are";
}

TEST(ledger, forgets_balances_that_have_filled_up_to_make_room) {
  bucket_table by(64);
  const auto allowed = per_second(1, 2);
  for (int i = 0; i < 1000; ++i) (void)by.consume("stranger " + std::to_string(i), allowed, one_request, start);
  // Afterwards those are as good as new, and a newcomer has a balance of its own.
  EXPECT_EQ(granted(by, "bob", allowed, start + 10s), 2);
  for (int i = 0; i < 1000; ++i) (void)by.consume("later " + std::to_string(i), allowed, one_request, start + 10s);
  EXPECT_EQ(granted(by, "bob", allowed, start + 10s), 0) << "it was forgotten while it was in use";
}

}  // namespace
}  // namespace hondana::rate_limit
