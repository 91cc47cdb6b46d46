/// Records that are longer than any block, and lines that do not end.
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "bytes_read.hpp"
#include "sources/logs/records/timestamp.hpp"
#include "unit/os/disk/stopped_wall_clock.hpp"
#include "unit/sources/logs/records/made_log.hpp"

namespace hondana::records {
namespace {

const instant eight = to_instant({2026, 1, 2, 8, 0, 0, 0});
constexpr instant hour_long = 3'600'000'000;

std::string repeated(std::string_view what, std::size_t bytes) {
  std::string out;
  while (out.size() < bytes) out += what;
  return out;
}

/// Stamped lines before 08:00.
std::string stamped_lines(std::size_t bytes) {
  std::string out;
  for (std::size_t i = 0; out.size() < bytes; ++i)
    out += "2026-01-02T07:" + std::to_string(10 + i / 6000 % 50) + ":" + std::to_string(10 + i / 120 % 50) + "Z INFO request\n";
  return out;
}

log_query newest_before(instant until) {
  auto out = newest(1);
  out.until = until;
  return out;
}

TEST(long_stretches, a_record_with_megabytes_behind_it_is_before_the_end_of_a_range) {
  made_log made;
  made.write("app.log", stamped_lines(2'300'000) + "2026-01-02T08:00:00Z CRITICAL crash\n" +
                            repeated("  at a frame of a dump\n", 3'000'000));
  const auto one = made.open();
  const auto got = page_of(*one, newest_before(eight + hour_long));
  ASSERT_EQ(got.records.size(), 1U);
  EXPECT_TRUE(got.records.front().text.starts_with("2026-01-02T08:00:00Z CRITICAL crash"));
  const auto forwards = walked(*one, eight - 5 * hour_long, eight + hour_long);
  ASSERT_FALSE(forwards.empty());
  EXPECT_EQ(forwards.back().time, eight);
}

TEST(long_stretches, a_record_that_is_nearly_all_of_a_file_is_before_the_end_of_a_range) {
  made_log made;
  made.write("app.log", "2026-01-02T08:00:00Z ERROR first\n" + repeated("  at a frame of a dump\n", 12'000'000) +
                            "2026-01-02T09:00:00Z ERROR last\n");
  const auto one = made.open();
  const auto last = page_of(*one, newest_before(eight + 2 * hour_long));
  ASSERT_EQ(last.records.size(), 1U);
  EXPECT_EQ(last.records.front().time, eight + hour_long);
  for (const auto until : {eight + 1, eight + hour_long}) {
    const auto got = page_of(*one, newest_before(until));
    ASSERT_EQ(got.records.size(), 1U);
    EXPECT_EQ(got.records.front().time, eight);
    EXPECT_GT(got.records.front().cut_bytes, 11'000'000U);
  }
  EXPECT_EQ(walked(*one, {}, eight + hour_long).size(), 1U);
}

TEST(long_stretches, times_within_a_record_do_not_say_where_it_ends) {
  made_log made;
  made.with.multi_line = "^BEGIN";
  const auto nine = repeated("2026-01-02T09:00:00Z a line of the record\n", 6'000'000);
  made.write("app.log", "BEGIN 2026-01-02T08:00:00Z one\n" + nine + "BEGIN 2026-01-02T10:00:00Z two\n" + nine);
  const auto got = page_of(*made.open(), newest_before(eight + 1));
  ASSERT_EQ(got.records.size(), 1U);
  EXPECT_TRUE(got.records.front().text.starts_with("BEGIN 2026-01-02T08:00:00Z one"));
}

TEST(long_stretches, a_last_line_without_an_end_is_not_looked_through_as_a_whole) {
  const disk::stopped_wall_clock clock;
  made_log made;
  made.write("app.log", "2026-01-02T08:00:00Z INFO whole\n");
  std::filesystem::resize_file(made.path(), std::uintmax_t{64} << 30);  // sparse
  read_budget most;
  most.max_scanned_bytes = 1u << 20;
  const auto before = hondana_test::bytes_read();
  static_cast<void>(page_of(*made.open(), newest(1), most));
  EXPECT_LT(hondana_test::bytes_read() - before, 64u << 20);
}

TEST(long_stretches, a_last_line_without_an_end_is_left_when_nobody_waits_any_more) {
  made_log made;
  made.write("app.log", "whole\n" + repeated("no end ", 3'000'000));
  std::stop_source stop;
  stop.request_stop();
  request_context by;
  by.stop = stop.get_token();
  const auto got = made.open()->read({}, {}, by);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, errc::cancelled);
}

TEST(long_stretches, a_last_line_without_an_end_is_held_back_where_it_is_no_longer_than_megabytes) {
  const disk::stopped_wall_clock clock;  // such a line counts after 2 s
  made_log made;
  made.write("app.log", "whole\n" + repeated("no end ", 3'000'000));
  EXPECT_EQ(texts_of(page_of(*made.open()).records), std::vector<std::string>{"whole"});
}

}  // namespace
}  // namespace hondana::records
