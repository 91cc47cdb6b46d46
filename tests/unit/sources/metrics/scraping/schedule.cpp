/// When targets are asked, and that none waits for a bad one.
#include <chrono>
#include <future>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <hondana/clock.hpp>

#include "sources/metrics/scraping/scraper.hpp"
#include "unit/sources/metrics/scraping/watched.hpp"
#include "unit/transport/http_client/scripted_server.hpp"

namespace {

using namespace std::chrono_literals;
using hondana::scraping::scrape_schedule;
using hondana::scraping::scraper;
using hondana::scraping::target;
using hondana_test::heard_request;
using hondana_test::scripted_connection;
using hondana_test::scripted_server;
using hondana_test::watched;

TEST(rota, first_turns_come_within_a_second_and_later_ones_are_spread) {
  const auto begin = scrape_schedule::clock::now();
  scrape_schedule it(std::vector<std::chrono::milliseconds>(10, 15'000ms), begin, 3);
  std::vector<std::chrono::milliseconds> firsts, seconds;
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 10; ++i) {
      const auto due = it.next_due();
      ASSERT_TRUE(due);
      EXPECT_FALSE(it.pop_due(*due - 1ms));
      const auto which = it.pop_due(*due);
      ASSERT_TRUE(which);
      (round == 0 ? firsts : seconds).push_back(std::chrono::duration_cast<std::chrono::milliseconds>(*due - begin));
      it.finish(*which, false, *due + 5ms);
    }
  }
  EXPECT_EQ(firsts.front(), 0ms);
  EXPECT_LT(firsts.back(), 1000ms);
  for (std::size_t i = 1; i < seconds.size(); ++i) EXPECT_EQ(seconds[i] - seconds[i - 1], 1500ms);
  EXPECT_GE(seconds.front(), 7500ms);
  EXPECT_LE(seconds.back(), 22'500ms);
}

TEST(rota, a_late_turn_is_left_out_and_none_is_made_up_for) {
  const auto begin = scrape_schedule::clock::now();
  scrape_schedule it({1000ms}, begin, 1);
  ASSERT_TRUE(it.pop_due(begin));
  EXPECT_FALSE(it.next_due());
  it.finish(0, true, begin + 3500ms);
  EXPECT_EQ(it.next_due(), begin + 4000ms);
  ASSERT_TRUE(it.pop_due(begin + 9100ms));
  it.finish(0, false, begin + 9200ms);
  EXPECT_EQ(it.next_due(), begin + 10'000ms);
}

TEST(rota, slow_ones_never_hold_all_threads_and_each_gets_its_turn) {
  const auto begin = scrape_schedule::clock::now();
  scrape_schedule it(std::vector<std::chrono::milliseconds>(6, 1000ms), begin, 3);
  // All are known: 0 is quick, the others are slow.
  for (std::size_t i = 0; i < 6; ++i) {
    const auto which = it.pop_due(begin + 1000ms);
    ASSERT_TRUE(which);
    it.finish(*which, *which != 0, begin + 1000ms);
  }
  const auto later = begin + 10s;
  std::set<std::size_t> under_way;
  while (const auto which = it.pop_due(later)) under_way.insert(*which);
  EXPECT_EQ(under_way.size(), 4u);
  EXPECT_TRUE(under_way.contains(0));
  EXPECT_FALSE(it.next_due());
  it.finish(0, false, later);
  EXPECT_EQ(it.pop_due(later + 1s), std::size_t{0});
  std::set<std::size_t> rest{1, 2, 3, 4, 5};
  for (const auto one : under_way) {
    rest.erase(one);
    if (one != 0) it.finish(one, true, later + 2s);
  }
  for (int i = 0; i < 2; ++i) {
    const auto which = it.pop_due(later + 2s);
    ASSERT_TRUE(which);
    EXPECT_EQ(rest.erase(*which), 1u);
  }
}

target counting(const std::string& instance, std::chrono::milliseconds every) {
  target out;
  out.job = "j";
  out.instance = instance;
  out.interval = every;
  out.collect = [](hondana::series::instant now, hondana::samples::batch& into) -> hondana::result<void> {
    into.entries.push_back({{"x", {}}, {now, 1}});
    return {};
  };
  return out;
}

TEST(scraper_schedule, asks_again_and_again_until_it_is_stopped) {
  watched with;
  scraper it(with.surroundings(), {counting("a", 20ms), counting("b", 20ms)}, with.hearer(), with.log());
  it.start();
  EXPECT_TRUE(with.wait_for([](const watched& so_far) { return so_far.kept_of("a") >= 3 && so_far.kept_of("b") >= 3; }));
  it.stop();
  const auto kept = with.heard.size();
  // In another millisecond, which is what instants count in: a quick machine begins again in the same.
  const auto stopped = with.surroundings().now();
  while (with.surroundings().now() <= stopped) std::this_thread::yield();
  it.start();
  EXPECT_TRUE(with.wait_for([&](const watched& so_far) { return so_far.heard.size() >= kept + 2; }));
  it.stop();
  hondana::series::instant last = 0;
  for (const auto& one : with.batches) {
    if (one.entries[0].identity.value_of("instance") != "a") continue;
    EXPECT_GT(one.entries[0].sample.time, last);
    last = one.entries[0].sample.time;
  }
}

TEST(scraper_schedule, targets_that_hang_keep_no_other_waiting) {
  scripted_server hanging([](const heard_request&, scripted_connection& to) { return to.sees_the_end() && false; });
  std::vector<target> all;
  for (int i = 0; i < 20; ++i) {
    target one;
    one.job = "j";
    one.instance = "hangs" + std::to_string(i);
    one.interval = one.timeout = 1h;
    one.server = *hondana::endpoint::endpoint::create({.url = hanging.url("/metrics"), .timeout = 1h});
    all.push_back(std::move(one));
  }
  watched with;
  all.insert(all.begin(), counting("good", 50ms));
  scraper it(with.surroundings(), all, with.hearer(), with.log());
  it.start();
  ASSERT_EQ(hanging.requests(3).size(), 3u);
  std::size_t before = 0;
  ASSERT_TRUE(with.wait_for([&](const watched& so_far) {
    before = so_far.kept_of("good");
    return true;
  }));
  EXPECT_TRUE(with.wait_for([&](const watched& so_far) { return so_far.kept_of("good") >= before + 5; }));
  EXPECT_EQ(hanging.requests(3).size(), 3u);
  // Stopping cancels what is under way, which would take an hour.
  it.stop();
  EXPECT_EQ(with.heard.size(), with.kept_of("good"));
  EXPECT_TRUE(with.lines.empty());
}

TEST(scraper_schedule, a_slow_target_is_down_after_its_time) {
  hondana::manual_clock clock;
  scripted_server hanging([](const heard_request&, scripted_connection& to) { return to.sees_the_end() && false; });
  target one;
  one.instance = "slow";
  one.interval = 1h;
  one.timeout = 100ms;
  one.server = *hondana::endpoint::endpoint::create({.url = hanging.url("/metrics")});
  watched with;
  scraper it(with.surroundings(), {one}, with.hearer(), with.log());
  it.start();
  ASSERT_EQ(hanging.requests(1).size(), 1u);
  clock.advance(one.timeout);
  ASSERT_TRUE(with.wait_for([](const watched& so_far) { return so_far.heard.size() == 1; }));
  EXPECT_FALSE(with.heard[0].is_up);
  EXPECT_NE(with.heard[0].last_error.find("within the time"), std::string::npos) << with.heard[0].last_error;
}

}  // namespace
