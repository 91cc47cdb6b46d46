/// Whose turn it is.
#include "base/executor/thread_pool.hpp"

#include <limits>
#include <string>

#include <gtest/gtest.h>

namespace hondana::executor {
namespace {

constexpr auto any_number = std::numeric_limits<std::size_t>::max();

waiting_job job_of(char who, std::string& log) {
  return {[who, &log] { log += who; }, clock::time_point::max()};
}

void run_next(caller_queue& of, std::size_t running_each) {
  const auto [what, whose] = of.pop(job_cost::small, running_each);
  what.job();
  of.finish(whose);
}

TEST(callers, have_turns_and_each_keeps_the_order_of_its_jobs) {
  caller_queue all;
  std::string log;
  for (const char one : {'1', '2', '3'}) all.push("alice", job_of(one, log));
  all.push("bob", job_of('b', log));
  all.push("carol", job_of('c', log));
  while (all.has_next(job_cost::small, any_number)) run_next(all, any_number);
  EXPECT_EQ(log, "1bc23");
  EXPECT_EQ(all.size(), 0u);
}

TEST(callers, with_as_many_jobs_under_way_as_they_may_have_are_passed_over) {
  caller_queue all;
  std::string log;
  all.push("alice", job_of('1', log));
  all.push("alice", job_of('2', log));
  all.push("bob", job_of('b', log));
  const auto first = all.pop(job_cost::small, 1);
  run_next(all, 1);
  EXPECT_EQ(log, "b");
  EXPECT_FALSE(all.has_next(job_cost::small, 1));
  EXPECT_EQ(all.waiting("alice"), 1u);
  all.finish(first.second);
  ASSERT_TRUE(all.has_next(job_cost::small, 1));
  run_next(all, 1);
  EXPECT_EQ(log, "b2");
}

TEST(callers, have_turns_for_costly_jobs_apart) {
  caller_queue all;
  std::string log;
  auto costly = job_of('c', log);
  costly.cost = job_cost::large;
  all.push("alice", std::move(costly));
  all.push("alice", job_of('1', log));
  EXPECT_EQ(all.waiting("alice"), 2u);
  run_next(all, any_number);
  EXPECT_EQ(log, "1") << "not held up by what came before";
  EXPECT_FALSE(all.has_next(job_cost::small, any_number));
  ASSERT_TRUE(all.has_next(job_cost::large, any_number));
  const auto last = all.pop(job_cost::large, any_number);
  EXPECT_FALSE(all.has_next(job_cost::large, any_number));
  all.finish(last.second);
  EXPECT_EQ(all.size(), 0u);
}

TEST(callers, without_a_name_have_no_such_limit) {
  caller_queue all;
  std::string log;
  all.push("", job_of('1', log));
  all.push("", job_of('2', log));
  const auto first = all.pop(job_cost::small, 1);
  EXPECT_TRUE(all.has_next(job_cost::small, 1));
  all.finish(first.second);
}

TEST(callers, are_forgotten_when_they_are_many_and_have_no_jobs) {
  caller_queue all;
  std::string log;
  for (int i = 0; i < 10'000; ++i) {
    all.push("caller " + std::to_string(i), job_of('x', log));
    run_next(all, any_number);
  }
  EXPECT_LE(all.caller_count(), 64u);
}

TEST(callers, with_jobs_that_wait_or_run_are_never_forgotten) {
  caller_queue all;
  std::string log;
  for (int i = 0; i < 1000; ++i) all.push("caller " + std::to_string(i), job_of('x', log));
  const auto running = all.pop(job_cost::small, any_number);
  for (int i = 1000; i < 2000; ++i) all.push("caller " + std::to_string(i), job_of('x', log));
  all.finish(running.second);
  while (all.has_next(job_cost::small, any_number)) run_next(all, any_number);
  EXPECT_EQ(log.size(), 1999u);
}

TEST(callers, give_out_all_that_waits) {
  caller_queue all;
  std::string log;
  all.push("alice", job_of('a', log));
  all.push("bob", job_of('b', log));
  EXPECT_EQ(all.drain().size(), 2u);
  EXPECT_EQ(all.size(), 0u);
  EXPECT_FALSE(all.has_next(job_cost::small, any_number));
  all.push("alice", job_of('a', log));
  EXPECT_TRUE(all.has_next(job_cost::small, any_number));
}

}  // namespace
}  // namespace hondana::executor
