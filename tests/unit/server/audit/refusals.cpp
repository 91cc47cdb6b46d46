/// Refusals that come by the thousand: one record a second for each caller, and none of them forgotten.
#include "server/audit/rejection_summary.hpp"

#include <string>

#include "unit/server/audit/a_folder.hpp"

namespace hondana::audit {
namespace {

using clock = rejection_summary::clock;
using hondana_test::eventually;
using test::audit_folder;

audit_decision refused(const std::string& address, std::optional<int> status = 401) {
  audit_decision out;
  out.address = address;
  out.method = "POST";
  out.is_allowed = false;
  out.reason = "rejected_over_http";
  out.http_status = status;
  out.is_request = false;
  return out;
}

audit_decision malformed(const std::string& identity, const char* why = "malformed") {
  auto out = refused("192.0.2.7", std::nullopt);
  out.identity = identity;
  out.reason = why;
  return out;
}

TEST(audit_refusals, are_one_a_second_for_each_caller_and_status_with_a_count) {
  rejection_summary all;
  const clock::time_point begin(std::chrono::hours(1));
  EXPECT_EQ(all.next_due(), clock::time_point::max());
  EXPECT_TRUE(all.is_first(refused("192.0.2.7"), begin));
  EXPECT_FALSE(all.is_first(refused("192.0.2.7"), begin));
  EXPECT_FALSE(all.is_first(refused("192.0.2.7"), begin + std::chrono::milliseconds(999)));
  EXPECT_TRUE(all.is_first(refused("192.0.2.7", 404), begin));
  EXPECT_TRUE(all.is_first(refused("192.0.2.8"), begin));
  EXPECT_EQ(all.next_due(), begin + rejection_summary::window);
  EXPECT_TRUE(all.drain(begin + std::chrono::milliseconds(999), false).empty());
  const auto counted = all.drain(begin + rejection_summary::window, false);
  ASSERT_EQ(counted.size(), 1u);
  EXPECT_EQ(counted[0].count, 2u);
  EXPECT_EQ(counted[0].decision.address, "192.0.2.7");
  EXPECT_EQ(counted[0].decision.http_status, 401);
  EXPECT_EQ(counted[0].decision.reason, "rejected_over_http");
  EXPECT_FALSE(counted[0].decision.is_allowed);
  EXPECT_EQ(counted[0].decision.method, "") << "which only one of them had";
  EXPECT_FALSE(all.is_first(refused("192.0.2.7"), begin + rejection_summary::window)) << "a flood goes on";
  EXPECT_TRUE(all.is_first(refused("192.0.2.8"), begin + rejection_summary::window));
}

TEST(audit_refusals, of_messages_are_counted_for_each_caller_and_reason) {
  rejection_summary all;
  const clock::time_point now(std::chrono::hours(1));
  for (const auto* identity : {"alice", "bob"}) {
    for (const auto* why : {"malformed", "oversized"}) {
      EXPECT_TRUE(all.is_first(malformed(identity, why), now)) << identity << ' ' << why;
      for (int i = 0; i < 3; ++i) EXPECT_FALSE(all.is_first(malformed(identity, why), now)) << identity << ' ' << why;
    }
  }
  const auto counted = all.drain(now, true);
  ASSERT_EQ(counted.size(), 4u);
  for (const auto& one : counted) {
    EXPECT_EQ(one.count, 3u);
    EXPECT_FALSE(one.decision.is_request);
    EXPECT_EQ(one.decision.http_status, std::nullopt);
  }
  EXPECT_EQ(counted[0].decision.identity, "alice");
  EXPECT_EQ(counted[0].decision.reason, "malformed");
  EXPECT_EQ(counted[1].decision.reason, "oversized");
  EXPECT_EQ(counted[3].decision.identity, "bob");
}

TEST(audit_refusals, of_more_callers_than_there_is_room_for_are_counted_together) {
  rejection_summary all;
  const clock::time_point now(std::chrono::hours(1));
  for (std::size_t i = 0; i < rejection_summary::max_callers; ++i) EXPECT_TRUE(all.is_first(refused(std::to_string(i)), now));
  EXPECT_FALSE(all.is_first(refused("a"), now));
  EXPECT_FALSE(all.is_first(refused("b"), now));
  const auto counted = all.drain(now, true);
  ASSERT_EQ(counted.size(), 1u);
  EXPECT_EQ(counted[0].count, 2u);
  EXPECT_EQ(counted[0].decision.address, "");
  EXPECT_EQ(all.next_due(), now + rejection_summary::window) << "a second has not become longer for it";
  EXPECT_TRUE(all.drain(now, true).empty());
}

TEST(audit_refusals, of_one_network_are_few_whatever_addresses_it_makes_up) {
  rejection_summary all;
  const clock::time_point now(std::chrono::hours(1));
  EXPECT_TRUE(all.is_first(refused("2001:db8:0:1::1"), now));
  for (int i = 2; i < 1000; ++i) EXPECT_FALSE(all.is_first(refused("2001:db8:0:1::" + std::to_string(i)), now));
  EXPECT_TRUE(all.is_first(refused("2001:db8:0:2::1"), now)) << "another network";
  const auto counted = all.drain(now, true);
  ASSERT_EQ(counted.size(), 1u);
  EXPECT_EQ(counted[0].count, 998u);
  EXPECT_EQ(counted[0].decision.address, "2001:db8:0:1::1") << "of the first";
}

TEST(audit_refusals, of_more_kinds_than_a_network_may_have_are_counted_as_its) {
  rejection_summary all;
  const clock::time_point now(std::chrono::hours(1));
  for (int i = 0; i < 8; ++i) EXPECT_TRUE(all.is_first(refused("192.0.2.7", 400 + i), now));
  EXPECT_FALSE(all.is_first(refused("192.0.2.7", 420), now));
  EXPECT_FALSE(all.is_first(refused("192.0.2.7", 421), now));
  EXPECT_TRUE(all.is_first(refused("192.0.2.8", 420), now));
  const auto counted = all.drain(now, true);
  ASSERT_EQ(counted.size(), 1u);
  EXPECT_EQ(counted[0].count, 2u);
  EXPECT_EQ(counted[0].decision.address, "192.0.2.7");
  EXPECT_EQ(counted[0].decision.http_status, std::nullopt) << "of several";
}

class refusals_in_a_file : public audit_folder {
 protected:
  /// How many records have `why`, and for how many refusals they stand.
  std::pair<std::uint64_t, std::uint64_t> records_and_times(const std::string& why) {
    std::uint64_t records = 0;
    std::uint64_t times = 0;
    for (const auto& line : lines(path())) {
      if (line.find(why) == std::string::npos) continue;
      ++records;
      const auto at = line.find("\"count\":");
      times += at == std::string::npos ? 1 : std::stoull(line.substr(at + 8));
    }
    return {records, times};
  }
  /// One record of the first, and one of those that were counted in its second, which does not end before the log.
  void expect_two_for(const std::string& why, std::uint64_t wanted) {
    EXPECT_EQ(records_and_times(why), (std::pair<std::uint64_t, std::uint64_t>(2, wanted))) << why;
  }

  manual_clock clock_;
};

TEST_F(refusals_in_a_file, are_few_records_that_stand_for_all) {
  {
    const auto log = audit_file::open(options()).value();
    for (int i = 0; i < 5000; ++i) ASSERT_TRUE(log->record_decision(refused("192.0.2.7")));
  }
  expect_two_for("rejected_over_http", 5000);
}

TEST_F(refusals_in_a_file, of_messages_are_few_records_too_and_the_file_verifies) {
  {
    const auto log = audit_file::open(options()).value();
    for (int i = 0; i < 5000; ++i) {
      ASSERT_TRUE(log->record_decision(malformed("alice")));
      ASSERT_TRUE(log->record_decision(malformed("alice", "oversized")));
    }
  }
  expect_two_for("malformed", 5000);
  expect_two_for("oversized", 5000);
  const auto report = verify_audit({path()});
  ASSERT_TRUE(report) << report.error().public_text;
  EXPECT_FALSE(report->first_fault) << report->first_fault->description;
}

TEST_F(refusals_in_a_file, of_requests_have_a_record_each) {
  {
    const auto log = audit_file::open(options()).value();
    auto hidden = malformed("alice", "hidden_by_access_rules");
    hidden.is_request = true;
    for (int i = 0; i < 100; ++i) EXPECT_NE(log->record_decision(hidden).value(), 0u) << "to be completed by";
  }
  EXPECT_EQ(records_and_times("hidden_by_access_rules"), (std::pair<std::uint64_t, std::uint64_t>(100, 100)));
}

TEST_F(refusals_in_a_file, are_recorded_when_their_second_is_over_though_nothing_else_happens) {
  const auto log = audit_file::open(options()).value();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(log->record_decision(refused("192.0.2.7")));
  clock_.advance(rejection_summary::window);
  EXPECT_TRUE(eventually([&] {
    clock_.advance(std::chrono::milliseconds(10));
    return text(path()).find("\"count\":2") != std::string::npos;
  })) << text(path());
}

}  // namespace
}  // namespace hondana::audit
