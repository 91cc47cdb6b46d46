/// Summaries in the list: what they are worth, and who is told.
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <hondana/clock.hpp>

#include "sources/metrics/summary.hpp"
#include "unit/sources/metrics/made_backend.hpp"

namespace hondana::metrics {
namespace {

constexpr const char* summary_of_app = "metrics://app/summary";

std::shared_ptr<made_backend> calm_source() {
  auto of = std::make_shared<made_backend>();
  of->add_line("calm", {}, noon, 400, [](std::size_t) { return 5.0; });
  of->add_line("other", {}, noon, 400, [](std::size_t) { return 5.0; });
  return of;
}

scraping::target_state web(bool is_up) {
  scraping::target_state out;
  out.job = "web";
  out.instance = "a:80";
  out.is_up = is_up;
  out.last_scrape = noon;
  return out;
}

double priority_of(metrics_provider& of, const std::string& uri) {
  const auto page = of.list({});
  if (!page) return -1;
  for (const auto& one : page->entries)
    if (one.uri == uri) return one.annotations.priority.value_or(-2);
  return -3;
}

class sees_no_calm final : public access_filter {
 public:
  [[nodiscard]] std::uint64_t id() const noexcept override { return 8; }
  [[nodiscard]] bool may_see(std::string_view uri) const override { return !uri.ends_with("/calm"); }
};

}  // namespace

TEST(metrics_summaries, are_worth_what_is_unusual) {
  const manual_clock clock;  // a round may take 3 s
  const auto of = calm_source();
  const served_metrics app(of);
  EXPECT_EQ(priority_of(app.provider(), summary_of_app), 0);
  EXPECT_EQ(app.json(summary_of_app).at("/score")->to_text(), "0");
  EXPECT_EQ(priority_of(app.provider(), summary_of_app), 0);
  EXPECT_EQ(priority_of(app.provider(), "metrics://app/calm"), 0.3);
}

TEST(metrics_summaries, lift_themselves_and_the_metric_that_is_unusual) {
  const manual_clock clock;  // a round may take 3 s
  const auto of = calm_source();
  for (int i = 1; i <= 60; ++i) of->add("calm", {}, noon + i * 15 * second, 500);
  served_metrics app(of);
  app.clock = noon + 60 * 15 * second;
  const auto got = app.json(summary_of_app);
  const auto weight = std::stod(got.at("/score")->to_text());
  EXPECT_GT(weight, 0.3);
  EXPECT_EQ(got.at("/unusual/0/kind")->to_text(), "\"high\"");
  EXPECT_EQ(got.at("/unusual/0/uri")->to_text(), "\"metrics://app/calm\"");
  EXPECT_EQ(priority_of(app.provider(), summary_of_app), weight);
  EXPECT_EQ(priority_of(app.provider(), "metrics://app/calm"), weight);
  EXPECT_EQ(priority_of(app.provider(), "metrics://app/other"), 0.3);
  EXPECT_TRUE(app.text("metrics://app/summary?format=text").starts_with("1 finding in app at 2026-01-31T12:15:00Z (score "));
}

TEST(metrics_summaries, tell_who_listens_to_the_list_when_their_priority_moves) {
  const manual_clock clock;  // a round may take 3 s
  const auto of = calm_source();
  of->change([&] { of->target_states = {web(true)}; });
  const auto heard = std::make_shared<recorded_changes>();
  summary_cache all({.source = "app"}, of, std::chrono::milliseconds(0), [] { return noon; },
                    {{}, [&] { heard->list_changed(); }});
  EXPECT_EQ((*all.get({}))->score, 0);
  ASSERT_TRUE(heard->await("list", 1)) << "the first one";
  EXPECT_EQ((*all.get({}))->score, 0);
  of->change([&] { of->target_states = {web(false)}; });
  EXPECT_EQ((*all.get({}))->score, 0.9);
  ASSERT_TRUE(heard->await("list", 2));
  EXPECT_EQ((*all.get({}))->score, 0.9);
  of->change([&] { of->target_states = {web(true)}; });
  EXPECT_EQ((*all.get({}))->score, 0);
  ASSERT_TRUE(heard->await("list", 3));
  EXPECT_EQ(heard->times("list"), 3U);
}

TEST(metrics_summaries, of_a_provider_change_its_list_and_are_told_to_who_watches_them) {
  const auto of = calm_source();
  of->every = 100;
  served_metrics app(of, [](provider_options& how) { how.min_summary_interval = std::chrono::milliseconds(0); });
  const auto heard = std::make_shared<recorded_changes>();
  app.provider().set_listener(heard);
  app.provider().watch_list();
  app.provider().watch(summary_of_app);
  ASSERT_TRUE(heard->await("list", 1));
  const auto scrape = [&](series::instant now) {
    app.clock = now;
    of->add("calm", {}, now, 5);
    of->add("zz_last", {}, now, 0);
    of->tell();
  };
  // It is looked at behind the summary, which has been seen as it was then.
  app.provider().watch("metrics://app/zz_last");
  scrape(noon + 15 * second);
  ASSERT_TRUE(heard->await("metrics://app/zz_last", 1));
  of->change([&] { of->target_states = {web(false)}; });
  scrape(noon + 30 * second);
  ASSERT_TRUE(heard->await(summary_of_app, 1));
  ASSERT_TRUE(heard->await("list", 2));
  EXPECT_EQ(priority_of(app.provider(), summary_of_app), 0.9);
  app.provider().set_listener(nullptr);
}

TEST(metrics_summaries, of_a_source_that_does_not_answer_are_refused_at_once_and_are_back_with_it) {
  const manual_clock clock;  // waiting for the next round would never end
  const auto of = calm_source();
  of->is_down = true;
  const served_metrics app(of);
  for (int i = 0; i < 3; ++i) {
    const auto error = app.error(summary_of_app);
    EXPECT_EQ(error.code, errc::source_unavailable) << error.public_text;
  }
  summary_cache all({.source = "app"}, of, std::chrono::milliseconds(0), [] { return noon; }, {});
  EXPECT_EQ(all.get({}).error().code, errc::source_unavailable);
  of->is_down = false;
  EXPECT_TRUE(all.get({}));
}

TEST(metrics_summaries, are_made_once_for_all_who_want_one_and_kept_for_a_while) {
  manual_clock clock;
  const auto of = calm_source();
  const served_metrics app(of);
  EXPECT_EQ(app.json(summary_of_app).at("/at")->to_text(), "\"2026-01-31T12:00:00Z\"");
  const int asked = of->asked;
  for (int i = 0; i < 10; ++i) static_cast<void>(app.text(summary_of_app));
  EXPECT_EQ(of->asked, asked);
  clock.advance(std::chrono::seconds(30));
  static_cast<void>(app.text(summary_of_app));
  EXPECT_GT(of->asked, asked);
  EXPECT_EQ(app.read(summary_of_app).ttl.count(), 15'000);
}

TEST(metrics_summaries, say_nothing_of_metrics_that_the_caller_may_not_read) {
  const manual_clock clock;  // a round may take 3 s
  const auto of = calm_source();
  for (int i = 1; i <= 60; ++i)
    for (const auto* const name : {"calm", "other"}) of->add(name, {}, noon + i * 15 * second, 500);
  served_metrics app(of);
  app.clock = noon + 60 * 15 * second;
  EXPECT_EQ(app.json(summary_of_app).array_at("unusual")->size(), 2U);
  read_request request;
  request.uri = request.requested_uri = summary_of_app;
  request.caller.access_filter = std::make_shared<sees_no_calm>();
  const auto got = app.provider().read(request);
  ASSERT_TRUE(got);
  const auto& text = *std::get<shared_bytes>(got->contents.front().data);
  EXPECT_EQ(text.find("calm"), std::string::npos) << text;
  EXPECT_NE(text.find("metrics://app/other"), std::string::npos) << text;
}

TEST(metrics_summaries, are_given_up_when_the_caller_leaves) {
  const auto of = calm_source();
  summary_cache all({.source = "app"}, of, std::chrono::hours(1), [] { return noon; }, {});
  std::stop_source stop;
  stop.request_stop();
  request_context by;
  by.stop = stop.get_token();
  const auto got = all.get(by);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, errc::cancelled);
}

}  // namespace hondana::metrics
