/// Points of lines and layers of stacks.
#include "sources/metrics/charts/downsampling.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "unit/sources/metrics/charts/samples_made.hpp"

namespace hondana::charts {
namespace {

constexpr double no_value = std::numeric_limits<double>::quiet_NaN();
constexpr double endless = std::numeric_limits<double>::infinity();

/// A hundred pixels high for values from 0 to 100, and a pixel a minute wide.
projection hour_wide(double width = 60) { return {{10, 20, width, 100}, tuesday, tuesday + 3'600'000, 0, 100}; }

TEST(reduction, keeps_every_sample_where_there_is_room) {
  const auto shown = reduce_line(line_of("", {0, 50, 100, 25}).samples, hour_wide(), 60'000, 1);
  ASSERT_EQ(shown.runs.points.size(), 4U);
  EXPECT_EQ(shown.runs.starts, std::vector<std::size_t>{0});
  EXPECT_DOUBLE_EQ(shown.runs.points[0].x, 10);
  EXPECT_DOUBLE_EQ(shown.runs.points[0].y, 120);
  EXPECT_DOUBLE_EQ(shown.runs.points[1].y, 70);
  EXPECT_DOUBLE_EQ(shown.runs.points[2].x, 12);
  EXPECT_DOUBLE_EQ(shown.runs.points[2].y, 20);
  EXPECT_TRUE(shown.isolated.empty());
}

TEST(reduction, breaks_at_gaps_and_at_what_is_no_number_and_draws_single_samples_as_dots) {
  auto samples = line_of("", {1, 2, no_value, 4, no_value, 6, 7}).samples;
  auto shown = reduce_line(samples, hour_wide(), 60'000, 1);
  EXPECT_EQ(shown.runs.starts, (std::vector<std::size_t>{0, 2}));
  EXPECT_EQ(shown.isolated.size(), 1U);
  samples = {{tuesday, 1}, {tuesday + 60'000, 2}, {tuesday + 150'000, 3}, {tuesday + 240'001, 4}, {tuesday + 300'000, 5}};
  shown = reduce_line(samples, hour_wide(), 60'000, 1);
  EXPECT_EQ(shown.runs.starts, (std::vector<std::size_t>{0, 3})) << "one and a half of a step are joined, more is not";
  EXPECT_EQ(reduce_line(samples, hour_wide(), 0, 1).runs.starts.size(), 1U);
  samples[1].value = series::stale_marker();
  EXPECT_EQ(reduce_line(samples, hour_wide(), 60'000, 1).isolated.size(), 2U);
}

TEST(reduction, keeps_the_least_and_the_greatest_of_a_column) {
  std::vector<series::sample> samples;
  for (int at = 0; at < 60'000; ++at) samples.push_back({tuesday + at * 60, at == 30'500 ? 99.0 : at == 31'000 ? 1.0 : 50.0});
  const auto shown = reduce_line(samples, hour_wide(), 60, 1);
  EXPECT_LE(shown.runs.points.size(), 2 * 61U);
  double top = 1000;
  double bottom = 0;
  for (const auto& one : shown.runs.points) {
    top = std::min(top, one.y);
    bottom = std::max(bottom, one.y);
  }
  EXPECT_DOUBLE_EQ(top, 21);
  EXPECT_DOUBLE_EQ(bottom, 119);
}

TEST(reduction, draws_infinities_at_the_edge_and_nothing_outside) {
  auto samples = line_of("", {endless, 1e308, -endless, 300, -5}).samples;
  samples.insert(samples.begin(), {tuesday - 60'000, 50});
  samples.push_back({tuesday + 4'000'000, 50});
  samples.push_back({tuesday, 50});
  const auto shown = reduce_line(samples, hour_wide(), 60'000, 1);
  ASSERT_EQ(shown.runs.points.size(), 5U);
  const std::vector<double> wanted{20, 20, 120, 20, 120};
  for (std::size_t at = 0; at < wanted.size(); ++at) EXPECT_DOUBLE_EQ(shown.runs.points[at].y, wanted[at]);
}

TEST(stacking, puts_lines_on_top_of_each_other_and_what_is_negative_below) {
  const auto a = line_of("a", {1, 2, 3});
  const auto b = line_of("b", {10, -20, 30});
  const auto c = line_of("c", {5, -6, 7});
  const auto made = stack_lines({&a, &b, &c}, tuesday, tuesday + 3'600'000, 60'000, 60);
  ASSERT_EQ(made.times.size(), 3U);
  EXPECT_EQ(made.times[1], tuesday + 60'000);
  EXPECT_EQ(made.layers[0].upper, (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(made.layers[1].upper, (std::vector<double>{11, -20, 33}));
  EXPECT_EQ(made.layers[2].lower, (std::vector<double>{11, -20, 33}));
  EXPECT_EQ(made.layers[2].upper, (std::vector<double>{16, -26, 40}));
  EXPECT_EQ(made.low, -26);
  EXPECT_EQ(made.high, 40);
}

TEST(stacking, keeps_gaps_and_lies_between_samples_that_are_joined) {
  line a{"a", {{tuesday, 2}, {tuesday + 120'000, 4}, {tuesday + 600'000, 8}}};
  const auto b = line_of("b", {1, 1, 1, 1, no_value, 1, 1, 1, 1, 1, 1});
  const auto made = stack_lines({&a, &b}, tuesday, tuesday + 3'600'000, 120'000, 60);
  EXPECT_EQ(made.layers[0].upper[1], 3) << "half way";
  EXPECT_TRUE(std::isnan(made.layers[0].upper[3]));
  EXPECT_EQ(made.layers[1].upper[3], 1) << "what is missing below counts as nothing";
  EXPECT_TRUE(made.layers[0].starts.back());
  EXPECT_FALSE(made.layers[1].starts[2]);
  EXPECT_TRUE(std::isnan(made.layers[1].upper[4]));
  EXPECT_TRUE(made.layers[1].starts[5]) << "behind what is no number";
}

TEST(stacking, takes_means_where_there_are_more_samples_than_columns) {
  std::vector<double> values;
  for (int at = 0; at < 3600; ++at) values.push_back(at % 2 == 0 ? 10 : 20);
  const auto a = line_of("a", values, 1000);
  const auto made = stack_lines({&a}, tuesday, tuesday + 3'600'000, 1000, 60);
  EXPECT_EQ(made.times.size(), 60U);
  for (const double value : made.layers[0].upper) EXPECT_NEAR(value, 15, 0.2);
}

}  // namespace
}  // namespace hondana::charts
