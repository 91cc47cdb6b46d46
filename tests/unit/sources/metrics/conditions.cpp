/// Conditions, and what crosses them.
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sources/metrics/condition.hpp"
#include "sources/metrics/moment.hpp"
#include "sources/metrics/watcher.hpp"
#include "unit/sources/metrics/made_backend.hpp"

namespace hondana::metrics {
namespace {

using state = condition_status::state;

/// Every 15 s up to noon; NaN stands for no value.
std::vector<series::sample> line_to_noon(const std::vector<double>& values) {
  std::vector<series::sample> out;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!std::isnan(values[i]))
      out.push_back({noon - static_cast<series::duration>(values.size() - 1 - i) * 15 * second, values[i]});
  return out;
}

series_condition above_one(series::duration wait = 0) {
  series_condition out;
  out.above = 1;
  out.hold_duration = wait;
  return out;
}

verdict verdict_of(std::vector<std::pair<std::string, state>> all, bool is_after_gap = false) {
  verdict out;
  for (auto& [name, now] : all) {
    series_verdict one;
    one.series.id = {"up", {{"instance", name}}};
    one.status.current = now;
    one.status.may_be_earlier = is_after_gap;
    out.series.push_back(std::move(one));
  }
  return out;
}

}  // namespace

TEST(metrics_conditions, both_bounds_mean_outside_or_inside_of_the_band_between) {
  series_condition outside;
  outside.above = 10;
  outside.below = 2;
  EXPECT_TRUE(outside.is_met_by(11));
  EXPECT_TRUE(outside.is_met_by(1));
  EXPECT_FALSE(outside.is_met_by(5));
  EXPECT_EQ(outside.to_text(), "above 10 or below 2");
  series_condition inside;
  inside.above = 2;
  inside.below = 10;
  EXPECT_TRUE(inside.is_met_by(5));
  EXPECT_FALSE(inside.is_met_by(11));
  EXPECT_FALSE(inside.is_met_by(2));
  EXPECT_EQ(inside.to_text(), "above 2 and below 10");
}

TEST(metrics_conditions, hold_from_the_first_value_that_meets_them) {
  const auto found = evaluate_condition(line_to_noon({0, 0, 2, 3}), above_one(), noon);
  EXPECT_EQ(found.current, state::met);
  EXPECT_EQ(found.active_since, noon - 15 * second);
  EXPECT_FALSE(found.may_be_earlier);
  EXPECT_EQ(found.value, 3);
  EXPECT_EQ(evaluate_condition(line_to_noon({2, 3, 1}), above_one(), noon).current, state::quiet);
}

TEST(metrics_conditions, wait_as_long_as_they_are_to) {
  EXPECT_EQ(evaluate_condition(line_to_noon({0, 2, 2, 2}), above_one(60 * second), noon).current, state::pending);
  EXPECT_EQ(evaluate_condition(line_to_noon({0, 2, 2, 2, 2, 2}), above_one(60 * second), noon).current, state::met);
  EXPECT_EQ(evaluate_condition(line_to_noon({2, 2, 2, 0, 2, 2}), above_one(60 * second), noon).current, state::pending);
}

TEST(metrics_conditions, gaps_and_nan_say_nothing) {
  const auto gap = std::nan("");
  EXPECT_EQ(evaluate_condition(line_to_noon({2, gap, gap, 2, 2}), above_one(60 * second), noon).current, state::met);
  auto with_nan = line_to_noon({2, 2, 2, 2, 2});
  with_nan[2].value = gap;
  EXPECT_EQ(evaluate_condition(with_nan, above_one(60 * second), noon).current, state::met);
  EXPECT_EQ(evaluate_condition({{noon - 2 * minute, 2}}, above_one(), noon).current, state::met);
  EXPECT_EQ(evaluate_condition({{noon - 10 * minute, 2}}, above_one(), noon).current, state::unknown);
  const auto after = evaluate_condition({{noon - hour, 2}, {noon, 2}}, above_one(5 * minute), noon);
  EXPECT_EQ(after.current, state::pending);
  EXPECT_TRUE(after.may_be_earlier);
  EXPECT_EQ(evaluate_condition({}, above_one(), noon).current, state::unknown);
}

TEST(metrics_conditions, infinities_are_values) {
  EXPECT_EQ(evaluate_condition({{noon, INFINITY}}, above_one(), noon).current, state::met);
  EXPECT_EQ(evaluate_condition({{noon, -INFINITY}}, above_one(), noon).current, state::quiet);
}

TEST(metrics_conditions, absence_is_where_no_series_has_a_value_and_something_was_known) {
  const std::vector<series::time_series> all{{{"a", {}}, {{1, 5}, {2, 5}}}, {{"b", {}}, {{2, 5}, {5, 5}}}};
  const auto found = absence_samples(all, {1, 2, 4, 5, 6});
  ASSERT_EQ(found.size(), 5U);
  const std::vector<double> expected{0, 0, 1, 0, 1};
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i].value, expected[i]) << i;
}

TEST(metrics_crossings, are_said_once_in_each_direction_for_each_series) {
  crossing_detector of;
  of.initialize(verdict_of({{"a", state::quiet}, {"b", state::quiet}}), 1000);
  EXPECT_FALSE(of.update(verdict_of({{"a", state::quiet}, {"b", state::quiet}}), 2000));
  EXPECT_TRUE(of.update(verdict_of({{"a", state::met}, {"b", state::quiet}}), 3000));
  EXPECT_FALSE(of.update(verdict_of({{"a", state::met}, {"b", state::quiet}}), 4000));
  EXPECT_TRUE(of.update(verdict_of({{"a", state::met}, {"b", state::met}}), 5000));
  EXPECT_TRUE(of.update(verdict_of({{"a", state::quiet}, {"b", state::met}}), 6000));
  EXPECT_FALSE(of.update(verdict_of({{"a", state::pending}, {"b", state::met}}), 7000));
  EXPECT_TRUE(of.update(verdict_of({{"a", state::pending}, {"b", state::quiet}}), 8000));
}

TEST(metrics_crossings, what_holds_when_watching_begins_is_not_told) {
  crossing_detector of;
  of.initialize(verdict_of({{"a", state::met}}), 1000);
  EXPECT_FALSE(of.update(verdict_of({{"a", state::met}}), 2000));
  EXPECT_TRUE(of.update(verdict_of({{"a", state::quiet}}), 3000));
}

TEST(metrics_crossings, a_gap_invents_none) {
  crossing_detector of;
  of.initialize(verdict_of({{"a", state::met}}), 0);
  EXPECT_FALSE(of.update(verdict_of({{"a", state::unknown}}), minute));
  EXPECT_FALSE(of.update(verdict_of({}), 2 * minute));
  EXPECT_FALSE(of.update(verdict_of({{"a", state::pending}}, true), 3 * minute));
  EXPECT_FALSE(of.update(verdict_of({{"a", state::met}}), 8 * minute));
}

TEST(metrics_crossings, a_series_that_is_gone_for_good_meets_nothing_any_more) {
  crossing_detector of;
  of.initialize(verdict_of({{"a", state::met}, {"b", state::quiet}}), 0);
  EXPECT_FALSE(of.update(verdict_of({}), minute));
  EXPECT_FALSE(of.update(verdict_of({}), 6 * minute));
  EXPECT_TRUE(of.update(verdict_of({}), 7 * minute));
  EXPECT_FALSE(of.update(verdict_of({}), 8 * minute));
}

TEST(metrics_crossings, a_clock_that_goes_back_crosses_nothing) {
  crossing_detector of;
  of.initialize(verdict_of({{"a", state::quiet}}), hour);
  EXPECT_FALSE(of.update(verdict_of({{"a", state::met}}), hour - minute));
  EXPECT_TRUE(of.update(verdict_of({{"a", state::met}}), hour + minute));
}

TEST(metrics_crossings, of_the_same_instant_are_looked_at_again_since_slow_targets_come_later) {
  crossing_detector of;
  of.initialize(verdict_of({{"a", state::quiet}}), hour);
  EXPECT_TRUE(of.update(verdict_of({{"a", state::met}}), hour));
  EXPECT_FALSE(of.update(verdict_of({{"a", state::met}}), hour));
}

TEST(metrics_crossings, are_found_though_a_clock_was_ahead_of_everything_that_is_known) {
  crossing_detector of;
  of.initialize(verdict_of({{"a", state::unknown}}), 2 * hour);
  EXPECT_FALSE(of.update(verdict_of({}), 2 * hour + minute));
  EXPECT_FALSE(of.update(verdict_of({{"a", state::quiet}}), hour));
  EXPECT_TRUE(of.update(verdict_of({{"a", state::met}}), hour + minute));
}

}  // namespace hondana::metrics
