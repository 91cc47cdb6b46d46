/// How numbers of a unit are written.
#include "sources/metrics/charts/number_axis.hpp"

#include <cmath>
#include <limits>
#include <string>

#include <gtest/gtest.h>

namespace hondana::charts {
namespace {

/// "1024| KiB"; the blank before the suffix is one that does not break.
std::string scale_of(std::string_view unit, double magnitude) {
  const auto made = unit_scale_for(unit, magnitude);
  std::string divisor = std::to_string(made.divisor);
  while (divisor.find('.') != std::string::npos && (divisor.back() == '0' || divisor.back() == '.')) {
    const bool is_point = divisor.back() == '.';
    divisor.pop_back();
    if (is_point) break;
  }
  std::string suffix = made.suffix;
  if (suffix.starts_with("\u00a0")) suffix.replace(0, 2, " ");
  return divisor + '|' + suffix + (made.caption.empty() ? "" : "|" + made.caption);
}

TEST(unit_scale, of_bytes_goes_by_1024_and_of_bits_by_1000) {
  EXPECT_EQ(scale_of("bytes", 0), "1| B");
  EXPECT_EQ(scale_of("bytes", 1023), "1| B");
  EXPECT_EQ(scale_of("bytes", 1024), "1024| KiB");
  EXPECT_EQ(scale_of("Bytes/s", 3.0 * 1024 * 1024), "1048576| MiB/s");
  EXPECT_EQ(scale_of("bytes_per_second", 3.0 * 1024 * 1024), "1048576| MiB/s");
  EXPECT_EQ(scale_of("bits", 1500), "1000| kbit");
}

TEST(unit_scale, of_time_is_what_clocks_have_and_of_less_than_a_second_by_1000) {
  EXPECT_EQ(scale_of("seconds", 0), "1| s");
  EXPECT_EQ(scale_of("seconds", 119), "1| s");
  EXPECT_EQ(scale_of("seconds", 120), "60| min");
  EXPECT_EQ(scale_of("seconds", 7200), "3600| h");
  EXPECT_EQ(scale_of("seconds", 172'800), "86400| d");
  EXPECT_EQ(scale_of("seconds", 0.25), "0.001| ms");
  EXPECT_EQ(scale_of("milliseconds", 250), "1| ms");
  EXPECT_EQ(scale_of("ms", 2500), "1000| s");
  EXPECT_EQ(scale_of("seconds/s", 2), "1| s/s");
}

TEST(unit_scale, of_shares_is_percent) {
  EXPECT_EQ(scale_of("ratio", 0.5), "0.01|%");
  EXPECT_EQ(scale_of("percent", 50), "1|%");
  EXPECT_EQ(scale_of("ratio/s", 0.5), "1||ratio/s") << "written as it is";
}

TEST(unit_scale, of_what_it_does_not_know_is_a_number_with_the_unit_beside_it) {
  EXPECT_EQ(scale_of("", 9999), "1|");
  EXPECT_EQ(scale_of("", 10'000), "1000| k");
  EXPECT_EQ(scale_of("requests/s", 5e6), "1000000| M|requests/s");
  EXPECT_EQ(scale_of("", 0.001), "1|") << "nobody counts in thousandths";
  EXPECT_EQ(scale_of("celsius", 30), "1| °C");
  EXPECT_EQ(scale_of("a\nb", 1), "1||a␊b");
}

TEST(unit_scale, of_any_size_divides_by_something) {
  for (const char* const unit : {"bytes", "seconds", "ratio", "", "volts", "bytes/s"}) {
    for (const double magnitude :
         {0.0, std::numeric_limits<double>::denorm_min(), 1e-300, 1e300, std::numeric_limits<double>::max()}) {
      const auto made = unit_scale_for(unit, magnitude);
      EXPECT_TRUE(std::isfinite(made.divisor) && made.divisor > 0) << unit << ' ' << magnitude;
    }
  }
}

}  // namespace
}  // namespace hondana::charts
