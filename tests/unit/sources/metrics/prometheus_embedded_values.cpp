/// The embedded store and our own evaluation against Prometheus: the same raw samples, the same instants, the same values.
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include <bit>
#include <cmath>
#include <map>
#include <set>
#include <string>

#include "sources/metrics/samples/store.hpp"
#include "sources/metrics/series/evaluation.hpp"
#include "unit/sources/metrics/same_values.hpp"

namespace {

using namespace hondana;

/// All but alerts, whose series end with a rule and not with a scrape.
constexpr const char* scraped_series = R"({__name__=~".+",__name__!~"ALERTS.*"})";

class embedded_values : public hondana_test::same_values {
 protected:
  static void SetUpTestSuite() {
    begin(true);
    store_ = samples::store::open({}).value();
    // Everything that Prometheus has scraped, as it came: one batch an instant.
    const auto raw = real_->ask("/query", {{"query", std::string(scraped_series) + "[1m]"}, {"time", seconds(settled_)}});
    std::map<series::instant, samples::batch> scrapes;
    std::vector<std::pair<series::instant, std::string>> failed;
    std::vector<series::identity> known;
    for (const auto& one : raw.at("result").as_array()) {
      series::identity of;
      for (const auto& [name, value] : one.at("metric").as_object()) {
        if (name == "__name__")
          of.name = value.as_string();
        else
          of.labels.emplace_back(name, value.as_string());
      }
      ASSERT_TRUE(series::normalize(of));
      names_.insert(of.name);
      const bool is_up = of.name == "up";
      for (const auto& sample : one.at("values").as_array()) {
        const std::string text(sample.at(1).as_string());
        const auto at = std::llround(sample.at(0).to_number<double>() * 1000);
        scrapes[at].entries.push_back({of, {at, std::strtod(text.c_str(), nullptr)}});
        if (is_up && text == "0") failed.emplace_back(at, of.value_of("instance"));
      }
      known.push_back(of);
    }
    // A scrape that failed while the exporter was away has ended its series, which the export does not tell.
    for (const auto& [at, instance] : failed) {
      for (const auto& of : known) {
        if (of.value_of("instance") == instance && of.name != "up" && !of.name.starts_with("scrape_"))
          scrapes[at].entries.push_back({of, {at, series::stale_marker()}});
      }
    }
    std::size_t kept = 0, sent = 0;
    for (const auto& [at, batch] : scrapes) {
      sent += batch.entries.size();
      const auto done = store_->append(batch);
      ASSERT_TRUE(done.has_value()) << done.error().public_text;
      kept += done->stored;
    }
    ASSERT_EQ(kept, sent);
    ASSERT_GT(kept, 5000u);
    ASSERT_TRUE(store_->compact(settled_).has_value());
  }
  static void TearDownTestSuite() {
    store_.reset();
    same_values::TearDownTestSuite();
  }

  static std::vector<series::time_series> evaluated(const std::string& name, const std::string& how, series::kind kind) {
    const auto at = steps();
    const auto what = series::parse_aggregation(how).value().for_kind(kind).for_step(at.step, 1000);
    const series::selector which{series::series_name_for(name, kind, what), {}};
    const auto back = std::max(what.window, series::default_lookback);
    auto raw = store_->read(which, at.start - back, at.end, {});
    EXPECT_TRUE(raw.has_value()) << name;
    auto got = series::evaluate(std::move(*raw), what, at);
    EXPECT_TRUE(got.has_value()) << name << ": " << got.error().public_text;
    return got.value_or(std::vector<series::time_series>());
  }

  /// Equal but for the last bits, since sums are added up in another order. How many were compared.
  static std::size_t same(const std::string& what, const values& ours, const values& theirs) {
    std::size_t compared = 0;
    EXPECT_EQ(ours.size(), theirs.size()) << what;
    for (const auto& [name, samples] : theirs) {
      const auto mine = ours.find(name);
      EXPECT_TRUE(mine != ours.end()) << what << " of\n" << name;
      if (mine == ours.end()) continue;
      EXPECT_EQ(mine->second.size(), samples.size()) << what << " of\n" << name;
      for (const auto& [at, bits_of_theirs] : samples) {
        const auto found = mine->second.find(at);
        EXPECT_TRUE(found != mine->second.end()) << what << " at " << at << " of\n" << name;
        if (found == mine->second.end()) continue;
        ++compared;
        if (found->second == bits_of_theirs) continue;
        const auto a = std::bit_cast<double>(found->second), b = std::bit_cast<double>(bits_of_theirs);
        EXPECT_LE(std::abs(a - b), 1e-9 * std::max(std::abs(a), std::abs(b))) << what << " at " << at << " of\n" << name;
      }
    }
    return compared;
  }

  static inline std::unique_ptr<samples::store> store_{};
  static inline std::set<std::string> names_{};
};

}  // namespace

TEST_F(embedded_values, of_all_series_are_those_of_prometheus) {
  values mine;
  for (const auto& name : names_) mine.merge(ours(evaluated(name, "raw", series::kind::gauge)));
  EXPECT_GT(same("raw", mine, raw(scraped_series)), 2500u);
}

TEST_F(embedded_values, of_rates_increases_and_other_functions_of_counters) {
  values rates;
  asked_together theirs;
  for (const auto& name : names_) {
    if (!name.ends_with("_total")) continue;
    rates.merge(ours(evaluated(name, "rate", series::kind::counter), name));
    theirs.add(name, "rate(" + name + "[4s])");
  }
  EXPECT_GT(same("rate", rates, theirs.answered()), 1000u);
  for (const std::string name : {"node_cpu_seconds_total", "prometheus_http_requests_total"}) {
    for (const std::string function : {"increase", "irate", "delta", "avg_over_time", "min_over_time", "max_over_time",
                                       "sum_over_time", "count_over_time"}) {
      EXPECT_GT(
          same(function, ours(evaluated(name, function + "[3s]", series::kind::counter)), raw(function + '(' + name + "[3s])")),
          0u);
    }
  }
}

TEST_F(embedded_values, have_a_counter_that_began_anew) {
  std::size_t resets = 0;
  for (const auto& [name, samples] : raw("resets(promhttp_metric_handler_requests_total{job=\"node\",code=\"200\"}[1m])"))
    for (const auto& [at, bits_of_count] : samples) resets += std::bit_cast<double>(bits_of_count) > 0 ? 1 : 0;
  EXPECT_GT(resets, 0u);
}

TEST_F(embedded_values, of_groups) {
  const std::string cpu = "node_cpu_seconds_total";
  for (const std::string group :
       {"sum by (mode)", "avg by (cpu)", "min", "max", "count by (mode)", "stddev by (mode)", "sum without (cpu, mode)"}) {
    EXPECT_GT(same(group, ours(evaluated(cpu, group, series::kind::counter)), raw(group + " (rate(" + cpu + "[4s]))")), 0u);
    EXPECT_GT(same(group, ours(evaluated("node_filesystem_avail_bytes", group, series::kind::gauge)),
                   raw(group + " (node_filesystem_avail_bytes)")),
              0u);
  }
}

TEST_F(embedded_values, of_quantiles_of_histograms) {
  std::size_t compared = 0;
  for (const auto& name : names_) {
    if (!name.ends_with("_bucket")) continue;
    const auto family = name.substr(0, name.size() - 7);
    for (const std::string quantile : {"0.5", "0.9", "0.99"}) {
      compared += same("quantile of " + family, ours(evaluated(family, "quantile(" + quantile + ')', series::kind::histogram)),
                       raw("histogram_quantile(" + quantile + ", sum by (le) (rate(" + name + "[4s])))", quantile));
    }
  }
  EXPECT_GT(compared, 50u);
  EXPECT_GT(
      same("grouped",
           ours(evaluated("prometheus_http_request_duration_seconds", "quantile(0.95) by (handler)", series::kind::histogram)),
           raw("histogram_quantile(0.95, sum by (le, handler) (rate(prometheus_http_request_duration_seconds_bucket[4s])))",
               "0.95")),
      0u);
}
