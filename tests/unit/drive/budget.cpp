/// Turns: how many, in which order, and who waits.
#include "drive/budget.hpp"

#include <chrono>
#include <future>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace {

using namespace std::chrono_literals;
using hondana::errc;
using hondana::drive::budget;
using hondana::drive::lane;
using hondana::drive::trouble;

budget::clock::time_point in(std::chrono::milliseconds so_long) { return budget::clock::now() + so_long; }

/// Waits until so many wait.
void until_waiting(const budget& of, std::size_t count) {
  const auto until = in(20s);
  while (of.now().waiting != count && budget::clock::now() < until) std::this_thread::yield();
  ASSERT_EQ(of.now().waiting, count);
}

TEST(drive_budget, gives_as_many_turns_at_once_as_a_second_has_and_then_in_its_rate) {
  budget it({.per_second = 50, .per_minute = 60'000});
  const auto begin = budget::clock::now();
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(it.take(lane::crawling, in(20s), {}));
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(it.take(lane::crawling, in(20s), {}));
  // Ten more of fifty a second take a fifth of one.
  EXPECT_GE(budget::clock::now() - begin, 190ms);
  EXPECT_EQ(it.now().taken, 60u);
  EXPECT_GE(it.now().waited, 1u);
}

TEST(drive_budget, gives_no_more_in_a_minute_than_the_minute_has) {
  budget it({.per_second = 1'000, .per_minute = 3});
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(it.take(lane::reading, in(20s), {}));
  const auto got = it.take(lane::reading, in(5s), {});
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().what, trouble::busy) << "which says nothing of Google";
  EXPECT_EQ(got.error().why.code, errc::overloaded);
  EXPECT_NE(got.error().why.public_text.find("requests_per_minute"), std::string::npos) << got.error().why.public_text;
  ASSERT_TRUE(got.error().why.retry);
  EXPECT_GT(*got.error().why.retry, 15s);
  EXPECT_LE(*got.error().why.retry, 20s);
}

TEST(drive_budget, lets_reads_go_before_the_crawl) {
  budget it({.per_second = 1'000, .per_minute = 60'000});
  it.pause(2s);
  std::mutex mutex;
  std::vector<lane> order;
  std::vector<std::future<void>> all;
  const auto asks = [&](lane of) {
    all.push_back(std::async(std::launch::async, [&, of] {
      ASSERT_TRUE(it.take(of, in(20s), {}));
      const std::lock_guard lock(mutex);
      order.push_back(of);
    }));
    until_waiting(it, all.size());
  };
  for (const auto of : {lane::crawling, lane::crawling, lane::polling, lane::reading, lane::reading}) asks(of);
  for (auto& one : all) one.get();
  // They write themselves down after their turn, so those of one lane may change places with the next, but no read is last.
  ASSERT_EQ(order.size(), 5u);
  EXPECT_NE(order.back(), lane::reading);
  EXPECT_NE(order.front(), lane::crawling);
  EXPECT_EQ(it.now().pauses, 1u);
}

TEST(drive_budget, lets_the_crawl_go_on_though_reads_never_end) {
  budget it({.per_second = 2'000, .per_minute = 120'000});
  std::stop_source stop;
  std::vector<std::thread> readers;
  for (int i = 0; i < 4; ++i)
    readers.emplace_back([&] {
      while (it.take(lane::reading, in(20s), stop.get_token())) continue;
    });
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(it.take(lane::crawling, in(20s), {}));
  stop.request_stop();
  for (auto& one : readers) one.join();
}

TEST(drive_budget, waits_for_no_turn_that_comes_too_late_and_ends_when_it_is_stopped) {
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
  EXPECT_GT(it.now().paused_for, 50min);
}

}  // namespace
