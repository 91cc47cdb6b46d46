/// Files that begin with times of a clock that was not set yet.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "os/disk/file_stamp.hpp"
#include "sources/logs/records/timestamp.hpp"
#include "unit/os/disk/stopped_wall_clock.hpp"
#include "unit/sources/logs/records/made_log.hpp"

namespace hondana::records {
namespace {

/// "2026-01-02T08:00:00Z", so many hours before now.
std::string hours_ago(int hours) {
  const auto when = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now() - std::chrono::hours(hours));
  const auto text = [](auto number) { return (number < 10 ? "0" : "") + std::to_string(number); };
  const auto date = std::chrono::floor<std::chrono::days>(when);
  const std::chrono::year_month_day day(date);
  const std::chrono::hh_mm_ss clock(when - date);
  return std::to_string(static_cast<int>(day.year())) + "-" + text(static_cast<unsigned>(day.month())) + "-" +
         text(static_cast<unsigned>(day.day())) + "T" + text(clock.hours().count()) + ":" + text(clock.minutes().count()) +
         ":" + text(clock.seconds().count()) + "Z";
}

instant instant_hours_ago(int hours) { return disk::wall_clock() / 1000 - hours * instant{3'600'000'000}; }

TEST(wrong_clocks, a_file_that_begins_long_ago_hides_no_older_one) {
  made_log made;
  made.write("app.log.1", hours_ago(20) + " INFO yesterday\n");
  made.write("app.log", "1970-01-01T00:00:07Z INFO booting\n" + hours_ago(2) + " INFO today\n");
  auto what = newest(100);
  what.since = instant_hours_ago(24);
  const auto got = page_of(*made.open(), what);
  ASSERT_EQ(got.records.size(), 2U);
  EXPECT_TRUE(got.records[0].text.ends_with("today"));
  EXPECT_TRUE(got.records[1].text.ends_with("yesterday"));
}

TEST(wrong_clocks, a_file_that_begins_in_the_future_is_read) {
  made_log made;
  made.write("app.log", "2099-01-01T00:00:07Z INFO booting\n" + hours_ago(2) + " INFO today\n");
  const auto one = made.open();
  auto what = newest(100);
  what.until = instant_hours_ago(1);
  const auto got = page_of(*one, what);
  ASSERT_EQ(got.records.size(), 1U);
  EXPECT_TRUE(got.records[0].text.ends_with("today"));
  EXPECT_EQ(walked(*one, instant_hours_ago(24), instant_hours_ago(1)).size(), 1U);
}

TEST(members_alike, are_no_copies_where_one_was_moved_out_of_the_way) {
  made_log made;
  made.write("app.log.2", "start\n");
  made.write("app.log.1", "start\nfailed\n");
  made.write("app.log", "start\nfailed\nstop\n");
  const auto one = made.open();
  EXPECT_EQ(page_of(*one).records.size(), 6U);
  EXPECT_EQ(walked(*one).size(), 6U);
}

TEST(members_alike, are_copies_where_the_file_that_is_written_was_there_before) {
  const disk::stopped_wall_clock clock;  // copying lasts a minute at most
  made_log made;
  std::string text;
  for (int i = 0; i < 500; ++i) text += "line " + std::to_string(i) + "\n";
  made.write("app.log", text);
  made.run("sleep 0.02; head -c 4500 app.log > app.log.1");
  const auto one = made.open();
  EXPECT_EQ(page_of(*one, newest(2000)).records.size(), 500U);
  EXPECT_EQ(walked(*one).size(), 500U);
}

}  // namespace
}  // namespace hondana::records
