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

void run_next(callers& of, std::size_t running_each) {
  const auto [what, whose] = of.take(job_cost::small, running_each);
  what.job();
  of.done(whose);
}

TEST(callers, have_turns_and_each_keeps_the_order_of_its_jobs) {
  callers all;
  std::string log;
  for (const char one : {'1', '2', '3'}) all.put("alice", job_of(one, log));
  all.put("bob", job_of('b', log));
  all.put("carol", job_of('c', log));
  while (all.has_next(job_cost::small, any_number)) run_next(all, any_number);
  EXPECT_EQ(log, "1bc23");
  EXPECT_EQ(all.size(), 0u);
}

TEST(callers, with_as_many_jobs_under_way_as_they_may_have_are_passed_over) {
  callers all;
  std::string log;
  all.put("alice", job_of('1', log));
  all.put("alice", job_of('2', log));
  all.put("bob", job_of('b', log));
  const auto first = all.take(job_cost::small, 1);
  run_next(all, 1);
  EXPECT_EQ(log, "b");
  EXPECT_FALSE(all.has_next(job_cost::small, 1));
  EXPECT_EQ(all.waiting("alice"), 1u);
  all.done(first.second);
  ASSERT_TRUE(all.has_next(job_cost::small, 1));
  run_next(all, 1);
  EXPECT_EQ(log, "b2");
}

TEST(callers, have_turns_for_costly_jobs_apart) {
  callers all;
  std::string log;
  auto costly = job_of('c', log);
  costly.cost = job_cost::large;
  all.put("alice", std::move(costly));
  all.put("alice", job_of('1', log));
  EXPECT_EQ(all.waiting("alice"), 2u);
  run_next(all, any_number);
  EXPECT_EQ(log, "1") << "not held up by what came before";
  EXPECT_FALSE(all.has_next(job_cost::small, any_number));
  ASSERT_TRUE(all.has_next(job_cost::large, any_number));
  const auto last = all.take(job_cost::large, any_number);
  EXPECT_FALSE(all.has_next(job_cost::large, any_number));
  all.done(last.second);
  EXPECT_EQ(all.size(), 0u);
}

TEST(callers, without_a_name_have_no_such_limit) {
  callers all;
  std::string log;
  all.put("", job_of('1', log));
  all.put("", job_of('2', log));
  const auto first = all.take(job_cost::small, 1);
  EXPECT_TRUE(all.has_next(job_cost::small, 1));
  all.done(first.second);
}

TEST(callers, are_forgotten_when_they_are_many_and_have_no_jobs) {
  callers all;
  std::string log;
  for (int i = 0; i < 10'000; ++i) {
    all.put("caller " + std::to_string(i), job_of('x', log));
    run_next(all, any_number);
  }
  EXPECT_LE(all.known(), 64u);
}

TEST(callers, with_jobs_that_wait_or_run_are_never_forgotten) {
  callers all;
  std::string log;
  for (int i = 0; i < 1000; ++i) all.put("caller " + std::to_string(i), job_of('x', log));
  const auto running = all.take(job_cost::small, any_number);
  for (int i = 1000; i < 2000; ++i) all.put("caller " + std::to_string(i), job_of('x', log));
  all.done(running.second);
  while (all.has_next(job_cost::small, any_number)) run_next(all, any_number);
  EXPECT_EQ(log.size(), 1999u);
}

TEST(callers, give_out_all_that_waits) {
  callers all;
  std::string log;
  all.put("alice", job_of('a', log));
  all.put("bob", job_of('b', log));
  EXPECT_EQ(all.clear().size(), 2u);
  EXPECT_EQ(all.size(), 0u);
  EXPECT_FALSE(all.has_next(job_cost::small, any_number));
  all.put("alice", job_of('a', log));
  EXPECT_TRUE(all.has_next(job_cost::small, any_number));
}

}  // namespace
}  // namespace hondana::executor
