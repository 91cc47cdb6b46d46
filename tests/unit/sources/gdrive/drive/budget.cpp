/// Turns: how many, in which order, and who waits.
#include "sources/gdrive/drive/request_budget.hpp"

#include <chrono>
#include <future>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <hondana/clock.hpp>

#include "deadline.hpp"

namespace {

using namespace std::chrono_literals;
using hondana::errc;
using hondana::drive::budget;
using hondana::drive::lane;
using hondana::drive::trouble;

budget::clock::time_point in(std::chrono::milliseconds so_long) { return budget::clock::now() + so_long; }

/// Waits until so many wait.
void until_waiting(const budget& of, std::size_t count) {
  ASSERT_TRUE(hondana_test::eventually([&] { return of.now().waiting == count; }));
}

TEST(drive_budget, gives_as_many_turns_at_once_as_a_second_has_and_then_in_its_rate) {
  hondana::manual_clock clock;
  budget it({.per_second = 50, .per_minute = 60'000});
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(it.take(lane::crawling, in(0ms), {}));
  for (int i = 0; i < 10; ++i) {
    ASSERT_EQ(it.take(lane::crawling, in(10ms), {}).error().what, trouble::busy) << i;
    auto next = std::async(std::launch::async, [&] { return it.take(lane::crawling, in(1h), {}); });
    until_waiting(it, 1);
    clock.advance(21ms);
    ASSERT_TRUE(next.get()) << i;
  }
  EXPECT_EQ(it.now().taken, 60u);
  EXPECT_EQ(it.now().waited, 10u);
}

TEST(drive_budget, gives_no_more_in_a_minute_than_the_minute_has) {
  const hondana::manual_clock clock;
  budget it({.per_second = 1'000, .per_minute = 3});
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(it.take(lane::reading, in(0s), {}));
  const auto got = it.take(lane::reading, in(5s), {});
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().what, trouble::busy) << "which says nothing of Google";
  EXPECT_EQ(got.error().why.code, errc::overloaded);
  EXPECT_NE(got.error().why.public_text.find("requests_per_minute"), std::string::npos) << got.error().why.public_text;
  EXPECT_EQ(got.error().why.retry, 20s);
}

/// Lets them wait in this order, gives as many turns as the first lane has, and says who got one.
std::vector<lane> first_of(const std::vector<lane>& asking, std::size_t turns) {
  hondana::manual_clock clock;
  // What a minute has is all: the next turn is some seconds away.
  budget it({.per_second = 1'000, .per_minute = static_cast<double>(turns)});
  it.pause(2s);
  std::stop_source stop;
  std::mutex mutex;
  std::vector<lane> got;
  std::vector<std::future<void>> all;
  for (const auto of : asking) {
    all.push_back(std::async(std::launch::async, [&, of] {
      if (!it.take(of, in(1h), stop.get_token())) return;
      const std::lock_guard lock(mutex);
      got.push_back(of);
    }));
    until_waiting(it, all.size());
  }
  EXPECT_EQ(it.now().pauses, 1u);
  clock.advance(2s);
  until_waiting(it, asking.size() - turns);
  stop.request_stop();
  for (auto& one : all) one.get();
  return got;
}

TEST(drive_budget, lets_reads_go_before_looks_for_changes_and_these_before_the_crawl) {
  using enum lane;
  EXPECT_EQ(first_of({crawling, crawling, polling, reading, reading}, 2), (std::vector{reading, reading}));
  EXPECT_EQ(first_of({crawling, crawling, polling, polling}, 2), (std::vector{polling, polling}));
}

TEST(drive_budget, lets_the_crawl_go_on_though_reads_never_end) {
  budget it({.per_second = 2'000, .per_minute = 120'000});
  std::stop_source stop;
  std::vector<std::thread> readers;
  for (int i = 0; i < 4; ++i)
    readers.emplace_back([&] {
      while (it.take(lane::reading, in(hondana_test::event_deadline), stop.get_token())) continue;
    });
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(it.take(lane::crawling, in(hondana_test::event_deadline), {}));
  stop.request_stop();
  for (auto& one : readers) one.join();
}

TEST(drive_budget, waits_for_no_turn_that_comes_too_late_and_ends_when_it_is_stopped) {
  const hondana::manual_clock clock;
  budget it({.per_second = 1'000, .per_minute = 60'000});
  it.pause(1h);
  const auto late = it.take(lane::reading, in(10s), {});
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().what, trouble::rate_limited) << "Google has said so";
  EXPECT_EQ(late.error().why.code, errc::overloaded);
  std::stop_source stop;
  auto waiting = std::async(std::launch::async, [&] { return it.take(lane::crawling, in(2h), stop.get_token()); });
  until_waiting(it, 1);
  stop.request_stop();
  const auto stopped = waiting.get();
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().what, trouble::cancelled);
  EXPECT_EQ(it.now().waiting, 0u);
  EXPECT_EQ(it.now().paused_for, 1h);
}

TEST(drive_budget, rejects_a_waiting_caller_when_a_pause_outlasts_its_deadline) {
  const hondana::manual_clock clock;
  budget it({.per_second = 1'000, .per_minute = 60'000});
  it.pause(1h);
  auto waiting = std::async(std::launch::async, [&] { return it.take(lane::reading, in(2h), {}); });
  until_waiting(it, 1);
  it.pause(3h);
  const auto rejected = waiting.get();  // the clock stands still
  ASSERT_FALSE(rejected);
  EXPECT_EQ(rejected.error().what, trouble::rate_limited);
}

}  // namespace
