/// The values of the Prometheus backend against those that the curl program and Boost.JSON have from the same Prometheus.
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>

#include "sources/metrics/prometheus_backend.hpp"
#include "unit/sources/metrics/same_values.hpp"

namespace {

using namespace hondana;
using namespace hondana::metrics;

using hondana_test::same_values;

}  // namespace

TEST_F(same_values, of_every_counter_gauge_and_histogram_at_the_same_instants) {
  const auto all = ours_->metrics("", "", 100'000, by());
  ASSERT_TRUE(all.has_value()) << all.error().public_text;
  EXPECT_EQ(ours_->interval(), 1000);
  std::map<series::kind, std::size_t> seen;
  std::size_t compared = 0;
  values mine;
  asked_together theirs;
  for (const auto& one : *all) {
    auto found = ours(range(one.name).series, one.name);
    compared += points(found);
    if (points(found) != 0) ++seen[one.metadata.kind];
    mine.merge(found);
    switch (one.metadata.kind) {
      case series::kind::counter:
        theirs.add(one.name, "rate(" + one.name + "[4s])");
        break;
      case series::kind::histogram:
        for (const std::string quantile : {"0.5", "0.9", "0.99"})
          theirs.add(one.name, "histogram_quantile(" + quantile + ", sum by (le) (rate(" + one.name + "_bucket[4s])))",
                     quantile);
        break;
      default:
        theirs.add(one.name, one.name);
        break;
    }
  }
  EXPECT_EQ(mine.size(), theirs.answered().size());
  for (const auto& [name, samples] : theirs.answered()) ASSERT_EQ(mine[name], samples) << name;
  // That this compares anything at all: both programs have several hundred metrics.
  EXPECT_GT(seen[series::kind::counter], 100u);
  EXPECT_GT(seen[series::kind::gauge], 100u);
  EXPECT_GT(seen[series::kind::histogram], 5u);
  EXPECT_GT(compared, 3000u);
  RecordProperty("compared", static_cast<int>(compared));
}

TEST_F(same_values, of_functions_and_groups) {
  const auto same = [](const std::string& name, const std::string& how, const std::string& promql) {
    const auto mine = ours(range(name, how).series);
    EXPECT_EQ(mine, raw(promql)) << how;
    EXPECT_GT(points(mine), 0u) << how;
  };
  const std::string cpu = "node_cpu_seconds_total";
  same(cpu, "increase[3s]", "increase(node_cpu_seconds_total[3s])");
  same(cpu, "irate[5s]", "irate(node_cpu_seconds_total[5s])");
  same(cpu, "raw", "node_cpu_seconds_total");
  same(cpu, "sum by (mode)", "sum by (mode) (rate(node_cpu_seconds_total[4s]))");
  same(cpu, "sum without (cpu) (increase[5s])", "sum without (cpu) (increase(node_cpu_seconds_total[5s]))");
  same(cpu, "topk(2)", "topk(2, rate(node_cpu_seconds_total[4s]))");
  same("node_memory_MemAvailable_bytes", "avg_over_time[3s]", "avg_over_time(node_memory_MemAvailable_bytes[3s])");
  same("node_memory_MemAvailable_bytes", "delta[3s]", "delta(node_memory_MemAvailable_bytes[3s])");
  same("prometheus_http_request_duration_seconds", "rate", "rate(prometheus_http_request_duration_seconds_count[4s])");
  const auto grouped = ours(range("prometheus_http_request_duration_seconds", "quantile(0.95) by (handler)").series);
  EXPECT_EQ(grouped,
            raw("histogram_quantile(0.95, sum by (le, handler) (rate(prometheus_http_request_duration_seconds_bucket[4s])))",
                "0.95"));
  EXPECT_GT(points(grouped), 0u);
}

TEST_F(same_values, of_expressions_and_of_one_instant) {
  const auto at = steps();
  const auto range = ours_->query("sum by (job) (up) * 2", at, 1000, by());
  ASSERT_TRUE(range.has_value()) << range.error().public_text;
  EXPECT_EQ(ours(range->series), raw("sum by (job) (up) * 2"));
  const auto now = ours_->query("up{job=\"node\"}[3s]", {at.end, at.end, 1000}, 1000, by());
  ASSERT_TRUE(now.has_value()) << now.error().public_text;
  ASSERT_EQ(now->series.size(), 1u);
  const auto theirs = real_->ask("/query", {{"query", "up{job=\"node\"}[3s]"}, {"time", seconds(at.end)}});
  EXPECT_EQ(now->series[0].samples.size(), theirs.at("result").at(0).at("values").as_array().size());
  EXPECT_GE(now->series[0].samples.size(), 2u);
  const auto one = ours_->query("1 / 0", {at.end, at.end, 1000}, 1000, by());
  ASSERT_TRUE(one.has_value());
  EXPECT_EQ(one->series.at(0).samples.at(0).value, INFINITY);
  EXPECT_EQ(one->series.at(0).samples.at(0).time, at.end);
}

TEST_F(same_values, and_the_words_of_prometheus_where_it_refuses) {
  const auto bad = ours_->query("sum(", steps(), 1000, by());
  ASSERT_FALSE(bad.has_value());
  EXPECT_EQ(bad.error().code, errc::invalid_argument);
  EXPECT_NE(bad.error().public_text.find("parse error"), std::string::npos) << bad.error().public_text;
  const auto many = ours_->query("up * on(job) group_left prometheus_http_requests_total", steps(), 1000, by());
  ASSERT_FALSE(many.has_value());
  EXPECT_EQ(many.error().code, errc::invalid_argument);
  EXPECT_NE(many.error().public_text.find("found duplicate series for the match group"), std::string::npos)
      << many.error().public_text;
  const auto text = ours_->query("\"hello\"", {settled_, settled_, 1000}, 1000, by());
  ASSERT_FALSE(text.has_value());
  EXPECT_EQ(text.error().code, errc::invalid_argument);
}

TEST_F(same_values, within_budgets_that_say_how_to_narrow_down) {
  range_request what;
  what.selector.name = "node_cpu_seconds_total";
  what.range = steps();
  what.max_series = 2;
  const auto many = ours_->range(what, by());
  ASSERT_FALSE(many.has_value());
  EXPECT_EQ(many.error().code, errc::response_too_large);
  EXPECT_NE(many.error().public_text.find("narrow it down with match"), std::string::npos);
  what.range = {settled_ - 11'001'000, settled_, 1000};
  const auto fine = ours_->range(what, by());
  ASSERT_FALSE(fine.has_value());
  EXPECT_EQ(fine.error().code, errc::response_too_large);
  EXPECT_NE(fine.error().public_text.find("11001 steps, and Prometheus returns at most 11000: request a step of 2s or more"),
            std::string::npos)
      << fine.error().public_text;
  // Exactly as many as Prometheus itself takes.
  what.range = {settled_ - 11'000'000, settled_, 1000};
  what.max_series = 1000;
  const auto most = ours_->range(what, by());
  EXPECT_TRUE(most.has_value()) << most.error().public_text;
}

TEST_F(same_values, for_labels_whatever_they_hold) {
  const auto texts = [](const boost::json::value& of) {
    std::vector<std::string> out;
    for (const auto& one : of.as_array()) out.emplace_back(one.as_string());
    return out;
  };
  auto modes = ours_->label_values({"node_cpu_seconds_total", {}}, "mode", "", by());
  ASSERT_TRUE(modes.has_value()) << modes.error().public_text;
  EXPECT_EQ(*modes, texts(real_->ask("/label/mode/values", {{"match[]", "node_cpu_seconds_total"}})));
  EXPECT_GT(modes->size(), 4u);
  modes = ours_->label_values({"node_cpu_seconds_total", {}}, "mode", "i", by());
  EXPECT_EQ(*modes, (std::vector<std::string>{"idle", "iowait", "irq"}));
  // Points and slashes stand for themselves.
  const auto handlers = ours_->label_values({"prometheus_http_requests_total", {}}, "handler", "/api/v1/q", by());
  ASSERT_TRUE(handlers.has_value()) << handlers.error().public_text;
  EXPECT_TRUE(std::find(handlers->begin(), handlers->end(), "/api/v1/query_range") != handlers->end());
  EXPECT_TRUE(std::all_of(handlers->begin(), handlers->end(), [](const auto& one) { return one.starts_with("/api/v1/q"); }));
  EXPECT_TRUE(ours_->label_values({"prometheus_http_requests_total", {}}, "handler", ".api\n\"", by())->empty());
  const auto names = ours_->label_names({"node_cpu_seconds_total", {}}, by());
  ASSERT_TRUE(names.has_value());
  EXPECT_EQ(*names, (std::vector<std::string>{"cpu", "instance", "job", "mode"}));
  const auto family = ours_->label_names({"prometheus_http_request_duration_seconds", {}}, by());
  EXPECT_EQ(*family, (std::vector<std::string>{"handler", "instance", "job"}));
  // What would end the selector, were it not escaped, finds nothing and breaks nothing.
  using relation = series::matcher::match_type;
  for (const std::string value : {"idle\"} or up{job=\"node", "\\", "\n", "a\\\"b", "}) or vector(1) #", "日本"}) {
    for (const auto how : {relation::equal, relation::matches}) {
      const auto matcher = series::matcher::create("mode", how, value);
      if (!matcher) continue;
      range_request what;
      what.selector = {"node_cpu_seconds_total", {*matcher}};
      what.range = steps();
      const auto got = ours_->range(what, by());
      ASSERT_TRUE(got.has_value()) << value << ": " << got.error().public_text;
      EXPECT_TRUE(got->series.empty()) << value;
    }
  }
  EXPECT_EQ(ours_->label_values({}, "../../admin", "", by()).error().code, errc::invalid_argument);
}

TEST_F(same_values, and_the_kinds_units_and_help_of_the_metadata) {
  const auto all = real_->ask("/metadata");
  std::size_t seen = 0;
  for (const auto& [name, entries] : all.as_object()) {
    const auto found = ours_->find(std::string_view(name), by());
    ASSERT_TRUE(found.has_value());
    if (!*found) continue;
    ++seen;
    EXPECT_EQ(series::name_of((*found)->metadata.kind), std::string_view(entries.at(0).at("type").as_string())) << name;
    EXPECT_EQ((*found)->metadata.help, std::string_view(entries.at(0).at("help").as_string())) << name;
  }
  EXPECT_GT(seen, 300u);
  EXPECT_EQ(ours_->find("prometheus_http_request_duration_seconds", by())->value().metadata.unit, "seconds");
  EXPECT_EQ(ours_->find("node_memory_MemAvailable_bytes", by())->value().metadata.unit, "bytes");
  EXPECT_FALSE(ours_->find("no_such_metric", by())->has_value());
  const auto newest = ours_->newest_sample_time({"up", {}}, by());
  ASSERT_TRUE(newest.has_value() && newest->has_value());
  EXPECT_GE(**newest, settled_);
  EXPECT_FALSE(ours_->newest_sample_time({"no_such_metric", {}}, by())->has_value());
  EXPECT_TRUE(ours_->newest_sample_time({"prometheus_http_request_duration_seconds", {}}, by())->has_value());
}

TEST_F(same_values, and_targets_alerts_and_rules) {
  // A scrape may take longer than Prometheus waits for it.
  auto targets = ours_->targets(by());
  const auto are_up = [&] {
    targets = ours_->targets(by());
    return targets && std::all_of(targets->begin(), targets->end(), [](const auto& one) { return one.is_up; });
  };
  EXPECT_TRUE(real_->becomes(are_up));
  ASSERT_TRUE(targets.has_value()) << targets.error().public_text;
  ASSERT_EQ(targets->size(), 2u);
  for (const auto& one : *targets) {
    EXPECT_TRUE(one.is_up) << one.last_error;
    EXPECT_TRUE(one.job == "node" || one.job == "prometheus");
    EXPECT_EQ(one.interval, std::chrono::seconds(1));
    EXPECT_GE(one.last_scrape.value(), settled_ - 2000);
    EXPECT_TRUE(one.url.ends_with("/metrics")) << one.url;
  }
  std::map<std::string, alert> alerts;
  const auto both = real_->becomes([&] {
    const auto got = ours_->alerts(by());
    if (!got) return false;
    for (const auto& one : *got) alerts[one.name] = one;
    return alerts.size() == 2;
  });
  ASSERT_TRUE(both);
  EXPECT_EQ(alerts["fires"].state, "firing");
  EXPECT_EQ(alerts["fires"].severity, "page");
  EXPECT_EQ(alerts["fires"].expression, "up{job=\"node\"} == 1");
  EXPECT_EQ(alerts["fires"].value, "1e+00");
  ASSERT_EQ(alerts["fires"].annotations.size(), 1u);
  EXPECT_EQ(alerts["fires"].annotations[0].second, "It is 1: \"日本\"");
  EXPECT_EQ(alerts["waits"].state, "pending");
  const auto theirs = real_->ask("/alerts");
  for (const auto& one : theirs.at("alerts").as_array()) {
    const auto& mine = alerts[std::string(one.at("labels").at("alertname").as_string())];
    EXPECT_EQ(mine.state, std::string_view(one.at("state").as_string()));
    EXPECT_GT(mine.active_at.value_or(0), settled_ - 600'000);
  }
  const auto rules = ours_->rules(by());
  ASSERT_TRUE(rules.has_value()) << rules.error().public_text;
  ASSERT_EQ(rules->size(), 4u);
  EXPECT_EQ((*rules)[1].name, "waits");
  EXPECT_EQ((*rules)[1].kind, "alerting");
  EXPECT_EQ((*rules)[1].hold_duration, 3'600'000);
  EXPECT_EQ((*rules)[2].state, "inactive");
  EXPECT_EQ((*rules)[3].kind, "recording");
  EXPECT_EQ((*rules)[3].expression, "sum by (job) (up)");
  EXPECT_EQ((*rules)[3].group, "tests");
  EXPECT_EQ((*rules)[3].health, "ok");
  EXPECT_TRUE((*rules)[3].evaluation_seconds.has_value());
}

TEST_F(same_values, with_its_health_and_needs_and_a_word_at_each_interval_while_followed) {
  ASSERT_TRUE(ours_->metrics("", "", 1, by()).has_value());
  const auto health = ours_->health();
  EXPECT_TRUE(health.is_healthy);
  EXPECT_TRUE(health.detail.starts_with("Prometheus 2.")) << health.detail;
  EXPECT_EQ(ours_->requirements().sockets, (std::vector<std::string>{real_->url().substr(7)}));
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::chrono::steady_clock::time_point> told;
  ours_->set_listener([&] {
    const std::lock_guard lock(mutex);
    told.push_back(std::chrono::steady_clock::now());
    changed.notify_all();
  });
  {
    std::unique_lock lock(mutex);
    ASSERT_TRUE(changed.wait_for(lock, hondana_test::program_patience, [&] { return told.size() >= 2; }));
    EXPECT_GE(told[1] - told[0], std::chrono::milliseconds(900));
  }
  ours_->set_listener({});
  // None runs after this: what it refers to goes away here.
}
