/// Times as they are sent.
#include "protocol/model/iso_8601.hpp"

#include <chrono>
#include <string>

#include <gtest/gtest.h>

namespace hondana::model {
namespace {

using std::chrono::milliseconds;
using time = std::chrono::sys_time<milliseconds>;

TEST(iso_8601, writes_two_digits_each_and_milliseconds_where_there_are_some) {
  EXPECT_EQ(format_iso_8601(time(milliseconds(0))), "1970-01-01T00:00:00Z");
  EXPECT_EQ(format_iso_8601(time(milliseconds(1'700'000'000'123))), "2023-11-14T22:13:20.123Z");
  EXPECT_EQ(format_iso_8601(time(milliseconds(1'700'000'000'007))), "2023-11-14T22:13:20.007Z");
  EXPECT_EQ(format_iso_8601(time(milliseconds(-1))), "1969-12-31T23:59:59.999Z");
}

TEST(iso_8601, writes_four_digits_of_a_year_at_least) {
  EXPECT_EQ(format_iso_8601(time(std::chrono::sys_days(std::chrono::year(987) / 6 / 5))), "0987-06-05T00:00:00Z");
  EXPECT_EQ(format_iso_8601(time(std::chrono::sys_days(std::chrono::year(12'345) / 1 / 2))), "12345-01-02T00:00:00Z");
  EXPECT_EQ(format_iso_8601(time(std::chrono::sys_days(std::chrono::year(-5) / 1 / 2))), "-005-01-02T00:00:00Z");
}

TEST(iso_8601, reads_back_equal) {
  for (long long ms = -62'000'000'000'000; ms < 250'000'000'000'000; ms += 987'654'321'987) {
    const time when{milliseconds(ms)};
    EXPECT_EQ(parse_time(format_iso_8601(when)), when) << ms;
  }
}

}  // namespace
}  // namespace hondana::model
