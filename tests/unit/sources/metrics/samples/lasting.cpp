/// How long samples stay, what they become, how much there may be of them, and clocks that jump.
#include <gtest/gtest.h>

#include <bit>
#include <filesystem>
#include <random>

#include "sources/metrics/samples/downsampling.hpp"
#include "unit/sources/metrics/samples/kept.hpp"

namespace hondana::samples {
namespace {

using lasting_samples = kept;
using series::sample;

constexpr series::duration a_minute = 60'000, five_minutes = 300'000;
/// Where a step of five minutes begins.
constexpr series::instant even = 1'700'000'100'000;

/// How much a counter has risen, as a rate counts it.
double risen(const std::vector<sample>& of) {
  double out = 0;
  for (std::size_t i = 1; i < of.size(); ++i) {
    if (series::is_stale(of[i].value) || series::is_stale(of[i - 1].value)) continue;
    out += of[i].value < of[i - 1].value ? of[i].value : of[i].value - of[i - 1].value;
  }
  return out;
}

TEST(coarse_samples, of_a_gauge_are_means_at_the_last_instant_of_each_step) {
  std::vector<sample> of;
  for (int i = 0; i < 12; ++i) of.push_back({even + i * a_minute, static_cast<double>(i)});
  EXPECT_TRUE(are_alike(downsample(of, false, five_minutes),
                        {{even + 4 * a_minute, 2}, {even + 9 * a_minute, 7}, {even + 11 * a_minute, 10.5}}));
}

TEST(coarse_samples, of_a_counter_are_the_ends_of_steps_and_the_two_beside_each_reset) {
  std::vector<sample> of;
  for (int i = 0; i < 15; ++i) of.push_back({even + i * a_minute, i < 12 ? i * 10.0 : (i - 11) * 3.0});
  const auto made = downsample(of, true, five_minutes);
  EXPECT_TRUE(are_alike(made, {{even, 0},
                               {even + 4 * a_minute, 40},
                               {even + 9 * a_minute, 90},
                               {even + 11 * a_minute, 110},
                               {even + 12 * a_minute, 3},
                               {even + 14 * a_minute, 9}}));
  EXPECT_EQ(risen(of), 119);
  EXPECT_EQ(risen(made), 119);
}

TEST(coarse_samples, keep_stale_markers_and_do_not_count_across_them) {
  const auto end = series::stale_marker();
  const std::vector<sample> of{
      {even, 1}, {even + a_minute, 3}, {even + 2 * a_minute, end}, {even + 3 * a_minute, 10}, {even + 4 * a_minute, 20}};
  EXPECT_TRUE(are_alike(downsample(of, false, five_minutes),
                        {{even + a_minute, 2}, {even + 2 * a_minute, end}, {even + 4 * a_minute, 15}}));
  EXPECT_TRUE(are_alike(downsample(of, true, five_minutes), of));
}

TEST(coarse_samples, of_what_is_no_number_are_none_and_infinity_stays_infinite) {
  const double nan = std::bit_cast<double>(0x7ff8000000000000u), inf = std::numeric_limits<double>::infinity();
  const auto made = downsample({{even, nan},
                                {even + a_minute, 4},
                                {even + five_minutes, nan},
                                {even + 2 * five_minutes, inf},
                                {even + 2 * five_minutes + 1, 1},
                                {even + 3 * five_minutes, 1e308},
                                {even + 3 * five_minutes + 1, 1e308}},
                               false, five_minutes);
  ASSERT_EQ(made.size(), 4u);
  EXPECT_EQ(made[0].value, 4);
  EXPECT_TRUE(std::isnan(made[1].value));
  EXPECT_EQ(made[2].value, inf);
  EXPECT_EQ(made[3].value, 1e308);
}

TEST_F(lasting_samples, become_coarse_and_then_go_while_the_newest_stay_as_they_are) {
  options_.retention = one_day;
  options_.coarse_retention = 10 * one_day;
  open();
  std::vector<sample> counter, gauge;
  for (int i = 0; i < 3 * 1440; ++i) {
    counter.push_back({even + i * a_minute, (i % 1000) * 2.0});  // reset every thousand minutes
    gauge.push_back({even + i * a_minute, static_cast<double>(i)});
  }
  put(named("hits_total"), counter);
  put(named("heat"), gauge);
  const auto last = gauge.back().time;
  settle(last);
  for (int round = 0; round < 2; ++round) {
    const auto kept_gauge = read_one("heat"), kept_counter = read_one("hits_total");
    EXPECT_EQ(risen(kept_counter), risen(counter));
    EXPECT_LT(kept_gauge.size(), 2u * 1440 / 5 + 1440 + 200);
    EXPECT_GE(kept_gauge.size(), 2u * 1440 / 5 - 40 + 1440);
    // Two days ago: means; within the last day: all.
    EXPECT_TRUE(are_alike({kept_gauge.begin(), kept_gauge.begin() + 2}, {{even + 4 * a_minute, 2}, {even + 9 * a_minute, 7}}));
    const auto day = read({"heat", {}}, last - one_day, last);
    ASSERT_EQ(day.size(), 1u);
    EXPECT_TRUE(are_alike(day.front().samples, {gauge.end() - 1441, gauge.end()}));
    EXPECT_EQ(store_->statistics().samples, kept_gauge.size() + kept_counter.size());
    open();
  }
  put(named("other"), {{last + 5 * one_day, 1}});
  settle(last + 5 * one_day);
  EXPECT_EQ(risen(read_one("hits_total")), risen(counter));
  EXPECT_LT(read_one("heat").size(), 1000u);
  clock_ = last + 20 * one_day;
  put(named("other"), {{last + 14 * one_day, 2}});
  settle(clock_);
  EXPECT_TRUE(read_one("heat").empty());
  EXPECT_EQ(store_->statistics().series, 1u);
  EXPECT_EQ(store_->metric_names("", 0, 10), std::vector<std::string>{"other"});
}

TEST_F(lasting_samples, are_not_forgotten_because_the_machine_was_off_for_long) {
  options_.retention = options_.coarse_retention = one_day;
  open();
  put(named("x"), {{some_day, 1}, {some_day + one_day, 2}});
  settle(some_day + 300 * one_day);
  EXPECT_EQ(read_one("x").size(), 2u);
  clock_ = some_day + 300 * one_day;
  put(named("x"), {{clock_, 3}});
  settle(clock_);
  EXPECT_TRUE(are_alike(read_one("x"), {{some_day + 300 * one_day, 3}}));
}

TEST_F(lasting_samples, go_from_the_oldest_on_when_the_file_is_as_large_as_it_may_be) {
  options_.max_bytes = 1u << 20;
  open();
  std::mt19937_64 draw(2);
  for (int i = 0; i < 1500; ++i) {
    batch all;
    for (int series = 0; series < 150; ++series)
      all.entries.push_back({named("x" + std::to_string(series)),
                             {some_day + i * 15'000, std::bit_cast<double>(draw() >> 2 | 0x3ff0000000000000u)}});
    put(all);
  }
  settle(clock_);
  EXPECT_LT(store_->statistics().samples, 150'000u);
  EXPECT_GT(store_->statistics().samples, 70'000u) << "no more goes than must";
  for (const auto* name : {"x0", "x149"}) {
    const auto left = read_one(name);
    ASSERT_FALSE(left.empty());
    EXPECT_GT(left.front().time, some_day);
    EXPECT_EQ(left.back().time, some_day + 1499 * 15'000);
  }
  EXPECT_LT(std::filesystem::file_size(options_.path), 6u << 20);
}

TEST_F(lasting_samples, of_a_million_series_are_those_that_there_is_room_for) {
  options_.max_series = 1000;
  open();
  append_result said;
  for (int part = 0; part < 20; ++part) {
    batch all;
    all.entries.reserve(50'000);
    for (int i = 0; i < 50'000; ++i)
      all.entries.push_back({named("x", {{"i", std::to_string(part * 50'000 + i)}}), {some_day, 1}});
    const auto one = put(all);
    said.stored += one.stored;
    said.over_limit += one.over_limit;
  }
  EXPECT_EQ(said.stored, 1000u);
  EXPECT_EQ(said.over_limit, 999'000u);
  EXPECT_EQ(store_->statistics().series, 1000u);
  EXPECT_LT(store_->statistics().memory_bytes, 1u << 20);
  // Those that are known still grow.
  EXPECT_EQ(put(named("x", {{"i", "999"}}), {{some_day + 1, 2}}).stored, 1u);
  EXPECT_EQ(put(named("x", {{"i", "1000"}}), {{some_day + 1, 2}}).over_limit, 1u);
}

TEST_F(lasting_samples, make_room_for_new_series_when_theirs_have_ended) {
  options_.max_series = 100;
  options_.retention = options_.coarse_retention = one_day;
  open();
  const auto hundred = [](int from, series::instant at) {
    batch all;
    for (int i = from; i < from + 100; ++i) all.entries.push_back({named("x", {{"i", std::to_string(i)}}), {at, 1}});
    return all;
  };
  put(hundred(0, some_day));
  EXPECT_EQ(put(hundred(100, some_day + 1)).over_limit, 100u);
  put(named("x", {{"i", "0"}}), {{some_day + 3 * one_day, 1}});
  settle(some_day + 3 * one_day);
  EXPECT_EQ(put(hundred(100, some_day + 3 * one_day)).stored, 99u);
  open();
  EXPECT_EQ(read({"x", {}}).size(), 100u);
}

TEST_F(lasting_samples, of_a_clock_that_was_an_hour_ahead_stand_among_those_that_came_later) {
  open();
  const auto put_row = [&](series::instant from, int count, double value) {
    std::vector<sample> all;
    for (int i = 0; i < count; ++i) all.push_back({from + i * 15'000, value});
    return put(named("x"), all).stored;
  };
  // Ahead by an hour, and right again: each makes chunks of its own, and the first reach into the time of the second.
  clock_ = some_day + 2 * an_hour;
  EXPECT_EQ(put_row(some_day + an_hour, 240, 1), 240u);
  settle(clock_);
  clock_ = some_day + an_hour + 10 * a_minute;
  EXPECT_EQ(put_row(some_day + an_hour + a_minute + 1, 20, 2), 20u);
  for (int i = 0; i < 3; ++i) {
    // Begins after the chunk that came second, in the midst of what the first has.
    const auto got = read({"x", {}}, some_day + an_hour + 7 * a_minute, some_day + 2 * an_hour);
    ASSERT_EQ(got.size(), 1u);
    EXPECT_EQ(got.front().samples.size(), 240u - 28);
    EXPECT_EQ(got.front().samples.front().time, some_day + an_hour + 7 * a_minute);
    EXPECT_EQ(read_one("x").size(), 260u);
    const auto last = store_->last({"x", {}}, some_day, {});
    ASSERT_TRUE(last);
    ASSERT_EQ(last->size(), 1u);
    EXPECT_TRUE(are_alike(last->front().samples, {{some_day + an_hour + a_minute + 1 + 19 * 15'000, 2}}));
    if (i == 0) settle(clock_);
    if (i == 1) open();
  }
}

}  // namespace
}  // namespace hondana::samples
