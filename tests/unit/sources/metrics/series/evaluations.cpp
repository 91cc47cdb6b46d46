/// Values over time that are worked out by hand, and what the comparison with Prometheus cannot have: stale markers, many
/// series.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "sources/metrics/series/evaluation.hpp"

namespace hondana::series {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

std::vector<sample> every_ten_seconds(const std::vector<double>& values) {
  std::vector<sample> out;
  for (std::size_t i = 0; i < values.size(); ++i) out.push_back({static_cast<instant>(i) * 10'000, values[i]});
  return out;
}

/// The value at one instant.
std::optional<double> at(const std::vector<sample>& samples, over_time how, duration window, instant when) {
  const auto out = aggregate_over_time(samples, how, window, {when, when, 1});
  if (out.empty()) return std::nullopt;
  return out.front().value;
}

TEST(series_over_time, an_instant_looks_back_five_minutes_and_no_further) {
  const auto one = every_ten_seconds({7});
  EXPECT_EQ(at(one, over_time::last, 0, 0), 7);
  EXPECT_EQ(at(one, over_time::last, 0, 300'000), 7);
  EXPECT_FALSE(at(one, over_time::last, 0, 300'001));
  EXPECT_FALSE(at(one, over_time::last, 0, -1));
}

TEST(series_over_time, a_stale_marker_ends_a_series_until_it_comes_back) {
  const auto all = every_ten_seconds({1, stale_marker(), 3});
  EXPECT_EQ(at(all, over_time::last, 0, 9'999), 1);
  EXPECT_FALSE(at(all, over_time::last, 0, 10'000));
  EXPECT_FALSE(at(all, over_time::last, 0, 19'999));
  EXPECT_EQ(at(all, over_time::last, 0, 20'000), 3);
}

TEST(series_over_time, windows_do_not_count_stale_markers) {
  const auto all = every_ten_seconds({1, stale_marker(), 3});
  EXPECT_EQ(at(all, over_time::count, 20'000, 20'000), 2);
  EXPECT_EQ(at(all, over_time::sum, 20'000, 20'000), 4);
  EXPECT_EQ(at(all, over_time::max, 20'000, 10'000), 1);
  EXPECT_EQ(at(all, over_time::increase, 20'000, 20'000), 2);
  EXPECT_FALSE(at(all, over_time::count, 5'000, 14'000));
}

TEST(series_over_time, a_counter_that_begins_anew_loses_nothing) {
  // 5, then anew from zero: 3, 4.
  const auto all = every_ten_seconds({0, 5, 3, 4});
  EXPECT_DOUBLE_EQ(*at(all, over_time::increase, 30'000, 30'000), 9);
  EXPECT_DOUBLE_EQ(*at(all, over_time::rate, 30'000, 30'000), 0.3);
  EXPECT_DOUBLE_EQ(*at(all, over_time::delta, 30'000, 30'000), 4);
  EXPECT_DOUBLE_EQ(*at(all, over_time::irate, 30'000, 20'000), 0.3);
}

TEST(series_over_time, extrapolation_goes_to_the_edges_where_they_are_near_and_never_below_zero) {
  const auto all = every_ten_seconds({100, 110, 120});
  // Edges 5 s away on either side: as if it went on to them.
  EXPECT_DOUBLE_EQ(*at(all, over_time::increase, 30'000, 25'000), 30);
  // The beginning is 20 s away, more than 1.1 distances: half a distance is added.
  EXPECT_DOUBLE_EQ(*at(all, over_time::increase, 40'000, 20'000), 25);
  // 1 and 11: the counter was zero one second before.
  EXPECT_DOUBLE_EQ(*at(every_ten_seconds({1, 11}), over_time::increase, 20'000, 15'000), 16);
  EXPECT_FALSE(at(every_ten_seconds({1}), over_time::increase, 20'000, 15'000));
}

TEST(series_over_time, means_of_huge_values_are_not_infinite) {
  const double huge = 1.7e308;
  EXPECT_DOUBLE_EQ(*at(every_ten_seconds({huge, huge, huge}), over_time::avg, 30'000, 20'000), huge);
  EXPECT_EQ(at(every_ten_seconds({huge, -infinite, huge}), over_time::avg, 30'000, 20'000), -infinite);
  EXPECT_TRUE(std::isnan(*at(every_ten_seconds({infinite, -infinite}), over_time::avg, 30'000, 20'000)));
}

TEST(series_over_time, a_long_window_at_many_steps_costs_no_more_than_the_samples) {
  std::vector<sample> all;
  for (instant now = 0; now < 200'000; ++now) all.push_back({now * 1000, static_cast<double>(now % 1000)});
  for (const auto how : {over_time::sum, over_time::avg, over_time::min, over_time::max, over_time::rate, over_time::count}) {
    const auto out = aggregate_over_time(all, how, 100'000'000, {0, 199'999'000, 1000});
    ASSERT_GE(out.size(), 199'999u);
    if (how == over_time::max) {
      EXPECT_EQ(out.back().value, 999);
    }
    if (how == over_time::sum) {
      EXPECT_EQ(out.back().value, 100 * 499'500.0 + 999);
    }
  }
}

TEST(series_over_time, an_empty_range_has_no_steps) {
  EXPECT_EQ((range{10, 9, 1}.steps()), 0u);
  EXPECT_EQ((range{10, 10, 0}.steps()), 0u);
  EXPECT_EQ((range{10, 19, 10}.steps()), 1u);
  EXPECT_EQ((range{10, 20, 10}.steps()), 2u);
  EXPECT_TRUE(aggregate_over_time(every_ten_seconds({1}), over_time::last, 0, {10, 9, 1}).empty());
}

TEST(series_quantiles, are_those_of_prometheus_where_there_are_too_few_buckets) {
  EXPECT_TRUE(std::isnan(quantile_of(0.5, {})));
  EXPECT_TRUE(std::isnan(quantile_of(0.5, {{infinite, 5}})));
  EXPECT_TRUE(std::isnan(quantile_of(0.5, {{1, 5}, {2, 6}})));
  EXPECT_TRUE(std::isnan(quantile_of(0.5, {{1, 0}, {infinite, 0}})));
  EXPECT_EQ(quantile_of(0.5, {{std::nan(""), 9}, {1, 4}, {infinite, 4}}), 0.5);
  EXPECT_EQ(quantile_of(-1, {{1, 1}, {infinite, 1}}), -infinite);
  EXPECT_EQ(quantile_of(2, {{1, 1}, {infinite, 1}}), infinite);
  EXPECT_EQ(quantile_of(0.5, {{infinite, 4}, {1, 4}}), 0.5);
  EXPECT_EQ(quantile_of(1, {{1, 1}, {2, 2}, {infinite, 9}}), 2);
  EXPECT_EQ(quantile_of(0.1, {{-1, 4}, {1, 4}, {infinite, 4}}), -1);
  // Fewer below a higher bound: as many as below the lower one. And two buckets of one bound are one.
  EXPECT_EQ(quantile_of(0.75, {{1, 4}, {2, 3}, {4, 8}, {infinite, 8}}), 3);
  EXPECT_EQ(quantile_of(0.5, {{1, 1}, {1, 1}, {infinite, 2}}), 0.5);
}

TEST(series_evaluation, refuses_quantiles_of_what_has_no_buckets) {
  auto how = parse_aggregation("p50 (last)");
  const auto made = evaluate({{{"up", {}}, every_ten_seconds({1})}}, *how, {0, 0, 1});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, errc::invalid_argument);
  EXPECT_TRUE(evaluate({}, *how, {0, 0, 1})->empty());
}

TEST(series_evaluation, refuses_series_that_only_their_names_told_apart) {
  const auto how = parse_aggregation("delta[1m]");
  const auto made =
      evaluate({{{"a", {}}, every_ten_seconds({1, 2})}, {{"b", {}}, every_ten_seconds({1, 2})}}, *how, {10'000, 10'000, 1});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, errc::invalid_argument);
}

TEST(series_evaluation, keeps_names_only_of_last_values_and_gives_quantiles_a_label) {
  const std::vector<time_series> from{{{"x_bucket", {{"le", "+Inf"}}}, every_ten_seconds({0, 4})},
                                      {{"x_bucket", {{"le", "2"}}}, every_ten_seconds({0, 4})},
                                      {{"x_bucket", {{"le", "bogus"}}}, every_ten_seconds({0, 4})}};
  const range now{10'000, 10'000, 1};
  EXPECT_EQ(evaluate(from, *parse_aggregation("last"), now)->front().id.name, "x_bucket");
  EXPECT_EQ(evaluate(from, *parse_aggregation("irate[1m]"), now)->front().id.name, "");
  const auto made = evaluate(from, *parse_aggregation("p50 (last)"), now);
  ASSERT_EQ(made->size(), 1u);
  EXPECT_EQ(to_text(made->front().id), "{quantile=\"0.5\"}");
  EXPECT_EQ(made->front().samples.front().value, 1);
  EXPECT_EQ(evaluate(from, *parse_aggregation("sum by (__name__) (last)"), now)->front().id.name, "x_bucket");
}

TEST(series_evaluation, a_hundred_thousand_series_are_put_together) {
  std::vector<time_series> from;
  for (int i = 0; i < 100'000; ++i)
    from.push_back({{"x", {{"group", std::to_string(i % 10)}, {"number", std::to_string(i)}}}, every_ten_seconds({1, 2})});
  const auto made = evaluate(std::move(from), *parse_aggregation("sum by (group) (last)"), {0, 10'000, 10'000});
  ASSERT_EQ(made->size(), 10u);
  EXPECT_EQ(made->front().samples.at(1).value, 20'000);
}

}  // namespace
}  // namespace hondana::series
