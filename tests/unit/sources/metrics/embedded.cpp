/// A source with a store of its own: begun and ended, without its store, and what it keeps.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <vector>

#include <gtest/gtest.h>

#include <hondana/clock.hpp>

#include "sources/metrics/embedded_backend.hpp"
#include "sources/metrics/metrics_provider.hpp"
#include "sources/metrics/moment.hpp"
#include "unit/sources/metrics/made_backend.hpp"

namespace hondana::metrics {
namespace {

/// Gone with the test.
class store_folder {
 public:
  store_folder() {
    if (::mkdtemp(name_.data()) == nullptr) ADD_FAILURE() << "there is no folder";
  }
  ~store_folder() {
    std::error_code left_behind;
    std::filesystem::remove_all(name_, left_behind);
  }
  store_folder(const store_folder&) = delete;
  store_folder& operator=(const store_folder&) = delete;
  [[nodiscard]] const std::string& path() const { return name_; }

 private:
  std::string name_ = "/tmp/metrics_store_XXXXXX";
};

/// A function of this process that tells what tests want.
class figures_target {
 public:
  [[nodiscard]] scraping::target target(const std::string& job = "made") {
    scraping::target out;
    out.job = job;
    out.instance = "here";
    out.collect = [this](series::instant now, samples::batch& into) -> result<void> {
      const std::lock_guard lock(mutex_);
      if (fails) return fail(errc::source_unavailable, "the sensor is gone");
      ++scrapes_;
      into.families["jobs_done"] = {series::kind::counter, "", "Done."};
      into.families["job_seconds"] = {series::kind::histogram, "seconds", "Took."};
      into.families["load"] = {series::kind::gauge, "", "Load."};
      const auto put = [&](const std::string& name, std::vector<series::label> labels, double value) {
        into.entries.push_back({{name, std::move(labels)}, {now, value}});
      };
      put("load", {{"cpu", "0"}}, load);
      put("jobs_done_total", {}, 10.0 * scrapes_);
      put("job_seconds_bucket", {{"le", "+Inf"}}, scrapes_);
      put("job_seconds_bucket", {{"le", "1"}}, scrapes_);
      put("job_seconds_count", {}, scrapes_);
      put("job_seconds_sum", {}, scrapes_);
      return {};
    };
    return out;
  }
  double load = 1;
  bool fails = false;

 private:
  std::mutex mutex_;
  double scrapes_ = 0;
};

/// Of the clock of tests.
struct still_source {
  explicit still_source(const std::string& path = {}) {
    embedded_options how;
    how.store.path = path;
    how.store.clock = [this] { return clock.load(); };
    how.now = [this] { return clock.load(); };
    how.targets = {target.target()};
    how.is_manual = true;
    of = std::make_shared<embedded_backend>(std::move(how));
  }
  figures_target target{};
  std::atomic<series::instant> clock{noon};
  std::shared_ptr<embedded_backend> of{};
};

request_context call_with_time() {
  request_context out;
  out.deadline = monotonic_clock::now() + hondana_test::event_deadline;
  return out;
}

}  // namespace

TEST(metrics_embedded, opens_nothing_before_it_is_begun_or_asked) {
  const store_folder folder;
  const auto path = folder.path() + "/m.db";
  const still_source source(path);
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_TRUE(source.of->health().is_healthy);
  EXPECT_EQ(source.of->health().detail, "not started yet");
  ASSERT_EQ(source.of->requirements().folders.size(), 1U);
  EXPECT_EQ(source.of->requirements().folders.front().path, folder.path());
  EXPECT_TRUE(source.of->requirements().folders.front().is_writable);
  ASSERT_TRUE(source.of->metrics({}, {}, 10, {}));
  EXPECT_TRUE(std::filesystem::exists(path));
}

TEST(metrics_embedded, keeps_what_it_has_scraped_for_the_next_time) {
  const store_folder folder;
  const auto path = folder.path() + "/m.db";
  {
    const still_source source(path);
    ASSERT_TRUE(source.of->scrape_once());
  }
  const still_source again(path);
  const auto found = again.of->range({.selector = {"load", {}}, .aggregation = {}, .range = {noon, noon, 15 * second}}, {});
  ASSERT_TRUE(found);
  ASSERT_EQ(found->series.size(), 1U);
  EXPECT_EQ(series::to_text(found->series[0].id), "load{cpu=\"0\",instance=\"here\",job=\"made\"}");
  EXPECT_EQ(found->series[0].samples[0].value, 1);
  EXPECT_EQ(found->metadata.help, "Load.");
}

TEST(metrics_embedded, that_has_just_been_begun_answers_after_its_first_scrapes) {
  figures_target machine;
  embedded_backend source({.store = {}, .targets = {machine.target("one"), machine.target("two")}});
  const auto begun = std::chrono::steady_clock::now();
  const auto found = source.find("load", call_with_time());
  ASSERT_TRUE(found) << found.error().public_text;
  // Not for ever, since a target may hang.
  if (!found->has_value()) {
    EXPECT_GE(std::chrono::steady_clock::now() - begun, std::chrono::milliseconds(1500));
  }
  const auto again = source.find("load", call_with_time());
  ASSERT_TRUE(again);
  if (found->has_value()) {
    EXPECT_TRUE(again->has_value());
  }
}

TEST(metrics_embedded, lists_families_of_histograms_once_and_counters_by_their_series) {
  const still_source source;
  ASSERT_TRUE(source.of->scrape_once());
  const auto all = source.of->metrics({}, {}, 100, {});
  ASSERT_TRUE(all);
  std::vector<std::string> names;
  for (const auto& one : *all) names.push_back(one.name + ' ' + std::string(series::name_of(one.metadata.kind)));
  EXPECT_EQ(names.front(), "job_seconds histogram");
  EXPECT_EQ(names[1], "jobs_done_total counter");
  EXPECT_EQ(names[2], "load gauge");
  EXPECT_EQ(source.of->metrics("lo", {}, 100, {})->size(), 1U);
  EXPECT_EQ(source.of->metrics({}, "job_seconds", 1, {})->front().name, "jobs_done_total");
  EXPECT_FALSE(*source.of->find("job_secon", {}));
  EXPECT_TRUE(*source.of->find("job_seconds_sum", {}));
}

TEST(metrics_embedded, lists_summaries_without_quantiles_by_their_series) {
  scraping::target target;
  target.job = "made";
  target.instance = "here";
  target.collect = [](series::instant now, samples::batch& into) -> result<void> {
    const auto put = [&](const std::string& name, std::vector<series::label> labels) {
      into.entries.push_back({{name, std::move(labels)}, {now, 1}});
    };
    into.families["disk_seconds"] = {series::kind::summary, "seconds", "Took."};
    put("disk_seconds", {{"quantile", "0.5"}});
    put("disk_seconds_count", {});
    put("disk_seconds_sum", {});
    into.families["rpc_seconds"] = {series::kind::summary, "seconds", "Took."};
    put("rpc_seconds_count", {});
    put("rpc_seconds_sum", {});
    return {};
  };
  embedded_options how;
  how.store.clock = [] { return noon; };
  how.now = [] { return noon; };
  how.targets = {target};
  how.is_manual = true;
  embedded_backend source(std::move(how));
  ASSERT_TRUE(source.scrape_once());
  const auto all = source.metrics({}, {}, 100, {});
  ASSERT_TRUE(all);
  ASSERT_GT(all->size(), 3U);
  EXPECT_EQ((*all)[0].name, "disk_seconds");
  EXPECT_EQ((*all)[1].name, "rpc_seconds_count");
  EXPECT_EQ((*all)[2].name, "rpc_seconds_sum");
  EXPECT_EQ(source.metrics("rpc_seconds_s", {}, 100, {})->size(), 1U);
  for (const auto& one : *all) EXPECT_TRUE(*source.find(one.name, {})) << one.name;
}

TEST(metrics_embedded, refuses_a_second_source_with_the_same_store_and_the_first_is_unaffected) {
  const store_folder folder;
  const auto path = folder.path() + "/m.db";
  const still_source first(path);
  ASSERT_TRUE(first.of->scrape_once());
  const still_source another(path);
  const auto refused = another.of->metrics({}, {}, 10, call_with_time());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::source_unavailable);
  EXPECT_EQ(refused.error().public_text.find(path), std::string::npos) << refused.error().public_text;
  EXPECT_FALSE(another.of->health().is_healthy);
  EXPECT_TRUE(first.of->metrics({}, {}, 10, {}));
}

TEST(metrics_embedded, is_back_when_the_store_can_be_had_again) {
  manual_clock clock;
  const store_folder folder;
  const auto path = folder.path() + "/m.db";
  auto first = std::make_unique<still_source>(path);
  ASSERT_TRUE(first->of->scrape_once());
  const still_source another(path);
  another.of->start();
  const auto is_well = [&] {
    clock.advance(std::chrono::seconds(3));
    return another.of->health().is_healthy;
  };
  EXPECT_TRUE(hondana_test::eventually([&] { return !is_well(); }));
  EXPECT_FALSE(another.of->metrics({}, {}, 10, {}));
  first.reset();
  EXPECT_TRUE(hondana_test::eventually(is_well));
  EXPECT_TRUE(another.of->metrics({}, {}, 10, {}));
  EXPECT_TRUE(another.of->health().is_healthy);
}

TEST(metrics_embedded, that_is_ended_says_so_and_can_begin_again) {
  const store_folder folder;
  const auto path = folder.path() + "/m.db";
  const still_source source(path);
  source.of->start();
  ASSERT_TRUE(source.of->metrics({}, {}, 10, {}));
  source.of->stop();
  const auto ended = source.of->metrics({}, {}, 10, {});
  EXPECT_EQ(ended ? "The source is shutting down." : ended.error().public_text, "The source is shutting down.");
  source.of->start();
  EXPECT_TRUE(source.of->metrics({}, {}, 10, call_with_time()));
}

TEST(metrics_embedded, tells_of_each_scrape_and_of_when_the_newest_was) {
  still_source source;
  int told = 0;
  source.of->set_listener([&] { ++told; });
  EXPECT_EQ(source.of->last_ingest_time(), std::nullopt);
  ASSERT_TRUE(source.of->scrape_once());
  EXPECT_EQ(told, 1);
  EXPECT_EQ(source.of->last_ingest_time(), noon);
  EXPECT_EQ(*source.of->newest_sample_time({"load", {}}, {}), noon);
  EXPECT_EQ(*source.of->newest_sample_time({"job_seconds", {}}, {}), noon) << "by its buckets";
  EXPECT_EQ(*source.of->newest_sample_time({"nothing", {}}, {}), std::nullopt);
  source.clock = noon + 15 * second;
  ASSERT_TRUE(source.of->scrape_once());
  EXPECT_EQ(told, 2);
  EXPECT_EQ(*source.of->newest_sample_time({"load", {}}, {}), noon + 15 * second);
  source.of->set_listener({});
  source.clock = noon + 30 * second;
  ASSERT_TRUE(source.of->scrape_once());
  EXPECT_EQ(told, 2);
}

TEST(metrics_embedded, has_targets_that_are_down_with_why_and_ends_their_series) {
  still_source source;
  ASSERT_TRUE(source.of->scrape_once());
  source.target.fails = true;
  source.clock = noon + 15 * second;
  ASSERT_TRUE(source.of->scrape_once());
  const auto all = source.of->targets({});
  ASSERT_TRUE(all);
  ASSERT_EQ(all->size(), 1U);
  EXPECT_FALSE(all->front().is_up);
  EXPECT_NE(all->front().last_error.find("the sensor is gone"), std::string::npos);
  EXPECT_FALSE(source.of->health().is_healthy) << "all of its targets are down";
  EXPECT_EQ(*source.of->newest_sample_time({"load", {}}, {}), std::nullopt) << "a stale marker is no sample";
  const auto up =
      source.of->range({.selector = {"up", {}}, .aggregation = {}, .range = {noon, noon + 15 * second, 15 * second}}, {});
  ASSERT_TRUE(up);
  ASSERT_EQ(up->series.size(), 1U);
  EXPECT_EQ(up->series[0].samples[0].value, 1);
  EXPECT_EQ(up->series[0].samples[1].value, 0);
}

TEST(metrics_embedded, has_no_alerts_rules_and_queries_which_are_a_matter_of_a_prometheus) {
  const still_source source;
  EXPECT_EQ(source.of->alerts({}).error().code, errc::unsupported);
  EXPECT_EQ(source.of->rules({}).error().code, errc::unsupported);
  EXPECT_EQ(source.of->query("up", {noon, noon, second}, 10, {}).error().code, errc::unsupported);
}

TEST(metrics_embedded, is_read_as_rates_and_quantiles_and_crossed_once) {
  still_source source;
  served_metrics app(source.of, [](provider_options& how) { how.has_query = how.has_alerts = false; });
  const auto heard = std::make_shared<recorded_changes>();
  const std::string uri = "metrics://app/load?above=5", last = "metrics://app/up";
  for (int i = 0; i < 20; ++i) {
    app.clock = source.clock = noon + i * 15 * second;
    ASSERT_TRUE(source.of->scrape_once());
  }
  const auto rate = app.json("metrics://app/jobs_done_total?start=now");
  EXPECT_NEAR(std::stod(rate.at("/series/0/points/0/1")->to_text()), 10.0 / 15, 1e-9);
  EXPECT_EQ(app.json("metrics://app/job_seconds?agg=p50&start=now").array_at("series")->size(), 1U);
  app.provider().watch(uri);
  app.provider().watch(last);
  // Told to it directly: `set_listener` would begin the schedule.
  app.provider().set_listener(heard);
  for (const double load : {1.0, 9.0, 9.0, 1.0}) {
    app.clock = source.clock = source.clock + 15 * second;
    source.target.load = load;
    const auto before = heard->times(last);
    ASSERT_TRUE(source.of->scrape_once());
    ASSERT_TRUE(heard->await(last, before + 1));
  }
  EXPECT_EQ(heard->times(uri), 2U);
  app.provider().set_listener(nullptr);
}

TEST(metrics_embedded, refuses_what_is_too_much_and_says_how_much_there_is) {
  still_source source;
  ASSERT_TRUE(source.of->scrape_once());
  range_request what{.selector = {"load", {}}, .aggregation = {}, .range = {noon, noon + 100 * second, second}};
  what.max_points = 50;
  const auto refused = source.of->range(what, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::response_too_large);
  EXPECT_EQ(refused.error().public_text, "1 series at 101 steps are 101 points, and at most 50 may be returned.");
}

}  // namespace hondana::metrics
