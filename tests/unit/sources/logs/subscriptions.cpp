/// Who is told what, and when.
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <future>
#include <string>

#include <gtest/gtest.h>

#include <hondana/clock.hpp>

#include "unit/sources/logs/made_source.hpp"

namespace hondana::logs {
namespace {

using std::chrono::milliseconds;

}  // namespace

TEST(log_subscriptions, a_change_of_the_log_is_told_while_somebody_listens) {
  const auto of = std::make_shared<kept_log>();
  const served_log app(of);
  const auto told = std::make_shared<recorded_changes>();
  app.provider().set_listener(told);
  EXPECT_FALSE(of->is_followed());
  app.provider().watch("log://app/");
  EXPECT_TRUE(of->is_followed());
  of->change();
  EXPECT_TRUE(told->await("log://app/"));
  app.provider().unwatch("log://app/");
  EXPECT_FALSE(of->is_followed());
  EXPECT_EQ(told->times("log://app/"), 1U);
}

TEST(log_subscriptions, many_changes_are_told_together_and_the_last_one_always) {
  manual_clock clock;
  const auto of = std::make_shared<kept_log>();
  const served_log app(of);
  const auto told = std::make_shared<recorded_changes>();
  app.provider().set_listener(told);
  app.provider().watch("log://app/");
  for (int i = 0; i < 10'000; ++i) of->change();
  EXPECT_EQ(told->times("log://app/"), 1U);
  clock.advance(milliseconds(20));
  EXPECT_TRUE(told->await("log://app/", 2));
  of->change();
  clock.advance(milliseconds(20));
  EXPECT_TRUE(told->await("log://app/", 3));
  EXPECT_EQ(told->times("log://app/"), 3U);
}

TEST(log_subscriptions, a_line_that_is_appended_to_a_file_is_told_and_can_be_read_then) {
  const made_folder folder;
  folder.append("app.log", "2026-01-31T08:00:00Z INFO one\n");
  const served_log app(folder.path("app.log"));
  const auto told = std::make_shared<recorded_changes>();
  app.provider().set_listener(told);
  app.provider().watch("log://app/");
  for (std::size_t i = 1; i <= 5; ++i) {
    const auto before = told->times("log://app/");
    folder.append("app.log", "2026-01-31T08:00:0" + std::to_string(i) + "Z INFO line " + std::to_string(i) + "\n");
    ASSERT_TRUE(told->await("log://app/", before + 1));
    EXPECT_NE(app.text("log://app/?lines=1").find("INFO line " + std::to_string(i) + "\n"), std::string::npos);
  }
}

TEST(log_subscriptions, rotation_by_logrotate_and_truncation_are_followed) {
  const made_folder folder;
  folder.append("app.log", "2026-01-31T08:00:00Z INFO one\n");
  folder.append("rotate.conf", folder.path("app.log") + " {\n  rotate 5\n  compress\n}\n");
  const served_log app(folder.path("app.log"));
  const auto told = std::make_shared<recorded_changes>();
  app.provider().set_listener(told);
  app.provider().watch("log://app/");
  const auto after = [&](const std::function<void()>& work) {
    const auto before = told->times("log://app/");
    work();
    EXPECT_TRUE(told->await("log://app/", before + 1));
  };
  after([&] {
    const auto command = "/usr/sbin/logrotate -f -s " + folder.path("state") + ' ' + folder.path("rotate.conf");
    ASSERT_EQ(std::system(command.c_str()), 0);
  });
  EXPECT_EQ(
      app.text("log://app/"),
      "2026-01-31T08:00:00Z INFO one\n-- remark: app.log does not exist (now). The records are those of its rotated files.\n");
  after([&] { folder.append("app.log", "2026-01-31T08:00:01Z INFO two\n"); });
  EXPECT_EQ(app.text("log://app/"), "2026-01-31T08:00:00Z INFO one\n2026-01-31T08:00:01Z INFO two\n");
  after([&] { std::filesystem::resize_file(folder.path("app.log"), 0); });
  EXPECT_EQ(app.text("log://app/"), "2026-01-31T08:00:00Z INFO one\n");
  after([&] { folder.append("app.log", "2026-01-31T08:00:02Z INFO three\n"); });
  EXPECT_EQ(app.text("log://app/"), "2026-01-31T08:00:00Z INFO one\n2026-01-31T08:00:02Z INFO three\n");
}

TEST(log_subscriptions, the_summary_is_made_anew_and_told_when_the_log_changes) {
  const auto of = std::make_shared<kept_log>();
  of->add(noon - minute, "one");
  const served_log app(of, [](provider_options& with) {
    with.summary_options.change_interval = milliseconds(1);
    with.summary_options.fresh_ttl = milliseconds(0);
  });
  const auto told = std::make_shared<recorded_changes>();
  app.provider().set_listener(told);
  app.provider().watch("log://app/summary");
  EXPECT_EQ(app.json("log://app/summary?format=json").integer_at("records").value(), 1);
  const auto before = told->times("log://app/summary");
  of->add(noon - second, "two");
  of->change();
  EXPECT_TRUE(told->await("log://app/summary", before + 1));
  EXPECT_EQ(app.json("log://app/summary?format=json").integer_at("records").value(), 2);
  EXPECT_EQ(told->times("log://app/"), 0U) << "nobody listens to the records";
}

TEST(log_subscriptions, the_list_is_told_of_when_what_is_unusual_changes_much) {
  const auto of = std::make_shared<kept_log>();
  for (int i = 1440; i-- > 0;) of->add(noon - second - i * minute, "request served");
  const served_log app(of, [](provider_options& with) {
    with.summary_options.list_interval = milliseconds(5);
    with.summary_options.fresh_ttl = milliseconds(0);
  });
  const auto told = std::make_shared<recorded_changes>();
  app.provider().set_listener(told);
  app.provider().watch_list();
  ASSERT_TRUE(told->await("list")) << "the first summary gives the entry a priority";
  EXPECT_EQ(app.provider().list({})->entries[1].annotations.priority, 0.3);
  of->add(noon - minute, "the sky is falling", records::severity::critical);
  ASSERT_TRUE(told->await("list", 2));
  EXPECT_EQ(app.provider().list({})->entries[1].annotations.priority, 0.9);
  app.provider().unwatch_list();
}

TEST(log_subscriptions, lists_never_wait_for_a_summary) {
  const auto of = std::make_shared<kept_log>();
  for (int i = 0; i < 1000; ++i) of->add(noon - second, "a");
  std::promise<void> listed;
  of->before_walk = [after = listed.get_future().share()] { (void)after.wait_for(hondana_test::event_deadline); };
  const served_log app(of);
  const auto first = app.provider().list({});
  listed.set_value();
  ASSERT_TRUE(first);
  EXPECT_FALSE(first->entries[1].annotations.priority) << "the summary is made after the first list";
  const auto has_priority = [&app] { return app.provider().list({})->entries[1].annotations.priority.has_value(); };
  EXPECT_TRUE(hondana_test::eventually(has_priority));
}

TEST(log_subscriptions, nothing_is_followed_when_it_is_not_to_be_watched) {
  const auto of = std::make_shared<kept_log>();
  const served_log app(of, [](provider_options& with) { with.watch = false; });
  app.provider().set_listener(std::make_shared<recorded_changes>());
  app.provider().watch("log://app/");
  EXPECT_FALSE(of->is_followed());
}

TEST(log_subscriptions, a_provider_that_goes_while_it_is_followed_ends_that) {
  const auto of = std::make_shared<kept_log>();
  {
    const served_log app(of);
    app.provider().watch("log://app/");
    EXPECT_TRUE(of->is_followed());
  }
  EXPECT_FALSE(of->is_followed());
}

}  // namespace hondana::logs
