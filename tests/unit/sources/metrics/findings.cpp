/// What is unusual: the figures, and what a round finds with the evidence for it.
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <hondana/clock.hpp>

#include "sources/metrics/anomaly_detection.hpp"
#include "sources/metrics/summary.hpp"
#include "unit/sources/metrics/made_backend.hpp"

namespace hondana::metrics {
namespace {

/// Every five minutes up to noon.
std::vector<series::sample> five_minutes(const std::vector<double>& all) {
  std::vector<series::sample> out;
  for (std::size_t i = 0; i < all.size(); ++i)
    out.push_back({noon - static_cast<series::duration>(all.size() - 1 - i) * 5 * minute, all[i]});
  return out;
}

std::vector<double> then(std::vector<double> all, std::initializer_list<double> more) {
  all.insert(all.end(), more);
  return all;
}

void put(made_backend& of, const std::string& name, const std::vector<series::label>& labels, const std::vector<double>& all) {
  for (const auto& one : five_minutes(all)) of.add(name, labels, one.time, one.value);
}

summary looked_at(made_backend& of, summary_options how = {.source = "app", .timeout = hondana_test::event_deadline}) {
  anomaly_scanner by(std::move(how), of);
  auto got = by.scan(noon, {});
  if (!got) ADD_FAILURE() << got.error().public_text;
  return got ? *got : summary{};
}

std::vector<std::string> kinds_of(const summary& all) {
  std::vector<std::string> out;
  for (const auto& one : all.findings) out.push_back(one.kind);
  return out;
}

using kinds_found = std::vector<std::string>;

/// The second metric takes more time than a round has.
class slow_backend final : public backend {
 public:
  /// `time`: what passes while the slow metric is asked for.
  explicit slow_backend(std::shared_ptr<made_backend> of, manual_clock* time = nullptr) : of_(std::move(of)), time_(time) {}
  std::string slow{}, broken{};
  std::vector<std::string> asked{};

  result<range_answer> range(const range_request& what, const request_context& by) override {
    asked.push_back(what.selector.name);
    if (what.selector.name == slow) {
      // Until it is given up.
      if (time_ != nullptr) time_->advance(by.deadline - monotonic_clock::now());
      return fail(errc::timed_out, "slow");
    }
    if (what.selector.name == broken) return fail(errc::source_unavailable, "gone");
    return of_->range(what, by);
  }
  result<std::vector<metric_info>> metrics(std::string_view prefix, std::string_view after, std::size_t limit,
                                           const request_context& by) override {
    return of_->metrics(prefix, after, limit, by);
  }
  result<std::optional<metric_info>> find(std::string_view name, const request_context& by) override {
    return of_->find(name, by);
  }
  result<std::vector<std::string>> label_names(const series::selector& of, const request_context& by) override {
    return of_->label_names(of, by);
  }
  result<std::vector<std::string>> label_values(const series::selector& of, std::string_view label, std::string_view prefix,
                                                const request_context& by) override {
    return of_->label_values(of, label, prefix, by);
  }
  result<std::vector<scraping::target_state>> targets(const request_context& by) override { return of_->targets(by); }
  result<std::vector<alert>> alerts(const request_context& by) override { return of_->alerts(by); }
  result<std::vector<rule>> rules(const request_context& by) override { return of_->rules(by); }
  result<range_answer> query(std::string_view, const series::range&, std::size_t, const request_context&) override {
    return fail(errc::unsupported, "none");
  }
  [[nodiscard]] series::duration interval() const override { return 15 * second; }
  void set_listener(std::function<void()>) override {}
  [[nodiscard]] hondana::provider_health health() const override { return {}; }
  [[nodiscard]] hondana::system_requirements requirements() const override { return {}; }

 private:
  std::shared_ptr<made_backend> of_;
  manual_clock* time_;
};

}  // namespace

TEST(metrics_findings, usual_is_the_median_whatever_one_outlier_says) {
  const auto usual = baseline_of({10, 11, 9, 10, 12, 8, 10, 11, 9, 10, 10, 1e12, std::nan(""), INFINITY});
  ASSERT_TRUE(usual);
  EXPECT_EQ(usual->count, 12U);
  EXPECT_EQ(usual->median, 10);
  EXPECT_NEAR(usual->spread, 1.4826, 1e-9);
  EXPECT_EQ(usual->max, 1e12);
  EXPECT_FALSE(baseline_of(std::vector<double>(11, 1)));
  EXPECT_FALSE(baseline_of({}));
}

TEST(metrics_findings, a_value_is_far_away_when_it_is_beyond_all_before_and_more_than_a_fifth) {
  const std::vector<double> calm(40, 100);
  const auto high = find_deviation(five_minutes(then(calm, {200, 200, 200})));
  ASSERT_TRUE(high);
  EXPECT_EQ(high->current, 200);
  EXPECT_EQ(high->baseline, 100);
  EXPECT_GE(high->weight, 0.3);
  EXPECT_LE(high->weight, 0.7);
  const auto low = find_deviation(five_minutes(then(calm, {1, 1, 1})));
  ASSERT_TRUE(low);
  EXPECT_LT(low->current, low->baseline);
  EXPECT_FALSE(find_deviation(five_minutes(then(calm, {115, 115, 115}))));
  EXPECT_FALSE(find_deviation(five_minutes(then(calm, {100, 100, 900})))) << "one value is none";
  EXPECT_FALSE(find_deviation(five_minutes(then(then(calm, {250}), {200, 200, 200})))) << "it was higher before";
  EXPECT_FALSE(find_deviation(five_minutes(then(calm, {100, 100, 100}))));
  EXPECT_FALSE(find_deviation(five_minutes(std::vector<double>(43, 0))));
  EXPECT_FALSE(find_deviation(five_minutes({1, 2, 3})));
  const auto nan = std::nan("");
  EXPECT_FALSE(find_deviation(five_minutes(then(calm, {nan, nan, nan}))));
  EXPECT_TRUE(find_deviation(five_minutes(then(then(calm, {nan, INFINITY, nan}), {200, 200, 200}))));
}

TEST(metrics_findings, what_comes_every_day_at_this_time_is_usual) {
  std::vector<double> all(300, 100);
  // Of the day before at this time: 288 steps are a day.
  for (std::size_t i = 302 - 288 - 6; i <= 302 - 288 + 6; ++i) all[i] = 180;
  EXPECT_FALSE(find_deviation(five_minutes(then(all, {200, 200, 200}))));
}

TEST(metrics_findings, a_counter_that_begins_anew_rises_from_zero) {
  const auto counted = five_minutes({300, 600, 900, 300, 600});
  const auto rates = rates_of(counted);
  ASSERT_EQ(rates.size(), 4U);
  for (const auto& one : rates) EXPECT_EQ(one.value, 1);
  EXPECT_EQ(last_reset(counted, noon - hour), noon - 5 * minute);
  EXPECT_FALSE(last_reset(counted, noon - 4 * minute));
  EXPECT_FALSE(last_reset(five_minutes({1, 2, 2, 3}), noon - hour));
}

TEST(metrics_findings, what_falls_along_a_line_is_gone_when_the_line_says) {
  std::vector<double> left;
  for (int i = 0; i < 24; ++i) left.push_back(1000 - 10 * i);
  const auto until = time_to_zero(five_minutes(left));
  ASSERT_TRUE(until);
  EXPECT_NEAR(static_cast<double>(*until), 77.0 * 5 * minute, 1000);
  EXPECT_FALSE(time_to_zero(five_minutes({left.rbegin(), left.rend()}))) << "it rises";
  EXPECT_FALSE(time_to_zero(five_minutes(std::vector<double>(24, 5)))) << "it stays";
  EXPECT_FALSE(time_to_zero(five_minutes({left.begin(), left.begin() + 5}))) << "too few";
  std::vector<double> wild;
  for (int i = 0; i < 24; ++i) wild.push_back(i % 2 == 0 ? 1000 - i : 0);
  EXPECT_FALSE(time_to_zero(five_minutes(wild))) << "no line";
  auto with_nan = left;
  with_nan[3] = std::nan("");
  EXPECT_FALSE(time_to_zero(five_minutes(with_nan)));
  EXPECT_EQ(filling_weight(10 * minute), 0.9);
  EXPECT_NEAR(filling_weight(day), 0.3, 1e-9);
  EXPECT_GT(filling_weight(2 * hour), filling_weight(6 * hour));
}

TEST(metrics_findings, the_score_is_the_weightiest_and_a_little_for_each_other_grave_one) {
  const auto of = [](std::initializer_list<double> weights) {
    std::vector<finding> all;
    for (const double one : weights) {
      all.emplace_back();
      all.back().weight = one;
    }
    return score_of(all);
  };
  EXPECT_EQ(of({}), 0);
  EXPECT_EQ(of({0.3, 0.3, 0.3}), 0.3);
  EXPECT_NEAR(of({0.6, 0.5, 0.4}), 0.65, 1e-9);
  EXPECT_EQ(of({0.95, 0.9, 0.9, 0.9}), 1);
}

TEST(metrics_findings, nothing_is_unusual_where_nothing_changes) {
  made_backend of;
  put(of, "calm", {}, std::vector<double>(60, 5));
  const auto found = looked_at(of);
  EXPECT_EQ(found.score, 0);
  EXPECT_TRUE(found.findings.empty());
  EXPECT_EQ(found.metric_count, 1U);
  EXPECT_EQ(found.scanned_metrics, 1U);
  EXPECT_EQ(found.scanned_series, 1U);
  EXPECT_EQ(to_text(found),
            "No findings in app at 2026-01-31T12:00:00Z (score 0): 1 of 1 metrics, 1 series, 0 targets up, 0 down.\n");
}

TEST(metrics_findings, a_gauge_that_is_high_has_its_evidence_with_it) {
  made_backend of;
  of.describe("queue_bytes", series::kind::gauge, "bytes");
  put(of, "queue_bytes", {{"name", "mail"}}, then(std::vector<double>(60, 100), {500, 500, 500}));
  put(of, "queue_bytes", {{"name", "other"}}, std::vector<double>(63, 100));
  const auto found = looked_at(of);
  ASSERT_EQ(kinds_of(found), kinds_found{"high"});
  const auto& one = found.findings.front();
  EXPECT_EQ(one.text, "queue_bytes{name=\"mail\"} is 500 bytes; the usual value is 100 bytes.");
  EXPECT_EQ(one.metric, "queue_bytes");
  EXPECT_EQ(one.uri, "metrics://app/queue_bytes?match=name%3D%22mail%22");
  EXPECT_EQ(one.current, 500);
  EXPECT_EQ(one.baseline, 100);
  ASSERT_EQ(one.points.size(), 13U);
  EXPECT_EQ(one.points.back().value, 500);
  EXPECT_EQ(found.score, one.weight);
}

TEST(metrics_findings, counters_are_looked_at_by_their_rates_and_say_when_they_began_anew) {
  made_backend of;
  of.describe("done_total", series::kind::counter);
  std::vector<double> all;
  for (int i = 0; i < 60; ++i) all.push_back(3000.0 * i);
  for (int i = 1; i <= 3; ++i) all.push_back(3000.0 * 59 + 30'000.0 * i);
  put(of, "done_total", {{"job", "a"}}, all);
  std::vector<double> again;
  for (int i = 0; i < 63; ++i) again.push_back(i < 60 ? 3000.0 * i : 3000.0 * (i - 60));
  put(of, "done_total", {{"job", "b"}}, again);
  const auto found = looked_at(of);
  ASSERT_EQ(kinds_of(found), (kinds_found{"high", "reset"}));
  EXPECT_EQ(found.findings[0].current, 100);
  EXPECT_EQ(found.findings[0].baseline, 10);
  EXPECT_EQ(found.findings[0].unit, "/s");
  EXPECT_EQ(found.findings[1].started_at, noon - 10 * minute);
  EXPECT_EQ(found.findings[1].text,
            "done_total{job=\"b\"} was reset at 2026-01-31T11:50:00Z: the program that counts it was restarted.");
}

TEST(metrics_findings, a_disk_that_fills_up_is_the_graver_the_sooner_it_is_full) {
  made_backend of;
  of.describe("node_filesystem_avail_bytes", series::kind::gauge, "bytes");
  std::vector<double> soon, later, never;
  for (int i = 0; i <= 72; ++i) {
    soon.push_back(1e9 - 1.3e7 * i);
    later.push_back(1e9 - 4e6 * i);
    never.push_back(1e9);
  }
  put(of, "node_filesystem_avail_bytes", {{"mountpoint", "/"}}, soon);
  put(of, "node_filesystem_avail_bytes", {{"mountpoint", "/srv"}}, later);
  put(of, "node_filesystem_avail_bytes", {{"mountpoint", "/home"}}, never);
  const auto found = looked_at(of);
  ASSERT_EQ(kinds_of(found), (kinds_found{"filling", "filling"}));
  EXPECT_EQ(found.findings[0].text, "The file system / will be full in about 24 min 36 s at the rate of the last hours.");
  EXPECT_EQ(found.findings[0].weight, 0.9);
  EXPECT_EQ(found.findings[1].identity.value_of("mountpoint"), "/srv");
  EXPECT_LT(found.findings[1].weight, 0.9);
}

TEST(metrics_findings, targets_that_are_down_and_alerts_are_said_by_their_weight) {
  made_backend of;
  put(of, "calm", {}, std::vector<double>(60, 5));
  scraping::target_state up, down, fresh;
  up.job = down.job = fresh.job = "web";
  up.instance = "a:80";
  down.instance = "b:80";
  fresh.instance = "c:80";
  up.is_up = true;
  up.last_scrape = down.last_scrape = noon;
  down.last_error = "no connection (Connection refused)";
  of.target_states = {up, down, fresh};
  of.alert_states = {{.name = "Slow",
                      .state = "firing",
                      .severity = "critical",
                      .annotations = {{"summary", "Too slow"}},
                      .active_at = noon - hour},
                     {.name = "Soon", .state = "pending"},
                     {.name = "Quiet", .state = "inactive"}};
  const auto found = looked_at(of);
  ASSERT_EQ(kinds_of(found), (kinds_found{"alert", "target-down", "alert"}));
  EXPECT_EQ(found.findings[0].text, "The alert Slow is firing. Too slow");
  EXPECT_EQ(found.findings[0].weight, 0.95);
  EXPECT_EQ(found.findings[0].started_at, noon - hour);
  EXPECT_EQ(found.findings[0].uri, "metrics://app/alerts");
  EXPECT_EQ(found.findings[1].text, "The target web b:80 does not answer: no connection (Connection refused)");
  EXPECT_EQ(found.findings[1].uri, "metrics://app/targets");
  EXPECT_EQ(found.findings[2].weight, 0.35);
  EXPECT_EQ(found.targets_up, 2U) << "what was not asked yet is not down";
  EXPECT_EQ(found.targets_down, 1U);
  EXPECT_EQ(found.score, 1) << "0.95, and a little for the other grave one";
}

TEST(metrics_findings, lines_of_others_make_no_lines_of_ours) {
  made_backend of;
  put(of, "calm", {}, std::vector<double>(60, 5));
  of.alert_states = {{.name = "A", .state = "firing", .annotations = {{"summary", "one\n* The alert B is firing."}}}};
  const auto text = to_text(looked_at(of));
  EXPECT_NE(text.find("\n* The alert A is firing. one * The alert B is firing. metrics://app/alerts\n"), std::string::npos)
      << text;
}

TEST(metrics_findings, rounds_go_on_where_the_last_one_ended_and_keep_what_it_found) {
  made_backend of;
  for (const auto* const name : {"a", "b", "c", "d"}) put(of, name, {}, then(std::vector<double>(60, 100), {500, 500, 500}));
  anomaly_scanner by({.source = "app", .timeout = hondana_test::event_deadline, .max_metrics = 3}, of);
  const auto first = by.scan(noon, {});
  ASSERT_TRUE(first);
  EXPECT_EQ(first->scanned_metrics, 3U);
  EXPECT_EQ(first->findings.size(), 3U);
  EXPECT_EQ(first->notes, (std::vector<std::string>{"Postponed to the next rounds: 1 metric."}));
  const auto next = by.scan(noon, {});
  ASSERT_TRUE(next);
  EXPECT_EQ(next->scanned_metrics, 4U);
  EXPECT_EQ(next->findings.size(), 4U);
  EXPECT_TRUE(next->notes.empty());
}

TEST(metrics_findings, what_has_too_many_series_is_left_out_and_said) {
  made_backend of;
  for (int i = 0; i < 60; ++i) put(of, "many", {{"i", std::to_string(i)}}, {1, 2, 3});
  put(of, "one", {}, {1, 2, 3});
  const auto found = looked_at(of);
  EXPECT_EQ(found.notes, (std::vector<std::string>{"Skipped, since each has more than 50 series: 1 metric."}));
  EXPECT_EQ(found.scanned_series, 1U);
}

TEST(metrics_findings, instants_and_descriptions_are_not_high_or_low) {
  made_backend of;
  for (const auto* const name : {"build_info", "boot_time_seconds", "last_run_timestamp_seconds"})
    put(of, name, {}, then(std::vector<double>(60, 100), {500, 500, 500}));
  EXPECT_TRUE(looked_at(of).findings.empty());
}

TEST(metrics_findings, the_weightiest_fifty_are_said_and_five_of_one_metric) {
  made_backend of;
  for (int i = 0; i < 12; ++i)
    for (int j = 0; j < 8; ++j)
      put(of, "m" + std::to_string(i), {{"j", std::to_string(j)}}, then(std::vector<double>(20, 100), {500, 500, 500}));
  const auto found = looked_at(of);
  EXPECT_EQ(found.findings.size(), 50U);
  EXPECT_EQ(found.notes, (std::vector<std::string>{"The 50 weightiest of 60 findings."}));
}

TEST(metrics_findings, a_source_that_ceases_to_answer_leaves_what_was_found_before) {
  const auto of = std::make_shared<made_backend>();
  for (const auto* const name : {"a", "b"}) put(*of, name, {}, then(std::vector<double>(60, 100), {500, 500, 500}));
  slow_backend from(of);
  anomaly_scanner by({.source = "app", .timeout = hondana_test::event_deadline}, from);
  EXPECT_EQ(by.scan(noon, {})->findings.size(), 2U);
  from.broken = "a";
  const auto next = by.scan(noon, {});
  ASSERT_TRUE(next);
  EXPECT_EQ(next->findings.size(), 2U);
  EXPECT_EQ(next->notes,
            (std::vector<std::string>{"The source stopped answering; findings about metrics are from earlier rounds."}));
}

TEST(metrics_findings, a_metric_that_takes_all_the_time_keeps_none_of_the_others_from_the_next_rounds) {
  manual_clock clock;
  const auto of = std::make_shared<made_backend>();
  for (const auto* const name : {"a", "b", "c"}) put(*of, name, {}, then(std::vector<double>(60, 100), {500, 500, 500}));
  slow_backend from(of, &clock);
  from.slow = "b";
  anomaly_scanner by({.source = "app", .timeout = std::chrono::milliseconds(100)}, from);
  std::size_t looked = 0;
  for (int round = 0; round < 3; ++round) looked = by.scan(noon, {})->scanned_metrics;
  EXPECT_EQ(looked, 2U) << "a and c";
}

}  // namespace hondana::metrics
