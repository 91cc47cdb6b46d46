/// Times as clients write them.
#include "sources/logs/moment.hpp"

#include <gtest/gtest.h>

#include "unit/sources/logs/made_source.hpp"

namespace hondana::logs {
namespace {

records::instant read_moment(std::string_view text) {
  const auto got = parse_moment("since", text, noon);
  EXPECT_TRUE(got) << text;
  return got ? got->time : 0;
}

}  // namespace

TEST(log_moments, what_lies_so_long_ago_counts_from_now) {
  EXPECT_EQ(read_moment("now"), 1'769'860'800'000'000);
  EXPECT_EQ(read_moment("-1h"), 1'769'857'200'000'000);
  EXPECT_EQ(read_moment("15m"), 1'769'859'900'000'000);
  EXPECT_EQ(read_moment("1h30m"), 1'769'855'400'000'000);
  EXPECT_EQ(read_moment("90s"), 1'769'860'710'000'000);
  EXPECT_EQ(read_moment("2d"), 1'769'688'000'000'000);
  EXPECT_EQ(read_moment("1w"), 1'769'256'000'000'000);
  EXPECT_EQ(read_moment("500ms"), 1'769'860'799'500'000);
  EXPECT_EQ(read_moment("2 hours"), 1'769'853'600'000'000);
  EXPECT_TRUE(parse_moment("since", "15m", noon)->is_relative);
}

TEST(log_moments, days_and_times_are_in_utc_unless_they_say_otherwise) {
  EXPECT_EQ(read_moment("2026-01-31"), 1'769'817'600'000'000);
  EXPECT_EQ(read_moment("2026-01-31T12:00:00Z"), 1'769'860'800'000'000);
  EXPECT_EQ(read_moment("2026-01-31T21:00:00+09:00"), 1'769'860'800'000'000);
  EXPECT_EQ(read_moment("2026-01-31 12:00:00"), 1'769'860'800'000'000);
  EXPECT_EQ(read_moment("2026-01-31T12:00"), 1'769'860'800'000'000);
  EXPECT_EQ(read_moment("2026-01-31T12:00:00.000123Z"), 1'769'860'800'000'123);
  EXPECT_EQ(read_moment("2026-01-31T12:00:00.123456789Z"), 1'769'860'800'123'456);
  EXPECT_FALSE(parse_moment("since", "2026-01-31", noon)->is_relative);
}

TEST(log_moments, numbers_are_told_apart_by_their_size) {
  EXPECT_EQ(read_moment("1769860800"), 1'769'860'800'000'000);
  EXPECT_EQ(read_moment("1769860800.25"), 1'769'860'800'250'000);
  EXPECT_EQ(read_moment("1769860800123"), 1'769'860'800'123'000);
  EXPECT_EQ(read_moment("1769860800123456"), 1'769'860'800'123'456);
  EXPECT_EQ(read_moment("1769860800123456789"), 1'769'860'800'123'456);
}

TEST(log_moments, what_is_no_time_is_refused_by_the_parameters_name_without_repeating_it) {
  for (const auto* text : {"", "yesterday", "1x", "h", "-", "--1h", "2026-13-01", "2026-02-30", "2026-01-31T25:00:00Z", "1h30",
                           "1769860800.x", "99999999999999999999", "1769860800123.5", "999999999w", "2026-01-31T", "+1h"}) {
    const auto got = parse_moment("until", text, noon);
    ASSERT_FALSE(got) << text;
    EXPECT_EQ(got.error().code, errc::invalid_argument) << text;
    EXPECT_TRUE(got.error().public_text.starts_with("until: not a valid time.")) << got.error().public_text;
  }
  EXPECT_FALSE(parse_moment("until", std::string(100'000, '1'), noon));
}

TEST(log_moments, what_is_written_is_read_back) {
  for (const records::instant one : {records::instant{0}, records::instant{1}, noon, noon + 123'000, noon + 1, -second / 2}) {
    const auto text = format_time(one);
    if (one < 0) continue;
    EXPECT_EQ(read_moment(text), one) << text;
  }
  EXPECT_EQ(format_time(noon), "2026-01-31T12:00:00Z");
  EXPECT_EQ(format_time(noon + 120), "2026-01-31T12:00:00.00012Z");
  EXPECT_EQ(format_time(-1), "1969-12-31T23:59:59.999999Z");
}

TEST(log_moments, spans_are_written_for_people) {
  EXPECT_EQ(format_duration(45 * second), "45 s");
  EXPECT_EQ(format_duration(12 * minute), "12 min");
  EXPECT_EQ(format_duration(200 * minute), "3 h 20 min");
  EXPECT_EQ(format_duration(52 * hour), "2 d 4 h");
}

}  // namespace hondana::logs
