/// What is counted and measured, and how it is told.
#include "base/counters/metrics.hpp"

#include <map>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/counters/process_metrics.hpp"

namespace {

using namespace hondana::counters;
using namespace std::chrono_literals;

/// "family" lines and "name{labels} value".
class written final : public sink {
 public:
  void family(const metric_family& of) override {
    name_ = of.name;
    families.emplace_back(of.name);
    EXPECT_FALSE(of.help.empty()) << of.name;
  }
  void sample(std::string_view suffix, std::span<const label> labels, double value) override {
    std::string key = name_ + std::string(suffix);
    for (const auto& one : labels) key += ' ' + one.name + '=' + one.value;
    EXPECT_TRUE(values.emplace(key, value).second) << key << " twice";
  }
  std::vector<std::string> families;
  std::map<std::string, double> values;

 private:
  std::string name_;
};

struct figures_of_one_place : testing::Test {
  std::map<std::string, double> told() {
    written into;
    all.collect(into);
    families = into.families;
    return into.values;
  }
  registry all;
  std::vector<std::string> families;
};

TEST_F(figures_of_one_place, sums_has_a_series_for_each_pair_of_labels_that_was_counted) {
  const auto one =
      counter_family::make({"x_things", kind::counter, "", "Things."}, {{"a", {"p", "q"}}, {"b", {"r", "s", "t"}}}, 1, all);
  one->add(0);
  one->add(5, 41);
  one->add(5);
  EXPECT_EQ(told(), (std::map<std::string, double>{{"x_things_total a=p b=r", 1}, {"x_things_total a=q b=t", 42}}));
}

TEST_F(figures_of_one_place, sums_of_a_gauge_shrinks_on_another_thread_than_it_grew_on) {
  const auto one = counter_family::make({"x_open", kind::gauge, "", "Open."}, {}, 1, all);
  EXPECT_EQ(told().at("x_open"), 0);
  one->add(0, 3);
  std::thread([&] { one->subtract(0); }).join();
  EXPECT_EQ(told().at("x_open"), 2);
}

TEST_F(figures_of_one_place, sums_loses_nothing_when_many_threads_add_at_once) {
  const auto one = counter_family::make({"x_things", kind::counter, "", "Things."}, {{"a", {"p", "q"}}}, 1, all);
  std::vector<std::thread> threads;
  for (int i = 0; i < 12; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 10'000; ++k) one->add(1);
    });
  }
  for (auto& each : threads) each.join();
  EXPECT_EQ(told().at("x_things_total a=q"), 120'000);
}

TEST_F(figures_of_one_place, times_are_cumulative_and_in_seconds) {
  const auto one = duration_histogram::make({"x_seconds", kind::histogram, "seconds", "Time."}, {{"a", {"p", "q"}}}, all);
  for (const auto time : std::vector<std::chrono::nanoseconds>{50us, 50us + 1ns, 3ms, 30s, 31s}) one->observe(1, time);
  const auto all_values = told();
  EXPECT_EQ(all_values.at("x_seconds_bucket a=q le=0.00005"), 1);
  EXPECT_EQ(all_values.at("x_seconds_bucket a=q le=0.0001"), 2);
  EXPECT_EQ(all_values.at("x_seconds_bucket a=q le=0.0025"), 2);
  EXPECT_EQ(all_values.at("x_seconds_bucket a=q le=0.005"), 3);
  EXPECT_EQ(all_values.at("x_seconds_bucket a=q le=30.0"), 4);
  EXPECT_EQ(all_values.at("x_seconds_bucket a=q le=+Inf"), 5);
  EXPECT_EQ(all_values.at("x_seconds_count a=q"), 5);
  EXPECT_NEAR(all_values.at("x_seconds_sum a=q"), 61.0031, 1e-6);
  EXPECT_FALSE(all_values.contains("x_seconds_count a=p"));
  EXPECT_EQ(one->count(1), 5u);
}

TEST_F(figures_of_one_place, registry_adds_up_what_several_tell_and_forgets_who_has_gone) {
  const auto one = counter_family::make({"x_things", kind::counter, "", "Things."}, {{"a", {"p"}}}, 1, all);
  auto other = counter_family::make({"x_things", kind::counter, "", "Things."}, {{"a", {"p"}}}, 1, all);
  const auto before = register_collector(
      {"a_first", kind::gauge, "", "First."}, [](const collector::sample_callback& to) { to("", {}, 7); }, all);
  one->add(0, 2);
  other->add(0, 3);
  EXPECT_EQ(told().at("x_things_total a=p"), 5);
  EXPECT_EQ(families, (std::vector<std::string>{"a_first", "x_things"}));
  other.reset();
  EXPECT_EQ(told().at("x_things_total a=p"), 2);
}

TEST_F(figures_of_one_place, process_has_the_names_that_prometheus_clients_have) {
  const auto kept = register_process_metrics("/proc", all);
  const auto build = register_build_info("1.2.3", all);
  const auto now = told();
  EXPECT_GT(now.at("process_resident_memory_bytes"), 1e6);
  EXPECT_GT(now.at("process_open_fds"), 2);
  EXPECT_GE(now.at("process_cpu_seconds_total"), 0);
  EXPECT_GE(now.at("process_threads"), 1);
  const auto since_start = static_cast<double>(std::time(nullptr)) - now.at("process_start_time_seconds");
  EXPECT_GT(since_start, -2);
  EXPECT_LT(since_start, 3600);
  EXPECT_EQ(now.at("hondana_build_info version=1.2.3"), 1);
}

TEST_F(figures_of_one_place, process_leaves_out_what_cannot_be_read) {
  const auto kept = register_process_metrics("/nowhere", all);
  const auto now = told();
  EXPECT_FALSE(now.contains("process_resident_memory_bytes"));
  EXPECT_FALSE(now.contains("process_open_fds"));
}

}  // namespace
