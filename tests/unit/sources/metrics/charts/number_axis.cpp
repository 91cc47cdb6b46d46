/// Ticks of numbers, and their units.
#include "sources/metrics/charts/number_axis.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace hondana::charts {
namespace {

std::vector<std::string> labels_of(double low, double high, std::string_view unit, unsigned most = 6) {
  std::vector<std::string> out;
  for (const auto& tick : number_axis_for(low, high, unit, most).ticks) {
    std::string text;
    // Non-breaking spaces are spaces to who reads.
    for (std::size_t at = 0; at < tick.text.size(); ++at) {
      if (tick.text.compare(at, 2, "\u00a0") == 0) {
        text += ' ';
        ++at;
      } else {
        text += tick.text[at];
      }
    }
    out.push_back(text);
  }
  return out;
}
using texts = std::vector<std::string>;

TEST(number_axis, has_ticks_of_one_two_or_five) {
  EXPECT_EQ(labels_of(0, 10, ""), (texts{"0", "2", "4", "6", "8", "10"}));
  EXPECT_EQ(labels_of(0, 47, ""), (texts{"0", "10", "20", "30", "40", "50"}));
  EXPECT_EQ(labels_of(0, 0.23, ""), (texts{"0", "0.05", "0.10", "0.15", "0.20", "0.25"}));
  EXPECT_EQ(labels_of(-3, 3, "", 4), (texts{"−4", "−2", "0", "2", "4"}));
}

TEST(number_axis, scales_bytes_by_1024_and_others_by_1000) {
  EXPECT_EQ(labels_of(0, 900.0 * 1024 * 1024, "bytes"), (texts{"0", "200 MiB", "400 MiB", "600 MiB", "800 MiB", "1000 MiB"}));
  EXPECT_EQ(labels_of(0, 1.4 * 1024 * 1024 * 1024, "bytes/s", 4), (texts{"0", "0.5 GiB/s", "1.0 GiB/s", "1.5 GiB/s"}));
  EXPECT_EQ(labels_of(0, 4500, "watts"), (texts{"0", "1 kW", "2 kW", "3 kW", "4 kW", "5 kW"}));
  EXPECT_EQ(labels_of(0, 0.0045, "volts"), (texts{"0", "1 mV", "2 mV", "3 mV", "4 mV", "5 mV"}));
  EXPECT_EQ(labels_of(0, 4500, ""), (texts{"0", "1000", "2000", "3000", "4000", "5000"}));
  EXPECT_EQ(labels_of(0, 45'000, ""), (texts{"0", "10 k", "20 k", "30 k", "40 k", "50 k"}));
}

TEST(number_axis, scales_seconds_as_people_do_and_ratios_as_percent) {
  EXPECT_EQ(labels_of(0, 0.4, "seconds", 5), (texts{"0", "100 ms", "200 ms", "300 ms", "400 ms"}));
  EXPECT_EQ(labels_of(0, 4e-5, "seconds", 5), (texts{"0", "10 µs", "20 µs", "30 µs", "40 µs"}));
  EXPECT_EQ(labels_of(0, 7200, "seconds", 5), (texts{"0", "0.5 h", "1.0 h", "1.5 h", "2.0 h"}));
  EXPECT_EQ(labels_of(0, 1, "ratio"), (texts{"0%", "20%", "40%", "60%", "80%", "100%"}));
  EXPECT_EQ(labels_of(0, 100, "percent"), (texts{"0%", "20%", "40%", "60%", "80%", "100%"}));
  EXPECT_EQ(labels_of(0, 0.4, "seconds/s", 5), (texts{"0", "100 ms/s", "200 ms/s", "300 ms/s", "400 ms/s"}));
}

TEST(number_axis, says_a_long_unit_once) {
  const auto axis = number_axis_for(0, 20'000, "requests/s", 4);
  EXPECT_EQ(axis.caption, "requests/s");
  EXPECT_EQ(axis.ticks.back().text, "20\u00a0k");
  EXPECT_EQ(number_axis_for(0, 1, "bytes", 4).caption, "");
  EXPECT_EQ(number_axis_for(0, 1, "a\x01<b>", 4).caption, "a␁<b>");
}

TEST(number_axis, begins_at_zero_where_values_come_near_it_and_not_elsewhere) {
  EXPECT_EQ(number_axis_for(3, 10, "", 5).low, 0);
  EXPECT_GE(number_axis_for(100, 101, "", 5).low, 99);
  EXPECT_EQ(number_axis_for(-10, -3, "", 5).high, 0);
}

TEST(number_axis, holds_every_span_with_two_ticks_or_more) {
  const double least = std::numeric_limits<double>::denorm_min();
  const std::vector<double> ends{0,      1,       -1,  42,         1e15,   1e15 + 1, 1e300, -1e300, clamp_extremes(least),
                                 1e-300, -3e-299, 0.1, 123456.789, 9.99e99};
  for (const double a : ends) {
    for (const double b : ends) {
      if (a > b) continue;
      for (const char* const unit : {"", "bytes", "seconds", "ratio", "volts", "cows"}) {
        for (const unsigned most : {2U, 3U, 5U, 12U}) {
          const auto axis = number_axis_for(a, b, unit, most);
          SCOPED_TRACE(std::to_string(a) + " " + std::to_string(b) + " " + unit);
          // Less than anybody can see.
          const double unseen = std::max(std::abs(a), std::abs(b)) * 1e-5;
          EXPECT_LE(axis.low, a + unseen);
          EXPECT_GE(axis.high, b - unseen);
          EXPECT_LT(axis.low, axis.high);
          ASSERT_GE(axis.ticks.size(), 2U);
          EXPECT_LE(axis.ticks.size(), std::max(most, 3U) + 1);
          for (std::size_t at = 0; at < axis.ticks.size(); ++at) {
            EXPECT_TRUE(std::isfinite(axis.ticks[at].value));
            EXPECT_LT(axis.ticks[at].text.size(), 40U);
            if (at > 0) {
              EXPECT_LT(axis.ticks[at - 1].value, axis.ticks[at].value);
              EXPECT_NE(axis.ticks[at - 1].text, axis.ticks[at].text);
            }
          }
        }
      }
    }
  }
}

TEST(number_text, has_four_figures_and_the_unit) {
  EXPECT_EQ(number_text(1536 * 1024.0, "bytes/s"), "1.5\u00a0MiB/s");
  EXPECT_EQ(number_text(-12, "celsius"), "−12\u00a0°C");
  EXPECT_EQ(number_text(0.95, "ratio"), "95%");
  EXPECT_EQ(number_text(3.21e30, ""), "3.21×10³⁰");
  EXPECT_EQ(number_text(0.123456, ""), "0.1235");
  EXPECT_EQ(number_text(12, "requests/s"), "12\u00a0requests/s");
  EXPECT_EQ(number_text(12, "requests/s", false), "12");
  EXPECT_EQ(number_text(std::nan(""), "bytes"), "NaN");
  EXPECT_EQ(number_text(-HUGE_VAL, ""), "−∞");
  EXPECT_EQ(number_text(0, "seconds"), "0\u00a0s");
}

TEST(tamed, leaves_ordinary_numbers_alone) {
  EXPECT_EQ(clamp_extremes(1.5), 1.5);
  EXPECT_EQ(clamp_extremes(-1e299), -1e299);
  EXPECT_EQ(clamp_extremes(2e300), HUGE_VAL);
  EXPECT_EQ(clamp_extremes(-2e300), -HUGE_VAL);
  EXPECT_EQ(clamp_extremes(1e-310), 0);
  EXPECT_TRUE(std::isnan(clamp_extremes(std::nan(""))));
}

}  // namespace
}  // namespace hondana::charts
