/// `agg`, lengths of time, and their PromQL.
#include <gtest/gtest.h>

#include "sources/metrics/series/aggregation.hpp"

namespace hondana::series {
namespace {

TEST(series_durations, are_read_and_written_in_their_shortest_spelling) {
  const std::vector<std::tuple<std::string, duration, std::string>> all{
      {"90s", 90'000, "90s"},        {"5m", 300'000, "5m"},        {"1h30m", 5'400'000, "90m"},
      {"7d", 604'800'000, "1w"},     {"500ms", 500, "500ms"},      {"15", 15'000, "15s"},
      {"0.5", 500, "500ms"},         {"1y", 31'536'000'000, "1y"}, {"1.25", 1250, "1250ms"},
      {"1h1ms", 3'600'001, "1h1ms"}, {"1m30s", 90'000, "90s"},     {"100y", 3'153'600'000'000, "100y"},
      {"1w1s", 604'801'000, "1w1s"}};
  for (const auto& [text, length, shortest] : all) {
    const auto read = parse_duration(text);
    ASSERT_TRUE(read) << text;
    EXPECT_EQ(*read, length) << text;
    EXPECT_EQ(to_text(length), shortest);
    EXPECT_EQ(parse_duration(shortest), length);
  }
}

TEST(series_durations, that_cannot_be_are_refused) {
  for (const char* const one : {"",
                                "0",
                                "0s",
                                "0.0",
                                "-5m",
                                "m",
                                "5 m",
                                "5m1h",
                                "5m5m",
                                "1.5h",
                                "1.2345",
                                "1.",
                                "5x",
                                "101y",
                                "100y1ms",
                                "99999999999999999999s",
                                "9223372036854775807ms",
                                "1e3",
                                "5m ",
                                "1..5"}) {
    const auto read = parse_duration(one);
    ASSERT_FALSE(read) << one;
    EXPECT_EQ(read.error().code, errc::invalid_argument);
  }
}

TEST(series_aggregations, are_read_and_written_again) {
  const std::vector<std::pair<std::string, std::string>> all{
      {"", ""},
      {"auto", ""},
      {"raw", "last"},
      {" rate [5m] ", "rate[5m]"},
      {"rate[300s]", "rate[5m]"},
      {"avg_over_time[1h]", "avg_over_time[1h]"},
      {"sum", "sum"},
      {"sum by(mode,  cpu)", "sum by (mode,cpu)"},
      {"sum by (mode) (rate[5m])", "sum by (mode) (rate[5m])"},
      {"sum(rate[5m]) by (mode)", "sum by (mode) (rate[5m])"},
      {"topk( 5 )", "topk(5)"},
      {"bottomk(2) without (a,a) (last)", "bottomk(2) without (a) (last)"},
      {"p50, p99.9", "p50,p99.9"},
      {"quantile(0.95) by (handler)", "p95 by (handler)"},
      {"quantile(0.123456789)", "p12.3456789"},
      {"p.000001", "p0.000001"},
      {"p0,p100 (increase)", "p0,p100 (increase)"},
      {"max without ()", "max without ()"}};
  for (const auto& [text, shortest] : all) {
    const auto read = parse_aggregation(text);
    ASSERT_TRUE(read) << text << ": " << read.error().public_text;
    EXPECT_EQ(read->to_text(), shortest);
    EXPECT_EQ(parse_aggregation(shortest), *read) << text;
  }
}

TEST(series_aggregations, are_refused_with_the_byte_where_something_else_was_expected) {
  const std::vector<std::pair<std::string, std::string>> all{{"foo", "byte 1"},
                                                             {"rate[", "byte 6"},
                                                             {"rate[x]", "byte 6"},
                                                             {"rate[ 5m]", "byte 6"},
                                                             {"rate[5m", "]"},
                                                             {"last[5m]", "byte 5"},
                                                             {"sum by", "byte 7"},
                                                             {"sum by (", "byte 9"},
                                                             {"sum by (a", "byte 10"},
                                                             {"sum by (a-b)", "byte 10"},
                                                             {"sum of (a)", "byte 5"},
                                                             {"sum (foo)", "byte 6"},
                                                             {"sum (rate", "byte 10"},
                                                             {"topk", "byte 5"},
                                                             {"topk(0)", "byte 6"},
                                                             {"topk(1001)", "byte 6"},
                                                             {"topk(-1)", "byte 6"},
                                                             {"p101", "byte 1"},
                                                             {"p", "byte 1"},
                                                             {"p50,", "byte 5"},
                                                             {"p50,p50", "byte 5"},
                                                             {"p50,90", "byte 5"},
                                                             {"quantile(2)", "byte 10"},
                                                             {"quantile()", "byte 10"},
                                                             {"quantile(nan)", "byte 10"},
                                                             {"p50 by (le)", "byte 9"},
                                                             {"sum sum", "byte 5"},
                                                             {"rate rate", "byte 6"},
                                                             {"sum by (a) (rate) by (b)", "byte 19"},
                                                             {"p1,p2,p3,p4,p5,p6,p7,p8,p9", "byte 25"}};
  for (const auto& [text, part] : all) {
    const auto read = parse_aggregation(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, errc::invalid_argument);
    EXPECT_NE(read.error().public_text.find(part), std::string::npos) << text << ": " << read.error().public_text;
  }
  EXPECT_FALSE(parse_aggregation(std::string(5000, ' ')));
}

TEST(series_aggregations, of_what_is_not_said_follow_the_kind) {
  EXPECT_EQ(aggregation{}.for_kind(kind::counter).to_text(), "rate");
  EXPECT_EQ(aggregation{}.for_kind(kind::gauge).to_text(), "last");
  EXPECT_EQ(aggregation{}.for_kind(kind::histogram).to_text(), "p50,p90,p99 (rate)");
  EXPECT_EQ(parse_aggregation("sum by (a)")->for_kind(kind::counter).to_text(), "sum by (a) (rate)");
  EXPECT_EQ(parse_aggregation("sum")->for_kind(kind::histogram).to_text(), "sum (rate)");
  EXPECT_EQ(parse_aggregation("delta")->for_kind(kind::histogram).to_text(), "delta");
  EXPECT_EQ(parse_aggregation("rate")->for_step(60'000, 15'000).window, 60'000);
  EXPECT_EQ(parse_aggregation("rate")->for_step(10'000, 15'000).window, 60'000);
  EXPECT_EQ(parse_aggregation("rate[7m]")->for_step(10'000, 15'000).window, 420'000);
  EXPECT_EQ(parse_aggregation("last")->for_step(10'000, 15'000).window, 0);
  EXPECT_EQ(series_name_for("x", kind::histogram, *parse_aggregation("p50")), "x_bucket");
  EXPECT_EQ(series_name_for("x", kind::histogram, *parse_aggregation("rate")), "x_count");
  EXPECT_EQ(series_name_for("x_sum", kind::histogram, *parse_aggregation("rate")), "x_sum");
  EXPECT_EQ(series_name_for("x", kind::gauge, *parse_aggregation("p50")), "x");
}

TEST(series_aggregations, are_promql) {
  const selector of{"x_bucket", {*matcher::create("a", matcher::match_type::equal, "b\"} or up{")}};
  const auto promql = [&of](std::string_view agg) { return to_promql(parse_aggregation(agg)->for_step(60'000, 15'000), of); };
  const std::string text = "x_bucket{a=\"b\\\"} or up{\"}";
  EXPECT_EQ(promql("last"), std::vector<std::string>{text});
  EXPECT_EQ(promql("rate"), std::vector<std::string>{"rate(" + text + "[1m])"});
  EXPECT_EQ(promql("sum by (c,d) (irate[90s])"), std::vector<std::string>{"sum by(c,d)(irate(" + text + "[90s]))"});
  EXPECT_EQ(promql("topk(3) without (c) (last)"), std::vector<std::string>{"topk without(c)(3," + text + ")"});
  EXPECT_EQ(promql("p90,p99.9 by (h) (rate[5m])"),
            (std::vector<std::string>{"histogram_quantile(0.9,sum by(le,h)(rate(" + text + "[5m])))",
                                      "histogram_quantile(0.999,sum by(le,h)(rate(" + text + "[5m])))"}));
}

}  // namespace
}  // namespace hondana::series
