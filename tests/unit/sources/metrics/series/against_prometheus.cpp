/// Evaluation and PromQL, compared with Prometheus itself on samples that are drawn.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <re2/re2.h>

#include "sources/metrics/series/evaluation.hpp"
#include "sources/metrics/series/selector.hpp"
#include "unit/sources/metrics/series/prometheus_server.hpp"

namespace hondana::series {
namespace {

/// A boundary of two hours, as blocks are cut there.
constexpr instant beginning = 1'699'992'000'000;
constexpr duration whole_time = 100 * 60'000;

class drawn_samples {
 public:
  explicit drawn_samples(unsigned seed) : chance_(seed) {
    for (const char* const host : {"a", "b", "c"})
      for (const char* const zone : {"one", "two"}) {
        add("temperature_celsius", {{"host", host}, {"zone", zone}}, [this] { return uniform(5, 90); });
        add("odd", {{"host", host}, {"zone", zone}}, [this] { return odd(); });
        // Few different values, so that some are equal.
        add("steps", {{"host", host}, {"zone", zone}}, [this] { return std::floor(uniform(0, 4)); });
      }
    for (const char* const code : {"200", "404", "500"})
      for (const char* const handler : {"/", "/api"}) {
        double count = uniform(0, 1) < 0.5 ? 0 : uniform(0, 1e6);
        add("requests_total", {{"code", code}, {"handler", handler}}, [this, count]() mutable {
          if (uniform(0, 1) < 0.02) count = 0;
          return count += uniform(0, 1) < 0.2 ? 0 : std::floor(uniform(0, 50));
        });
      }
    for (const char* const handler : {"/", "/api", "/new"}) add_histogram(handler);
  }

  [[nodiscard]] std::vector<time_series> of(std::string_view name) const {
    std::vector<time_series> out;
    std::copy_if(all_.begin(), all_.end(), std::back_inserter(out),
                 [name](const time_series& one) { return one.id.name == name; });
    return out;
  }
  void add_one(identity of, double value) { all_.push_back({std::move(of), {{beginning + 1000, value}}}); }
  [[nodiscard]] std::string open_metrics() const {
    std::string out;
    for (const auto& one : all_)
      for (const auto& each : one.samples) {
        append_text(out, one.id);
        auto rest = std::to_string(1000 + each.time % 1000);
        out.append(" ").append(format_number(each.value)).append(" ").append(std::to_string(each.time / 1000)).append(".");
        out.append(rest.substr(1)).append("\n");
      }
    return out + "# EOF\n";
  }

 private:
  double uniform(double from, double to) { return std::uniform_real_distribution<double>(from, to)(chance_); }
  double odd() {
    const double which = uniform(0, 1);
    if (which < 0.1) return std::numeric_limits<double>::quiet_NaN();
    if (which < 0.14) return std::numeric_limits<double>::infinity();
    if (which < 0.17) return -std::numeric_limits<double>::infinity();
    return uniform(1, 1000);
  }
  /// Instants about 15 s from each other, with samples missing here and there, and all of some minutes now and then.
  std::vector<instant> instants() {
    std::vector<instant> out;
    for (instant now = beginning + static_cast<instant>(uniform(0, 15'000)); now < beginning + whole_time; now += 15'000) {
      if (uniform(0, 1) < 0.008) now += static_cast<instant>(uniform(60'000, 800'000));
      if (uniform(0, 1) < 0.05) continue;
      out.push_back(now + (uniform(0, 1) < 0.5 ? 0 : static_cast<instant>(uniform(0, 900))));
    }
    return out;
  }
  template <class Function>
  void add(std::string name, std::vector<label> labels, Function value) {
    time_series made{{std::move(name), std::move(labels)}, {}};
    for (const auto at : instants()) made.samples.push_back({at, value()});
    all_.push_back(std::move(made));
  }
  void add_histogram(const std::string& handler) {
    const std::vector<std::string> bounds{"0.005", "0.1", "0.5", "2.5", "10", "+Inf"};
    std::vector<time_series> buckets;
    for (const auto& bound : bounds) buckets.push_back({{"latency_seconds_bucket", {{"handler", handler}, {"le", bound}}}, {}});
    std::vector<double> counts(bounds.size(), 0);
    for (const auto at : instants()) {
      if (uniform(0, 1) < 0.01) std::fill(counts.begin(), counts.end(), 0);
      const auto observed = static_cast<int>(uniform(0, 30));
      for (int i = 0; i < observed; ++i) {
        const auto first = static_cast<std::size_t>(uniform(0, static_cast<double>(bounds.size())));
        for (auto bucket = first; bucket < counts.size(); ++bucket) ++counts[bucket];
      }
      for (std::size_t bucket = 0; bucket < counts.size(); ++bucket)
        if (uniform(0, 1) > 0.03) buckets[bucket].samples.push_back({at, counts[bucket]});
    }
    for (auto& one : buckets) all_.push_back(std::move(one));
  }

  std::mt19937 chance_;
  std::vector<time_series> all_{};
};

const std::vector<std::string>& hostile_values() {
  static const std::vector<std::string> all{"\"} or vector(1) #",
                                            "\\",
                                            "\\\"",
                                            "a\nb",
                                            "'`\"",
                                            "tab\there",
                                            "\x01\x02\x1f\x7f",
                                            "carriage\rreturn",
                                            "\xef\xbf\xbd",
                                            "温度 ° 𝄞",
                                            "\\x41\\n\\u0041",
                                            "}{,=~",
                                            "# EOF",
                                            ".*|^$()[]+?",
                                            "\xe2\x80\xa8"};
  return all;
}
const std::vector<std::string>& names_like_words() {
  static const std::vector<std::string> all{"inf",   "NaN",  "sum", "by",          "Offset",
                                            "start", "rate", "or",  "job:of:rule", "count_values"};
  return all;
}

/// One Prometheus for all tests of this file.
class against_prometheus : public testing::Test {
 public:
  static void SetUpTestSuite() {
    seed_ = std::random_device()();
    drawn_ = std::make_unique<drawn_samples>(seed_);
    for (const auto& value : hostile_values()) drawn_->add_one({"hostile", {{"value", value}}}, 1);
    for (const auto& name : names_like_words()) drawn_->add_one({name, {{"is", "word"}}}, 1);
    server_ = std::make_unique<prometheus_server>(drawn_->open_metrics());
  }
  static void TearDownTestSuite() {
    server_.reset();
    drawn_.reset();
  }

 protected:
  void SetUp() override { ASSERT_TRUE(server_->is_ready()); }

  static constexpr range usual{beginning - 400'123, beginning + whole_time + 700'000, 37'000};

  static void compare(const std::string& name, kind what, const std::string& agg, const range& at = usual) {
    SCOPED_TRACE(name + ": " + agg + ", drawn with " + std::to_string(seed_));
    const auto parsed = parse_aggregation(agg);
    ASSERT_TRUE(parsed) << parsed.error().public_text;
    const auto how = parsed->for_kind(what).for_step(at.step, 15'000);
    selector which{series_name_for(name, what, how), {}};
    const auto made = evaluate(drawn_->of(which.name), how, at);
    ASSERT_TRUE(made) << made.error().public_text;
    const auto asked = to_promql(how, which);
    std::vector<time_series> expected;
    for (std::size_t i = 0; i < asked.size(); ++i) {
      auto answer = server_->range(asked[i], at.start, at.end, at.step);
      ASSERT_EQ(answer.error, "") << asked[i];
      for (auto& one : answer.result) {
        if (!how.quantiles.empty()) one.id.labels.emplace_back("quantile", format_number(how.quantiles[i]));
        ASSERT_TRUE(normalize(one.id));
        expected.push_back(std::move(one));
      }
    }
    std::sort(expected.begin(), expected.end(), [](const time_series& a, const time_series& b) { return a.id < b.id; });
    ASSERT_FALSE(expected.empty()) << asked[0];
    same(*made, expected);
  }

  static void same(const std::vector<time_series>& made, const std::vector<time_series>& expected) {
    ASSERT_EQ(made.size(), expected.size());
    for (std::size_t i = 0; i < made.size(); ++i) {
      SCOPED_TRACE(to_text(made[i].id));
      ASSERT_EQ(made[i].id, expected[i].id);
      ASSERT_EQ(made[i].samples.size(), expected[i].samples.size());
      for (std::size_t j = 0; j < made[i].samples.size(); ++j) {
        const auto& a = made[i].samples[j];
        const auto& b = expected[i].samples[j];
        ASSERT_EQ(a.time, b.time);
        if (std::isnan(b.value) || std::isinf(b.value)) {
          ASSERT_EQ(format_number(a.value), format_number(b.value)) << "at " << a.time;
          continue;
        }
        ASSERT_LE(std::abs(a.value - b.value), 1e-9 * std::max(std::abs(a.value), std::abs(b.value)))
            << "at " << a.time << ": " << a.value << ", and Prometheus says " << b.value;
      }
    }
  }

  static std::vector<identity> found(const selector& which) {
    const auto answer = server_->range(which.to_text(), beginning, beginning + 60'000, 15'000);
    EXPECT_EQ(answer.error, "") << which.to_text();
    std::vector<identity> out;
    for (const auto& one : answer.result) out.push_back(one.id);
    return out;
  }

  static unsigned seed_;
  static std::unique_ptr<drawn_samples> drawn_;
  static std::unique_ptr<prometheus_server> server_;
};
unsigned against_prometheus::seed_ = 0;
std::unique_ptr<drawn_samples> against_prometheus::drawn_;
std::unique_ptr<prometheus_server> against_prometheus::server_;

TEST_F(against_prometheus, gauges_have_the_same_values_over_time) {
  for (const char* const agg : {"", "last", "delta[5m]", "avg_over_time[4m]", "min_over_time[3m]", "max_over_time[90s]",
                                "sum_over_time[20m]", "count_over_time[61s]", "delta", "irate[1m]", "increase[7m]"})
    compare("temperature_celsius", kind::gauge, agg);
}

TEST_F(against_prometheus, gauges_are_the_same_across_series) {
  for (const char* const agg : {"sum", "sum by (zone)", "sum without (zone)", "avg", "avg by (host)", "min", "max by (zone)",
                                "count", "stddev", "stddev by (zone)", "topk(2)", "topk(1) by (zone)", "bottomk(2)",
                                "bottomk(3) without (host)", "sum by (missing)", "max without ()"})
    compare("temperature_celsius", kind::gauge, agg);
}

TEST_F(against_prometheus, both_together_are_the_same) {
  for (const char* const agg : {"sum by (zone) (avg_over_time[4m])", "stddev by (host) (max_over_time[10m])",
                                "topk(2) (delta[5m])", "avg(min_over_time[2m]) by (zone)"})
    compare("temperature_celsius", kind::gauge, agg);
}

TEST_F(against_prometheus, counters_with_resets_have_the_same_rates) {
  for (const char* const agg : {"", "rate[1m]", "rate[5m]", "rate[30m]", "increase[5m]", "increase[2h]", "irate[2m]",
                                "delta[10m]", "last", "sum", "sum by (code)", "sum by (handler) (increase[15m])",
                                "topk(3) (rate[3m])", "count (irate[1m])", "max without (code) (rate[2m])"})
    compare("requests_total", kind::counter, agg);
}

TEST_F(against_prometheus, histograms_have_the_same_quantiles) {
  for (const char* const agg : {"", "p50,p90,p99", "quantile(0.95) by (handler)", "p0,p100 by (handler)", "p75 (rate[10m])",
                                "quantile(0.3,0.7) without (handler) (increase[2m])", "p90 by (handler) (last)",
                                "p99.9 (irate[1m])", "p50 by (handler,missing) (rate[31s])"})
    compare("latency_seconds", kind::histogram, agg);
}

TEST_F(against_prometheus, not_a_number_and_infinities_go_the_same_ways) {
  for (const char* const agg : {"last",
                                "avg_over_time[1m]",
                                "min_over_time[1m]",
                                "max_over_time[1m]",
                                "sum_over_time[1m]",
                                "rate[1m]",
                                "delta[1m]",
                                "irate[1m]",
                                "avg_over_time[10m]",
                                "sum_over_time[10m]",
                                "increase[10m]",
                                "sum",
                                "avg",
                                "min by (zone)",
                                "max by (zone)",
                                "stddev",
                                "topk(2)",
                                "bottomk(2)",
                                "topk(1)",
                                "bottomk(5)",
                                "count"})
    compare("odd", kind::gauge, agg);
}

TEST_F(against_prometheus, the_same_of_equal_ones_are_chosen) {
  for (const char* const agg :
       {"topk(1)", "topk(2)", "topk(3)", "topk(4)", "bottomk(1)", "bottomk(2)", "bottomk(3)", "bottomk(5)"})
    compare("steps", kind::gauge, agg);
}

TEST_F(against_prometheus, windows_and_steps_of_any_length_meet_samples_at_their_edges_in_the_same_way) {
  const auto first = drawn_->of("requests_total").front().samples.at(40).time;
  for (const duration step : {1, 500, 7'500, 15'000, 60'000})
    for (const duration shift : {0, 1, -1}) {
      const range at{first + shift, first + shift + step * 200, step};
      compare("requests_total", kind::counter, "rate[1m]", at);
      compare("temperature_celsius", kind::gauge, "last", at);
      compare("temperature_celsius", kind::gauge, "count_over_time[15s]", at);
    }
}

TEST_F(against_prometheus, selectors_find_exactly_the_series_with_hostile_values) {
  for (const auto& value : hostile_values()) {
    const identity wanted{"hostile", {{"value", value}}};
    for (const auto how : {matcher::match_type::equal, matcher::match_type::matches}) {
      const bool is_expression = how == matcher::match_type::matches;
      auto made = matcher::create("value", how, is_expression ? re2::RE2::QuoteMeta(value) : value);
      ASSERT_TRUE(made) << made.error().public_text;
      const selector which{"hostile", {*made}};
      EXPECT_EQ(found(which), std::vector<identity>{wanted}) << which.to_text();
      EXPECT_TRUE(which.matches(wanted));
    }
    auto others = matcher::create("value", matcher::match_type::not_equal, value);
    ASSERT_TRUE(others);
    EXPECT_EQ(found({"hostile", {*others}}).size(), hostile_values().size() - 1) << others->to_text();
  }
  auto nul = matcher::create("value", matcher::match_type::equal, std::string("a\0b", 3));
  ASSERT_TRUE(nul);
  EXPECT_TRUE(found({"hostile", {*nul}}).empty());
}

TEST_F(against_prometheus, metrics_named_like_words_of_promql_are_found) {
  for (const auto& name : names_like_words()) {
    EXPECT_EQ(found({name, {}}), (std::vector<identity>{{name, {{"is", "word"}}}})) << name;
    auto made = matcher::create("is", matcher::match_type::matches, "w.*|x");
    ASSERT_TRUE(made);
    EXPECT_EQ(found({name, {*made}}).size(), 1u) << name;
  }
}

TEST_F(against_prometheus, expressions_match_the_same_values) {
  // None where a dot could be a line feed, which it is not in Prometheus 2.
  const auto all = drawn_->of("hostile");
  for (const char* const expression : {"a|#.*", "(?i:CARRIAGE).return", "[^a-z]+", "", "\\\\", "\\\\.*", "(a|b)\\n(a|b)",
                                       "\\p{Han}+ .*", "^tab\\there$", "[[:cntrl:]]+", "a{1,3}\\n?b?"}) {
    auto made = matcher::create("value", matcher::match_type::matches, expression);
    ASSERT_TRUE(made) << made.error().public_text;
    std::vector<identity> expected;
    for (const auto& one : all)
      if (made->matches(one.id)) expected.push_back(one.id);
    auto answered = found({"hostile", {*made}});
    std::sort(answered.begin(), answered.end());
    std::sort(expected.begin(), expected.end());
    EXPECT_EQ(answered, expected) << expression;
  }
}

}  // namespace
}  // namespace hondana::series
