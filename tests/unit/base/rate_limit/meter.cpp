/// Who is counted as whom, and what refusals say.
#include "base/rate_limit/rate_limiter.hpp"

#include <chrono>
#include <memory>
#include <string>

#include <gtest/gtest.h>

namespace hondana::rate_limit {
namespace {

using namespace std::chrono_literals;

const clock::time_point opening{std::chrono::hours(1)};

std::shared_ptr<const rate_limiter> made(const server_limits& with) {
  return rate_limiter::make(with, std::make_shared<bucket_tables>(1024));
}

server_limits per_identity(rate_quotas all) {
  server_limits out;
  out.per_identity = all;
  out.per_address = {};
  return out;
}

server_limits per_address(rate_quotas all) {
  server_limits out;
  out.per_address = all;
  return out;
}

caller_info named(std::string identity, std::string address = {}) { return {std::move(identity), std::move(address), nullptr}; }

int arrivals(const rate_limiter& at, const std::string& address) {
  int count = 0;
  while (count < 100 && at.admit_message(address, opening)) ++count;
  return count;
}

TEST(network_of, is_the_address_of_ipv4_and_the_first_half_of_ipv6) {
  EXPECT_EQ(network_of("192.0.2.7", false), std::string("\xC0\x00\x02\x07", 4));
  EXPECT_EQ(network_of("2001:db8:1:2:3:4:5:6", false), network_of("2001:db8:1:2:ffff::1", false));
  EXPECT_NE(network_of("2001:db8:1:2::1", false), network_of("2001:db8:1:3::1", false));
}

TEST(network_of, is_the_same_for_an_ipv4_address_that_came_by_ipv6) {
  EXPECT_EQ(network_of("::ffff:192.0.2.7", false), network_of("192.0.2.7", false));
}

TEST(network_of, is_nothing_for_this_machine_unless_it_counts) {
  for (const auto* here : {"127.0.0.1", "127.8.9.10", "::1", "::ffff:127.0.0.1"}) {
    EXPECT_EQ(network_of(here, false), "") << here;
    EXPECT_NE(network_of(here, true), "") << here;
  }
}

TEST(network_of, is_nothing_for_what_is_no_address) {
  for (const auto* none : {"", "unix", "unknown", "_hidden", "192.0.2", "192.0.2.7:80", "fe80::1%eth0"}) {
    EXPECT_EQ(network_of(none, true), "") << none;
  }
  EXPECT_EQ(network_of(std::string(10'000, '1'), true), "");
  EXPECT_EQ(network_of(std::string_view("192.0.2.7\0", 10), true), network_of("192.0.2.7", true));
}

TEST(share_of, is_the_identity_or_else_the_address) {
  EXPECT_EQ(queue_key_of(named("alice", "192.0.2.7")), "alice");
  EXPECT_EQ(queue_key_of(named("local")), "local");
  EXPECT_NE(queue_key_of(named("anonymous", "192.0.2.7")), queue_key_of(named("anonymous", "192.0.2.8")));
  EXPECT_EQ(queue_key_of(named("anonymous", "127.0.0.1")), "");
  EXPECT_EQ(queue_key_of(named("anonymous", "2001:db8::1")), queue_key_of(named("anonymous", "2001:db8::2")));
}

TEST(meter, is_none_when_there_is_nothing_to_limit) { EXPECT_EQ(made(per_identity({})), nullptr); }

TEST(meter, counts_identities_apart_wherever_they_come_from) {
  const auto at = made(per_identity({rate_quota{1, 2}, {}, {}}));
  EXPECT_TRUE(at->admit(named("alice", "192.0.2.1"), false, true, opening));
  EXPECT_TRUE(at->admit(named("alice", "192.0.2.2"), false, true, opening));
  const auto refused = at->admit(named("alice", "192.0.2.3"), false, true, opening);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::too_many_requests);
  EXPECT_EQ(refused.error().retry_after, 1s);
  EXPECT_EQ(refused.error().public_text,
            "Too many requests from this caller: wait 1 s before the next request, and send requests more slowly.");
  EXPECT_TRUE(at->admit(named("bob", "192.0.2.1"), false, true, opening));
}

TEST(meter, does_not_count_those_whom_nothing_tells_apart_as_one_caller) {
  const auto at = made(per_identity({rate_quota{1, 1}, {}, {}}));
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(at->admit(named("anonymous", "192.0.2.1"), false, true, opening));
}

TEST(meter, counts_what_arrives_by_network) {
  const auto at = made(per_address({rate_quota{1, 3}, {}, {}}));
  EXPECT_EQ(arrivals(*at, "2001:db8::1"), 3);
  EXPECT_EQ(arrivals(*at, "2001:db8::2"), 0);
  EXPECT_EQ(arrivals(*at, "2001:db8:0:1::1"), 3);
  EXPECT_EQ(arrivals(*at, "127.0.0.1"), 100);
  const auto refused = at->admit_message("2001:db8::3", opening);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::too_many_requests);
  EXPECT_NE(refused.error().public_text.find("from this address"), std::string::npos);
}

TEST(meter, counts_a_message_that_has_arrived_once_and_the_others_of_its_batch_each) {
  const auto at = made(per_address({rate_quota{1, 5}, {}, {}}));
  const auto who = named("anonymous", "192.0.2.1");
  ASSERT_TRUE(at->admit_message(who.address, opening));
  EXPECT_TRUE(at->admit(who, false, true, opening));
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(at->admit(who, false, false, opening)) << i;
  EXPECT_FALSE(at->admit(who, false, false, opening));
}

TEST(meter, limits_completions_besides_requests) {
  const auto at = made(per_address({{}, {}, rate_quota{1, 2}}));
  const auto who = named("anonymous", "192.0.2.1");
  EXPECT_TRUE(at->admit(who, true, true, opening));
  EXPECT_TRUE(at->admit(who, true, true, opening));
  EXPECT_FALSE(at->admit(who, true, true, opening));
  EXPECT_TRUE(at->admit(who, false, true, opening));
}

TEST(meter, takes_nothing_of_an_identity_whose_address_is_refused) {
  server_limits with;
  with.per_identity = {rate_quota{1, 2}, {}, {}};
  with.per_address = {rate_quota{1, 1}, {}, {}};
  const auto at = made(with);
  const auto here = named("alice", "192.0.2.1");
  ASSERT_TRUE(at->admit(here, false, false, opening));
  for (int i = 0; i < 5; ++i) ASSERT_FALSE(at->admit(here, false, false, opening));
  EXPECT_TRUE(at->admit(named("alice", "192.0.2.2"), false, false, opening));
}

TEST(meter, refuses_whoever_has_had_too_many_bytes_by_either_name) {
  server_limits with;
  with.per_identity = {{}, rate_quota{1000, 1000}, {}};
  with.per_address = {{}, rate_quota{1000, 1000}, {}};
  const auto at = made(with);
  EXPECT_TRUE(at->counts_bytes());
  at->charge_bytes(named("alice", "192.0.2.1"), 11'000, opening);
  const auto refused = at->admit(named("alice", "192.0.2.2"), false, true, opening);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().retry_after, 10s);
  EXPECT_NE(refused.error().public_text.find("response bytes"), std::string::npos);
  EXPECT_FALSE(at->admit_message("192.0.2.1", opening)) << "under another name from the same address";
  EXPECT_TRUE(at->admit_message("192.0.2.1", opening + 10s));
  EXPECT_TRUE(at->admit(named("bob", "192.0.2.3"), false, true, opening));
}

}  // namespace
}  // namespace hondana::rate_limit
