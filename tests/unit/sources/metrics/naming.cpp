/// The names of metrics: kept for a while, near ones, and lists of very many.
#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sources/metrics/metric_names.hpp"
#include "unit/sources/metrics/made_backend.hpp"

namespace hondana::metrics {
namespace {

std::shared_ptr<made_backend> named(const std::vector<std::string>& all) {
  auto of = std::make_shared<made_backend>();
  for (const auto& one : all) of->add(one, {}, noon, 1);
  return of;
}

std::vector<std::string> listed_uris(metrics_provider& of, std::size_t limit) {
  std::vector<std::string> out;
  list_request request;
  request.limit = limit;
  for (;;) {
    const auto page = of.list(request);
    if (!page) {
      ADD_FAILURE() << page.error().public_text;
      return out;
    }
    EXPECT_LE(page->entries.size(), limit);
    for (const auto& one : page->entries) out.push_back(one.uri);
    if (!page->next_key) return out;
    request.after_key = *page->next_key;
  }
}

using near_names = std::vector<std::string>;

}  // namespace

TEST(metrics_names, that_are_near_are_found_with_the_nearest_first) {
  metric_name_cache all("app", named({"node_load1", "node_load5", "node_load15", "node_memory_MemFree_bytes", "up"}),
                        std::chrono::minutes(1), {});
  EXPECT_EQ(all.find_similar("node_laod1", {}), near_names{"node_load1"});
  EXPECT_EQ(all.find_similar("nod_load5", {}), (near_names{"node_load5", "node_load1", "node_load15"}));
  EXPECT_EQ(all.find_similar("MemFree", {}), near_names{"node_memory_MemFree_bytes"});
  EXPECT_EQ(all.find_similar("u", {}), near_names{"up"});
  EXPECT_EQ(all.find_similar("something_else_entirely", {}), near_names{});
}

TEST(metrics_names, that_are_near_are_five_at_most) {
  std::vector<std::string> many;
  for (int i = 10; i < 40; ++i) many.push_back("metric_" + std::to_string(i));
  metric_name_cache all("app", named(many), std::chrono::minutes(1), {});
  EXPECT_EQ(all.find_similar("metric_1", {}).size(), 5U);
}

TEST(metrics_names, differ_by_the_letters_that_must_be_changed) {
  EXPECT_EQ(edit_distance("", "", 2), 0U);
  EXPECT_EQ(edit_distance("abc", "abd", 2), 1U);
  EXPECT_EQ(edit_distance("abc", "bc", 2), 1U);
  EXPECT_EQ(edit_distance("kitten", "sitting", 3), 3U);
  EXPECT_GT(edit_distance("a", "abcdef", 2), 2U);
  EXPECT_EQ(edit_distance(std::string(100'000, 'a'), std::string(100'000, 'a') + "b", 2), 0U) << "beyond 128 letters";
}

TEST(metrics_names, are_asked_for_once_while_they_are_kept) {
  const auto of = named({"a"});
  int changed = 0;
  metric_name_cache all("app", of, std::chrono::hours(1), [&] { ++changed; });
  for (int i = 0; i < 5; ++i) EXPECT_EQ((*all.get({}))->entries.size(), 1U);
  EXPECT_EQ(of->asked_for_names, 1);
  EXPECT_EQ(changed, 0);
}

TEST(metrics_names, tell_that_some_have_come_or_changed_and_nothing_otherwise) {
  const auto of = named({"a"});
  int changed = 0;
  metric_name_cache all("app", of, std::chrono::milliseconds(0), [&] { ++changed; });
  EXPECT_TRUE(all.get({}));
  of->add("a", {{"new", "label"}}, noon + 15 * second, 1);
  EXPECT_TRUE(all.get({}));
  EXPECT_EQ(changed, 0) << "the first time, and another series of the same metric";
  of->add("b", {}, noon, 1);
  EXPECT_TRUE(all.get({}));
  EXPECT_EQ(changed, 1);
  of->describe("b", series::kind::gauge, "bytes");
  EXPECT_TRUE(all.get({}));
  EXPECT_EQ(changed, 2);
}

TEST(metrics_names, of_before_are_answered_while_the_source_does_not) {
  const auto of = named({"a"});
  metric_name_cache all("app", of, std::chrono::milliseconds(0), {});
  EXPECT_EQ((*all.get({}))->entries.size(), 1U);
  of->is_down = true;
  EXPECT_EQ((*all.get({}))->entries.size(), 1U);
  of->is_down = false;
  of->add("b", {}, noon, 1);
  EXPECT_EQ((*all.get({}))->entries.size(), 2U);
}

TEST(metrics_names, that_were_never_known_are_an_error_of_the_source) {
  const auto of = named({"a"});
  of->is_down = true;
  metric_name_cache all("app", of, std::chrono::hours(1), {});
  for (int i = 0; i < 2; ++i) EXPECT_EQ(all.get({}).error().code, errc::source_unavailable);
  of->is_down = false;
  EXPECT_TRUE(all.get({})) << "what failed is not kept";
  EXPECT_EQ(all.find_similar("b", {}), near_names{"a"});
}

TEST(metrics_names, of_a_metric_that_comes_change_the_list_of_who_listens) {
  const auto of = named({"a"});
  const served_metrics app(of, [](provider_options& how) { how.min_summary_interval = std::chrono::hours(1); });
  const auto heard = std::make_shared<recorded_changes>();
  app.provider().set_listener(heard);
  app.provider().watch_list();
  ASSERT_TRUE(heard->await("list", 1)) << "the first summary";
  of->add("b", {}, noon + 15 * second, 1);
  of->tell();
  ASSERT_TRUE(heard->await("list", 2));
  app.provider().unwatch_list();
  EXPECT_FALSE(of->is_followed());
  app.provider().set_listener(nullptr);
}

TEST(metrics_names, of_twenty_thousand_metrics_are_listed_page_by_page_and_each_once) {
  std::vector<std::string> many;
  for (int i = 0; i < 20'000; ++i) many.push_back("m" + std::to_string(i) + (i % 7 == 0 ? ":sum" : "_total"));
  const auto of = named(many);
  const served_metrics app(of, [](provider_options& how) {
    how.names_ttl = std::chrono::hours(1);
    how.has_alerts = how.watch = false;
  });
  const auto all = listed_uris(app.provider(), 500);
  EXPECT_EQ(all.size(), 20'003U) << "and the index, the summary and the targets";
  EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), all.size());
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end(),
                             [](const auto& a, const auto& b) { return std::is_lt(compare_by_segment(a, b)); }));
  EXPECT_EQ(of->asked_for_names, 5) << "four full pages and an empty one, for all pages of ours together";
  EXPECT_EQ(app.json("metrics://app/").array_at("metrics")->size(), 20'000U);
  EXPECT_EQ(app.completed("name", "m19999").front(), "m19999:sum");
}

TEST(metrics_names, beyond_what_is_listed_can_be_read_and_the_index_says_that_there_are_more) {
  std::vector<std::string> many;
  for (int i = 0; i < 20'010; ++i) many.push_back("m" + std::to_string(100'000 + i));
  const served_metrics app(named(many), [](provider_options& how) { how.names_ttl = std::chrono::hours(1); });
  const auto index = app.json("metrics://app/");
  EXPECT_EQ(index.array_at("metrics")->size(), 20'000U);
  EXPECT_EQ(index.at("/more")->to_text(), "true");
  EXPECT_EQ(app.json("metrics://app/m120009?start=now").array_at("series")->size(), 1U);
}

}  // namespace hondana::metrics
