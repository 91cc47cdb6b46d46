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
using hondana::drive::error_kind;
using hondana::drive::request_budget;
using hondana::drive::request_priority;

request_budget::clock::time_point in(std::chrono::milliseconds so_long) { return request_budget::clock::now() + so_long; }

/// Waits until so many wait.
void until_waiting(const request_budget& of, std::size_t count) {
  ASSERT_TRUE(hondana_test::eventually([&] { return of.current_statistics().waiting == count; }));
}

TEST(drive_budget, gives_as_many_turns_at_once_as_a_second_has_and_then_in_its_rate) {
  hondana::manual_clock clock;
  request_budget it({.per_second = 50, .per_minute = 60'000});
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(it.acquire(request_priority::crawling, in(0ms), {}));
  for (int i = 0; i < 10; ++i) {
    ASSERT_EQ(it.acquire(request_priority::crawling, in(10ms), {}).error().kind, error_kind::busy) << i;
    auto next = std::async(std::launch::async, [&] { return it.acquire(request_priority::crawling, in(1h), {}); });
    until_waiting(it, 1);
    clock.advance(21ms);
    ASSERT_TRUE(next.get()) << i;
  }
  EXPECT_EQ(it.current_statistics().granted, 60u);
  EXPECT_EQ(it.current_statistics().delayed, 10u);
}

TEST(drive_budget, gives_no_more_in_a_minute_than_the_minute_has) {
  const hondana::manual_clock clock;
  request_budget it({.per_second = 1'000, .per_minute = 3});
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(it.acquire(request_priority::reading, in(0s), {}));
  const auto got = it.acquire(request_priority::reading, in(5s), {});
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().kind, error_kind::busy) << "which says nothing of Google";
  EXPECT_EQ(got.error().details.code, errc::overloaded);
  EXPECT_NE(got.error().details.public_text.find("requests_per_minute"), std::string::npos) << got.error().details.public_text;
  EXPECT_EQ(got.error().details.retry_after, 20s);
}

/// Lets them wait in this order, gives as many turns as the first lane has, and says who got one.
std::vector<request_priority> first_of(const std::vector<request_priority>& asking, std::size_t turns) {
  hondana::manual_clock clock;
  // What a minute has is all: the next turn is some seconds away.
  request_budget it({.per_second = 1'000, .per_minute = static_cast<double>(turns)});
  it.pause(2s);
  std::stop_source stop;
  std::mutex mutex;
  std::vector<request_priority> got;
  std::vector<std::future<void>> all;
  for (const auto of : asking) {
    all.push_back(std::async(std::launch::async, [&, of] {
      if (!it.acquire(of, in(1h), stop.get_token())) return;
      const std::lock_guard lock(mutex);
      got.push_back(of);
    }));
    until_waiting(it, all.size());
  }
  EXPECT_EQ(it.current_statistics().pauses, 1u);
  clock.advance(2s);
  until_waiting(it, asking.size() - turns);
  stop.request_stop();
  for (auto& one : all) one.get();
  return got;
}

TEST(drive_budget, lets_reads_go_before_looks_for_changes_and_these_before_the_crawl) {
  using enum request_priority;
  EXPECT_EQ(first_of({crawling, crawling, polling, reading, reading}, 2), (std::vector{reading, reading}));
  EXPECT_EQ(first_of({crawling, crawling, polling, polling}, 2), (std::vector{polling, polling}));
}

TEST(drive_budget, lets_the_crawl_go_on_though_reads_never_end) {
  request_budget it({.per_second = 2'000, .per_minute = 120'000});
  std::stop_source stop;
  std::vector<std::thread> readers;
  for (int i = 0; i < 4; ++i)
    readers.emplace_back([&] {
      while (it.acquire(request_priority::reading, in(hondana_test::event_deadline), stop.get_token())) continue;
    });
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(it.acquire(request_priority::crawling, in(hondana_test::event_deadline), {}));
  stop.request_stop();
  for (auto& one : readers) one.join();
}

TEST(drive_budget, waits_for_no_turn_that_comes_too_late_and_ends_when_it_is_stopped) {
  const hondana::manual_clock clock;
  request_budget it({.per_second = 1'000, .per_minute = 60'000});
  it.pause(1h);
  const auto late = it.acquire(request_priority::reading, in(10s), {});
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().kind, error_kind::rate_limited) << "Google has said so";
  EXPECT_EQ(late.error().details.code, errc::overloaded);
  std::stop_source stop;
  auto waiting =
      std::async(std::launch::async, [&] { return it.acquire(request_priority::crawling, in(2h), stop.get_token()); });
  until_waiting(it, 1);
  stop.request_stop();
  const auto stopped = waiting.get();
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().kind, error_kind::cancelled);
  EXPECT_EQ(it.current_statistics().waiting, 0u);
  EXPECT_EQ(it.current_statistics().remaining_pause, 1h);
}

TEST(drive_budget, rejects_a_waiting_caller_when_a_pause_outlasts_its_deadline) {
  const hondana::manual_clock clock;
  request_budget it({.per_second = 1'000, .per_minute = 60'000});
  it.pause(1h);
  auto waiting = std::async(std::launch::async, [&] { return it.acquire(request_priority::reading, in(2h), {}); });
  until_waiting(it, 1);
  it.pause(3h);
  const auto rejected = waiting.get();  // the clock stands still
  ASSERT_FALSE(rejected);
  EXPECT_EQ(rejected.error().kind, error_kind::rate_limited);
}

}  // namespace
