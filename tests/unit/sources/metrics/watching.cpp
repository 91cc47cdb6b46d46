/// Who is told of what, when a source has been scraped.
#include <cmath>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sources/metrics/watcher.hpp"
#include "unit/sources/metrics/made_backend.hpp"

namespace hondana::metrics {
namespace {

/// Looked at before all others: when it is looked at again, they have been looked at.
constexpr const char* first_looked_at = "metrics://app/alerts";

/// A source, its provider and who listens to it.
class scraped_scene {
 public:
  explicit scraped_scene(const std::function<void(provider_options&)>& change = {}) : app_(of, change) {
    of->add("load", {}, noon, 0);
    of->add("up", {{"job", "a"}}, noon, 1);
    app_.provider().set_listener(heard);
    app_.provider().watch(first_looked_at);
  }
  ~scraped_scene() { app_.provider().set_listener(nullptr); }
  scraped_scene(const scraped_scene&) = delete;
  scraped_scene& operator=(const scraped_scene&) = delete;

  /// Fifteen seconds later; `add` puts what was scraped besides `up`. Waits until everything has been looked at.
  void scrape(const std::function<void(series::instant)>& add) {
    at += 15 * second;
    app_.clock = at;
    add(at);
    of->add("up", {{"job", "a"}}, at, 1);
    look_at_all();
  }
  /// As after a scrape, whether there is something new or not. Waits until everything has been looked at.
  void look_at_all() const {
    const int before = of->asked_for_alerts;
    for (int looks = 1; looks <= 2; ++looks) {
      of->tell();
      EXPECT_TRUE(of->await_alerts(before + looks));
    }
  }
  void scrape_load(double value) {
    scrape([&](series::instant now) { of->add("load", {}, now, value); });
  }
  /// After each of these loads: how often `uri` has been told of.
  [[nodiscard]] std::vector<std::size_t> told_after(const std::string& uri, const std::vector<double>& loads) {
    std::vector<std::size_t> out;
    for (const double one : loads) {
      scrape_load(one);
      out.push_back(heard->times(uri));
    }
    return out;
  }
  [[nodiscard]] metrics_provider& provider() const { return app_.provider(); }

  const std::shared_ptr<made_backend> of = std::make_shared<made_backend>();
  const std::shared_ptr<recorded_changes> heard = std::make_shared<recorded_changes>();
  series::instant at = noon;

 private:
  served_metrics app_;
};

using told_counts = std::vector<std::size_t>;

}  // namespace

TEST(metrics_watching, tells_a_condition_once_for_each_time_it_begins_and_ceases_to_hold) {
  scraped_scene scene;
  const std::string uri = "metrics://app/load?above=1";
  scene.provider().watch(uri);
  EXPECT_EQ(scene.told_after(uri, {0, 2, 3, 2, 0, 1, 0.5, 9, 9}), (told_counts{0, 1, 1, 1, 2, 2, 2, 3, 3}));
}

TEST(metrics_watching, tells_each_of_several_conditions_by_itself) {
  scraped_scene scene;
  const std::string high = "metrics://app/load?above=5", low = "metrics://app/load?below=-5",
                    outside = "metrics://app/load?above=5&below=-5";
  for (const auto& one : {high, low, outside}) scene.provider().watch(one);
  for (const double one : {0.0, 6.0, -6.0, 0.0}) scene.scrape_load(one);
  EXPECT_EQ(scene.heard->times(high), 2U);
  EXPECT_EQ(scene.heard->times(low), 2U);
  EXPECT_EQ(scene.heard->times(outside), 2U) << "from above the band to below it is no crossing of it";
}

TEST(metrics_watching, waits_as_long_as_a_condition_says) {
  scraped_scene scene;
  const std::string uri = "metrics://app/load?above=1&for=1m";
  scene.provider().watch(uri);
  EXPECT_EQ(scene.told_after(uri, {2, 2, 0, 2, 2, 2, 2, 2, 2, 0}), (told_counts{0, 0, 0, 0, 0, 0, 0, 1, 1, 2}));
}

TEST(metrics_watching, tells_a_dip_once_though_every_other_look_has_no_step_in_it) {
  scraped_scene scene;
  const std::string uri = "metrics://app/load?above=1&for=1h";
  for (int i = 1; i <= 600; ++i) scene.of->add("load", {}, noon + i * 15 * second, 2);
  scene.at = noon + 600 * 15 * second;
  scene.scrape_load(2);
  scene.provider().watch(uri);
  scene.scrape_load(2);
  EXPECT_EQ(scene.heard->times(uri), 0U) << "it holds since before";
  scene.scrape_load(0);
  EXPECT_EQ(scene.heard->times(uri), 1U);
  for (int i = 0; i < 239; ++i) scene.scrape_load(2);
  EXPECT_EQ(scene.heard->times(uri), 1U) << "an hour is not over yet";
  for (int i = 0; i < 20; ++i) scene.scrape_load(2);
  EXPECT_EQ(scene.heard->times(uri), 2U);
}

TEST(metrics_watching, tells_nothing_for_values_that_are_none) {
  scraped_scene scene;
  const std::string uri = "metrics://app/load?above=1";
  scene.provider().watch(uri);
  const auto stale = series::stale_marker();
  EXPECT_EQ(scene.told_after(uri, {2, std::nan(""), stale, 2, stale, 2, std::nan(""), 0}),
            (told_counts{1, 1, 1, 1, 1, 1, 1, 2}));
}

TEST(metrics_watching, tells_of_infinities_as_of_other_values) {
  scraped_scene scene;
  const std::string uri = "metrics://app/load?above=1";
  scene.provider().watch(uri);
  EXPECT_EQ(scene.told_after(uri, {INFINITY, INFINITY, -INFINITY, INFINITY}), (told_counts{1, 1, 2, 3}));
}

TEST(metrics_watching, tells_that_something_is_absent_and_that_it_is_back) {
  scraped_scene scene;
  const std::string uri = "metrics://app/job_done?absent=true&for=30s";
  const auto without = [](series::instant) {};
  const auto with = [&](series::instant now) { scene.of->add("job_done", {}, now, 1); };
  scene.scrape(with);
  scene.provider().watch(uri);
  scene.scrape([&](series::instant now) { scene.of->add("job_done", {}, now, series::stale_marker()); });
  EXPECT_EQ(scene.heard->times(uri), 0U);
  scene.scrape(without);
  EXPECT_EQ(scene.heard->times(uri), 0U) << "half of the time that it waits";
  scene.scrape(without);
  EXPECT_EQ(scene.heard->times(uri), 1U);
  scene.scrape(without);
  scene.scrape(with);
  EXPECT_EQ(scene.heard->times(uri), 2U);
}

TEST(metrics_watching, tells_afterwards_and_once_what_was_crossed_while_the_source_did_not_answer) {
  scraped_scene scene;
  const std::string uri = "metrics://app/load?above=1";
  scene.provider().watch(uri);
  scene.scrape_load(0);
  scene.of->is_down = true;
  scene.scrape_load(2);
  EXPECT_EQ(scene.heard->times(uri), 0U);
  scene.of->is_down = false;
  EXPECT_EQ(scene.told_after(uri, {2, 2}), (told_counts{1, 1}));
}

TEST(metrics_watching, begins_with_how_it_was_when_it_was_wanted_though_the_source_answers_later) {
  scraped_scene scene;
  const std::string uri = "metrics://app/load?above=1";
  scene.of->is_down = true;
  scene.provider().watch(uri);
  scene.look_at_all();
  scene.of->is_down = false;
  EXPECT_EQ(scene.told_after(uri, {2, 2}), (told_counts{1, 1}));
}

TEST(metrics_watching, does_not_tell_what_holds_already) {
  scraped_scene scene;
  scene.scrape_load(5);
  const std::string uri = "metrics://app/load?above=1";
  scene.provider().watch(uri);
  EXPECT_EQ(scene.told_after(uri, {5, 5, 0}), (told_counts{0, 0, 1}));
}

TEST(metrics_watching, tells_values_at_most_once_a_scrape_and_only_with_a_new_sample) {
  scraped_scene scene;
  const std::string uri = "metrics://app/load";
  scene.provider().watch(uri);
  EXPECT_EQ(scene.told_after(uri, {0, 0, 1}), (told_counts{1, 2, 3}));
  scene.look_at_all();
  scene.scrape([](series::instant) {});
  EXPECT_EQ(scene.heard->times(uri), 3U) << "of others only";
  scene.scrape_load(1);
  EXPECT_EQ(scene.heard->times(uri), 4U);
}

TEST(metrics_watching, tells_a_query_while_it_gives_something) {
  scraped_scene scene;
  const std::string some = "metrics://app/query?promql=load", none = "metrics://app/query?promql=nothing";
  scene.provider().watch(some);
  scene.provider().watch(none);
  scene.scrape_load(1);
  scene.scrape_load(1);
  EXPECT_EQ(scene.heard->times(some), 2U);
  EXPECT_EQ(scene.heard->times(none), 0U);
}

TEST(metrics_watching, leaves_out_what_lies_between_moments_that_stand_still) {
  scraped_scene scene;
  const std::string uri = "metrics://app/load?start=2026-01-31T11:00:00Z&end=2026-01-31T13:00:00Z";
  scene.provider().watch(uri);
  EXPECT_EQ(scene.told_after(uri, {1, 2}), (told_counts{0, 0}));
}

TEST(metrics_watching, tells_nothing_of_what_nobody_watches_any_more) {
  scraped_scene scene;
  const std::string uri = "metrics://app/load?above=1";
  scene.provider().watch(uri);
  scene.scrape_load(2);
  EXPECT_EQ(scene.heard->times(uri), 1U);
  scene.provider().unwatch(uri);
  scene.scrape_load(0);
  EXPECT_EQ(scene.heard->times(uri), 1U);
  EXPECT_TRUE(scene.of->is_followed());
  scene.provider().unwatch(first_looked_at);
  EXPECT_FALSE(scene.of->is_followed()) << "a source that nobody watches is left alone";
}

TEST(metrics_watching, tells_targets_and_alerts_when_their_states_change) {
  scraped_scene scene;
  const std::string targets = "metrics://app/targets", alerts = "metrics://app/alerts";
  const auto put = [&](bool is_up, const char* state, double took) {
    scene.of->change([&] {
      scraping::target_state one;
      one.job = "a";
      one.is_up = is_up;
      one.last_scrape = scene.at;
      one.duration = std::chrono::microseconds(static_cast<int>(took));
      scene.of->target_states = {one};
      scene.of->alert_states = {{.name = "Full", .state = state}};
    });
  };
  put(true, "pending", 10);
  scene.provider().watch(targets);
  scene.provider().watch(alerts);
  scene.scrape_load(0);
  put(true, "pending", 20);
  scene.scrape_load(0);
  EXPECT_EQ(scene.heard->times(targets), 0U) << "how long a scrape takes is nothing to be told of";
  EXPECT_EQ(scene.heard->times(alerts), 0U);
  put(false, "firing", 20);
  scene.scrape_load(0);
  scene.scrape_load(0);
  EXPECT_EQ(scene.heard->times(targets), 1U);
  EXPECT_EQ(scene.heard->times(alerts), 1U);
}

TEST(metrics_watching, tells_nothing_that_would_let_secrets_be_guessed) {
  scraped_scene scene;
  const auto put = [&](series::instant now) { scene.of->add("login", {{"db_password", "correcthorse77"}}, now, 1); };
  scene.scrape(put);
  const std::string right = "metrics://app/login?match=db_password%3D~%22c.*%22",
                    query = "metrics://app/query?promql=login%7Bdb_password%3D~%22c.*%22%7D", plain = "metrics://app/login";
  for (const auto& one : {right, query, plain}) scene.provider().watch(one);
  scene.scrape(put);
  EXPECT_EQ(scene.heard->times(right), 0U);
  EXPECT_EQ(scene.heard->times(query), 0U);
  EXPECT_EQ(scene.heard->times(plain), 1U);
}

TEST(metrics_watching, says_once_what_it_cannot_look_at) {
  std::mutex mutex;
  std::vector<std::string> said;
  scraped_scene scene([&](provider_options& how) {
    how.limits.max_series = 3;
    how.log = [&](std::string_view line) {
      const std::lock_guard lock(mutex);
      said.emplace_back(line);
    };
  });
  const auto put = [&](series::instant now) {
    for (const auto* const i : {"1", "2", "3", "4"}) scene.of->add("many", {{"i", i}}, now, 1);
  };
  scene.scrape(put);
  scene.provider().watch("metrics://app/many?above=0");
  scene.scrape(put);
  scene.scrape(put);
  const std::lock_guard lock(mutex);
  EXPECT_EQ(said, (std::vector<std::string>{"metrics://app/many?above=0 is watched, but cannot be evaluated: The result has 4 "
                                            "series, and at most 3 may be returned."}));
}

TEST(metrics_watching, can_be_switched_off) {
  const auto of = std::make_shared<made_backend>();
  of->add("load", {}, noon, 0);
  const served_metrics app(of, [](provider_options& how) { how.watch = false; });
  const auto heard = std::make_shared<recorded_changes>();
  app.provider().set_listener(heard);
  EXPECT_TRUE(of->is_started) << "what is scraped is kept all the same";
  app.provider().watch("metrics://app/load");
  app.provider().watch_list();
  EXPECT_FALSE(of->is_followed());
  app.provider().set_listener(nullptr);
  EXPECT_FALSE(of->is_started);
  EXPECT_TRUE(heard->all().empty());
}

TEST(metrics_watching, says_once_that_its_table_is_full_and_has_room_again_when_something_goes) {
  const auto of = std::make_shared<made_backend>();
  for (const auto* const name : {"a", "b", "c", "d"}) of->add(name, {}, noon, 1);
  std::mutex mutex;
  std::vector<std::string> said;
  const auto heard = std::make_shared<recorded_changes>();
  series::instant clock = noon;
  watcher watched({.metrics_backend = of,
                   .now = [&clock] { return clock; },
                   .log =
                       [&](std::string_view line) {
                         const std::lock_guard lock(mutex);
                         said.emplace_back(line);
                       },
                   .max_watched = 2});
  watched.set_listener(heard);
  const auto attach = [&](const std::string& uri) { watched.watch(uri, *parse_address(uri, noon)); };
  for (const auto* const uri : {"metrics://app/a", "metrics://app/b", "metrics://app/c", "metrics://app/d"}) attach(uri);
  EXPECT_EQ(said,
            (std::vector<std::string>{"more than 2 URIs are watched: clients are not notified of changes to further ones"}));
  watched.unwatch("metrics://app/a");
  attach("metrics://app/d");
  for (const auto* const name : {"a", "b", "c", "d"}) of->add(name, {}, noon + 15 * second, 1);
  watched.schedule_check();
  ASSERT_TRUE(heard->await("metrics://app/d"));
  EXPECT_EQ(heard->all(), (std::vector<std::string>{"metrics://app/b", "metrics://app/d"}));
  EXPECT_EQ(said.size(), 1U);
  watched.stop();
}

}  // namespace hondana::metrics
