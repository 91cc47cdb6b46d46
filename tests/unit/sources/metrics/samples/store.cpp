/// What goes into a store comes out of it.
#include "sources/metrics/samples/store.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
#include <limits>

#include "unit/sources/metrics/samples/kept.hpp"

namespace hondana::samples {
namespace {

using sample_store = kept;
using series::sample;

std::vector<sample> rising(std::size_t count, series::duration step = 15'000, series::instant from = some_day) {
  std::vector<sample> out;
  for (std::size_t i = 0; i < count; ++i)
    out.push_back({from + static_cast<series::instant>(i) * step, static_cast<double>(i) * 7});
  return out;
}

TEST_F(sample_store, gives_back_what_was_appended_before_and_after_settling_and_when_opened_again) {
  open();
  const auto samples = rising(1000);
  EXPECT_EQ(put(named("up", {{"job", "a"}}), samples).stored, 1000u);
  for (int i = 0; i < 2; ++i) {
    const auto all = read({"up", {}});
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all[0].id, named("up", {{"job", "a"}}));
    EXPECT_TRUE(are_alike(all[0].samples, samples));
    const auto part = read({"up", {}}, samples[100].time, samples[500].time);
    ASSERT_EQ(part.size(), 1u);
    EXPECT_TRUE(are_alike(part[0].samples, {samples.begin() + 100, samples.begin() + 501}));
    open();
    EXPECT_TRUE(are_alike(read_one("up"), samples));
    EXPECT_EQ(store_->statistics().samples, 1000u);
    settle(clock_);
    EXPECT_EQ(store_->statistics().memory_bytes, 0u);
  }
  EXPECT_EQ(store_->statistics().series, 1u);
  EXPECT_EQ(store_->statistics().oldest, samples.front().time);
  EXPECT_EQ(store_->statistics().newest, samples.back().time);
}

TEST_F(sample_store, works_the_same_in_memory) {
  options_.path.clear();
  open();
  const auto samples = rising(1000);
  put(named("up"), samples);
  EXPECT_TRUE(are_alike(read_one("up"), samples));
  settle(clock_);
  EXPECT_TRUE(are_alike(read_one("up"), samples));
  EXPECT_EQ(store_->statistics().memory_bytes, 0u);
}

TEST_F(sample_store, is_its_owners_alone) {
  open();
  put(named("up"), rising(10));
  for (const auto* ending : {"", "-wal", "-shm", ".turns"}) {
    struct stat facts{};
    ASSERT_EQ(::stat((options_.path + ending).c_str(), &facts), 0) << ending;
    EXPECT_EQ(facts.st_mode & 0777, 0600u) << ending;
  }
  struct stat facts{};
  ASSERT_EQ(::stat((folder_ + "/below").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0700u);
}

TEST_F(sample_store, leaves_out_what_is_not_younger_than_the_last_and_what_is_far_ahead) {
  open();
  const auto said = put(named("x"), {{some_day, 1}, {some_day, 2}, {some_day - 1, 3}, {some_day + 1, 4}});
  EXPECT_EQ(said.stored, 2u);
  EXPECT_EQ(said.out_of_order, 2u);
  EXPECT_TRUE(are_alike(read_one("x"), {{some_day, 1}, {some_day + 1, 4}}));
  EXPECT_EQ(put(named("x"), {{some_day, 9}}).out_of_order, 1u);
  settle(clock_);
  open();
  EXPECT_EQ(put(named("x"), {{some_day + 1, 9}}).out_of_order, 1u);
  EXPECT_EQ(put(named("x"), {{clock_ + 600'001, 9}, {std::numeric_limits<series::instant>::max(), 9}}).too_far_ahead, 2u);
  EXPECT_EQ(put(named("x"), {{std::numeric_limits<series::instant>::min(), 9}}).stored, 0u);
  EXPECT_EQ(put(named("x"), {{clock_ + 600'000, 9}}).stored, 1u);
}

TEST_F(sample_store, keeps_every_bit_of_values_that_are_no_numbers) {
  open();
  const double inf = std::numeric_limits<double>::infinity();
  const std::vector<sample> odd{{some_day, inf},
                                {some_day + 1, -inf},
                                {some_day + 2, series::stale_marker()},
                                {some_day + 3, std::bit_cast<double>(0x7ff8000000000bedu)},
                                {some_day + 4, -0.0},
                                {some_day + 5, std::numeric_limits<double>::denorm_min()}};
  put(named("x"), odd);
  EXPECT_TRUE(are_alike(read_one("x"), odd));
  open();
  EXPECT_TRUE(are_alike(read_one("x"), odd));
  settle(clock_);
  EXPECT_TRUE(are_alike(read_one("x"), odd));
}

TEST_F(sample_store, takes_samples_again_when_the_clock_was_ahead_and_forgets_nothing_for_it) {
  open();
  put(named("x"), {{some_day, 1}});
  const auto right = clock_.load();
  clock_ = right + 50'000 * one_day;
  put(named("x"), {{clock_, 2}});
  clock_ = right;
  EXPECT_EQ(put(named("x"), {{right, 3}, {right + 1, 4}}).stored, 2u);
  const auto all = [&] {
    const auto got = read({"x", {}}, some_day, right + 60'000 * one_day);
    return got.empty() ? std::vector<sample>{} : got.front().samples;
  };
  const std::vector<sample> expected{{some_day, 1}, {right, 3}, {right + 1, 4}, {right + 50'000 * one_day, 2}};
  EXPECT_TRUE(are_alike(all(), expected));
  open();
  EXPECT_TRUE(are_alike(all(), expected));
  settle(right);
  EXPECT_TRUE(are_alike(all(), expected));
  open();
  EXPECT_TRUE(are_alike(all(), expected));
  EXPECT_EQ(put(named("x"), {{right + 1, 5}}).out_of_order, 1u);
  EXPECT_EQ(put(named("x"), {{right + 2, 5}}).stored, 1u);
  const auto last = store_->last({"x", {}}, some_day, {});
  ASSERT_TRUE(last);
  ASSERT_EQ(last->size(), 1u);
  EXPECT_EQ(last->front().samples.front().time, right + 2);
}

TEST_F(sample_store, selects_by_name_and_labels_and_answers_in_order) {
  open();
  batch all;
  for (const auto* job : {"b", "a", "c"})
    for (const auto* mode : {"user", "idle"})
      all.entries.push_back({named("cpu", {{"job", job}, {"mode", mode}}), {some_day, 1}});
  all.entries.push_back({named("cpu"), {some_day, 1}});
  all.entries.push_back({named("memory", {{"job", "a"}}), {some_day, 1}});
  EXPECT_EQ(put(all).stored, 8u);
  const auto count = [&](const std::string& name, const std::string& body) { return read(selecting(name, body)).size(); };
  EXPECT_EQ(count("cpu", ""), 7u);
  EXPECT_EQ(count("cpu", R"(job="a")"), 2u);
  EXPECT_EQ(count("cpu", R"(job="a",mode="idle")"), 1u);
  EXPECT_EQ(count("cpu", R"(job!="a")"), 5u);
  EXPECT_EQ(count("cpu", R"(job="")"), 1u);
  EXPECT_EQ(count("cpu", R"(job=~"a|b")"), 4u);
  EXPECT_EQ(count("cpu", R"(job!~"a|b")"), 3u);
  EXPECT_EQ(count("cpu", R"(other=~".*")"), 7u);
  EXPECT_EQ(count("cpu", R"(other="x")"), 0u);
  EXPECT_EQ(count("", R"(job="a")"), 3u);
  EXPECT_EQ(count("disk", ""), 0u);
  const auto got = read({"cpu", {}});
  EXPECT_TRUE(std::is_sorted(got.begin(), got.end(), [](const auto& a, const auto& b) { return a.id < b.id; }));
}

TEST_F(sample_store, knows_names_and_labels_by_their_beginnings) {
  open();
  batch all;
  for (const auto* name : {"node_b", "node_a", "go_x"})
    for (int i = 0; i < 12; ++i) all.entries.push_back({named(name, {{"device", "sd" + std::to_string(i)}}), {some_day, 1}});
  all.entries.push_back({named("late", {{"mode", "x"}}), {some_day + one_day, 1}});
  put(all);
  using texts = std::vector<std::string>;
  EXPECT_EQ(store_->metric_names("", 0, 100), (texts{"go_x", "late", "node_a", "node_b"}));
  EXPECT_EQ(store_->metric_names("node", 0, 100), (texts{"node_a", "node_b"}));
  EXPECT_EQ(store_->metric_names("", 0, 2), (texts{"go_x", "late"}));
  EXPECT_EQ(store_->metric_names("", some_day + 1, 100), (texts{"late"}));
  EXPECT_EQ(store_->label_names({}, 100), (texts{"device", "mode"}));
  EXPECT_EQ(store_->label_names({"late", {}}, 100), (texts{"mode"}));
  EXPECT_EQ(store_->label_values({"node_a", {}}, "device", "sd1", 100), (texts{"sd1", "sd10", "sd11"}));
  EXPECT_EQ(store_->label_values({"node_a", {}}, "device", "", 2), (texts{"sd0", "sd1"}));
  EXPECT_EQ(store_->label_values({}, "__name__", "n", 100), (texts{"node_a", "node_b"}));
  EXPECT_TRUE(store_->label_values({}, "nothing", "", 100).empty());
}

TEST_F(sample_store, remembers_what_is_said_of_families) {
  open();
  batch all;
  all.families["seconds"] = {series::kind::histogram, "seconds", "How long."};
  all.families["long"] = {series::kind::gauge, "", std::string(999, 'x') + "\u00e9\u00e9"};
  put(all);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(store_->find_metadata("seconds_bucket"), (series::metadata{series::kind::histogram, "seconds", "How long."}));
    EXPECT_EQ(store_->find_metadata("seconds"), (series::metadata{series::kind::histogram, "seconds", "How long."}));
    EXPECT_EQ(store_->find_metadata("long")->help, std::string(999, 'x'));
    EXPECT_EQ(store_->find_metadata("other"), std::nullopt);
    open();
  }
}

TEST_F(sample_store, finds_the_last_sample_wherever_it_is) {
  open();
  put(named("a"), rising(500));
  put(named("b"), {{some_day, 5}, {some_day + 1, series::stale_marker()}});
  for (int i = 0; i < 3; ++i) {
    const auto got = store_->last({}, some_day, {});
    ASSERT_TRUE(got);
    ASSERT_EQ(got->size(), 2u);
    EXPECT_TRUE(are_alike((*got)[0].samples, {rising(500).back()}));
    EXPECT_TRUE(are_alike((*got)[1].samples, {{some_day + 1, series::stale_marker()}}));
    const auto late = store_->last({}, some_day + 2, {});
    ASSERT_TRUE(late);
    EXPECT_EQ(late->size(), 1u);
    if (i == 0) settle(clock_);
    if (i == 1) open();
  }
}

TEST_F(sample_store, refuses_more_than_the_budget_and_says_how_many_there_are) {
  open();
  batch all;
  for (int i = 0; i < 30; ++i) all.entries.push_back({named("x", {{"i", std::to_string(i)}}), {some_day, 1}});
  put(all);
  query_limits few;
  few.max_series = 29;
  auto got = store_->read({"x", {}}, 0, some_day, few);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, errc::response_too_large);
  EXPECT_NE(got.error().public_text.find("30 series"), std::string::npos) << got.error().public_text;
  EXPECT_NE(got.error().public_text.find("at most 29"), std::string::npos) << got.error().public_text;
  few.max_series = 30;
  EXPECT_TRUE(store_->read({"x", {}}, 0, some_day, few));
  put(named("y"), rising(1000));
  for (int i = 0; i < 2; ++i) {
    few.max_samples = 999;
    got = store_->read({"y", {}}, 0, some_day + one_day, few);
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code, errc::response_too_large);
    few.max_samples = 1000;
    EXPECT_TRUE(store_->read({"y", {}}, 0, some_day + one_day, few));
    settle(clock_);
  }
  few.deadline = monotonic_clock::now();
  got = store_->read({"y", {}}, 0, some_day + one_day, few);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, errc::timed_out);
  few.deadline = std::chrono::steady_clock::time_point::max();
  std::stop_source stop;
  stop.request_stop();
  few.stop = stop.get_token();
  got = store_->read({"y", {}}, 0, some_day + one_day, few);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, errc::cancelled);
}

TEST_F(sample_store, has_a_limit_of_series_and_takes_the_others) {
  options_.max_series = 10;
  open();
  batch all;
  for (int i = 0; i < 15; ++i) all.entries.push_back({named("x", {{"i", std::to_string(i)}}), {some_day, 1}});
  all.entries.push_back({named("x", {{"i", "0"}}), {some_day + 1, 1}});
  const auto said = put(all);
  EXPECT_EQ(said.stored, 11u);
  EXPECT_EQ(said.over_limit, 5u);
  open();
  EXPECT_EQ(read({"x", {}}).size(), 10u);
}

TEST_F(sample_store, brings_samples_to_their_final_form_when_memory_is_short) {
  options_.max_memory_bytes = 100'000;
  options_.sync_interval = std::chrono::hours(1);
  open();
  for (int i = 0; i < 40; ++i) {
    batch all;
    for (int j = 0; j < 500; ++j)
      all.entries.push_back({named("x", {{"j", std::to_string(j)}}), {some_day + i * 15'000, std::sin(i * 500 + j)}});
    EXPECT_EQ(put(all).stored, 500u);
    EXPECT_LT(store_->statistics().memory_bytes, 250'000u);
  }
  std::size_t count = 0;
  for (const auto& one : read({"x", {}})) count += one.samples.size();
  EXPECT_EQ(count, 20'000u);
  options_.max_memory_bytes = 10'000'000;
  open();
  count = 0;
  for (const auto& one : read({"x", {}})) count += one.samples.size();
  EXPECT_EQ(count, 20'000u);
}

}  // namespace
}  // namespace hondana::samples
