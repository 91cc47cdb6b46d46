/// Pools: bounds, stuck threads, and letting go.
#include "base/executor/thread_pool.hpp"

#include <time.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <latch>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <hondana/clock.hpp>

#include "deadline.hpp"

namespace {

using namespace std::chrono_literals;
using hondana::errc;
using hondana::executor::clock;
using hondana::executor::inline_executor;
using hondana::executor::thread_pool;
using hondana_test::event_deadline;

constexpr auto never = clock::time_point::max();

/// Opens once; waiting gives up at the deadline of tests.
class door {
 public:
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  bool wait() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, event_deadline, [this] { return open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
};

/// A job that reports its start and stays until let go.
struct held_job {
  std::shared_ptr<door> started = std::make_shared<door>();
  std::shared_ptr<door> let_go = std::make_shared<door>();
  void operator()() const {
    started->open();
    let_go->wait();
  }
};

TEST(pool, goes_on_with_an_answer_that_has_begun_while_all_its_threads_are_busy) {
  thread_pool lane("slow", 2);
  const held_job first;
  const held_job second;
  const held_job waiting;
  ASSERT_TRUE(lane.submit(first, never));
  ASSERT_TRUE(lane.submit(second, never));
  ASSERT_TRUE(lane.submit(waiting, never));
  ASSERT_TRUE(first.started->wait());
  ASSERT_TRUE(second.started->wait());
  door continued;
  ASSERT_TRUE(lane.submit([&continued] { continued.open(); }, never, hondana::executor::job_priority::continuation));
  EXPECT_TRUE(continued.wait());
  for (const auto* job : {&first, &second, &waiting}) job->let_go->open();
  EXPECT_TRUE(lane.close(clock::now() + event_deadline));
}

/// Keeps a processor busy for a little longer than what counts as cheap.
void take_long() {
  const auto used = [] {
    timespec now{};
    EXPECT_EQ(::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now), 0);
    return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
  };
  const auto until = used() + hondana::executor::cost_history::costly_threshold + 1ms;
  while (used() < until) {
  }
}

TEST(pool, keeps_a_thread_from_requests_that_are_known_to_be_costly) {
  constexpr hondana::executor::job_kind costly = 7;
  constexpr auto request = hondana::executor::job_priority::request;
  thread_pool lane("costly", 4);
  ASSERT_TRUE(lane.submit(take_long, never, request, {}, costly));
  // What comes behind it on its thread comes when it has been measured.
  ASSERT_TRUE(hondana_test::eventually([&lane] { return lane.load().running == 0 && lane.load().waiting == 0; }));
  std::vector<held_job> held(5);
  for (const auto& one : held) ASSERT_TRUE(lane.submit(one, never, request, {}, costly));
  door small;
  ASSERT_TRUE(lane.submit([&small] { small.open(); }, never, request, {}, 8));
  EXPECT_TRUE(small.wait());
  EXPECT_LE(lane.load().running, 3u);
  for (const auto& one : held) one.let_go->open();
  for (const auto& one : held) EXPECT_TRUE(one.started->wait()) << "they have their turns, too";
  EXPECT_TRUE(lane.close(clock::now() + event_deadline));
}

TEST(pool, gives_costly_requests_that_are_late_no_more_of_it) {
  constexpr hondana::executor::job_kind costly = 7;
  constexpr auto request = hondana::executor::job_priority::request;
  thread_pool lane("late", 2);
  ASSERT_TRUE(lane.submit(take_long, never, request, {}, costly));
  ASSERT_TRUE(hondana_test::eventually([&lane] { return lane.load().running == 0 && lane.load().waiting == 0; }));
  const held_job stuck;
  ASSERT_TRUE(lane.submit(stuck, clock::now() - 1ms, request, {}, costly));
  ASSERT_TRUE(stuck.started->wait());
  const held_job next;
  ASSERT_TRUE(lane.submit(next, never, request, {}, costly));
  EXPECT_TRUE(next.started->wait());
  stuck.let_go->open();
  next.let_go->open();
  EXPECT_TRUE(lane.close(clock::now() + event_deadline));
}

TEST(pool, starts_a_costly_request_when_another_passes_its_deadline) {
  constexpr hondana::executor::job_kind costly = 7;
  constexpr auto request = hondana::executor::job_priority::request;
  hondana::manual_clock manual;
  thread_pool lane("late", 2);  // so that one costly request may run
  ASSERT_TRUE(lane.submit(take_long, never, request, {}, costly));
  ASSERT_TRUE(hondana_test::eventually([&lane] { return lane.load().running == 0 && lane.load().waiting == 0; }));
  const held_job stuck;
  ASSERT_TRUE(lane.submit(stuck, clock::now() + 1s, request, {}, costly));
  ASSERT_TRUE(stuck.started->wait());
  const held_job next;
  ASSERT_TRUE(lane.submit(next, never, request, {}, costly));
  EXPECT_EQ(lane.load().waiting, 1u);
  manual.advance(2s);
  EXPECT_TRUE(next.started->wait());
  stuck.let_go->open();
  next.let_go->open();
  EXPECT_TRUE(lane.close(clock::now() + event_deadline));
}

TEST(pool, goes_on_after_a_job_that_has_no_memory_and_lets_go_of_it) {
  thread_pool lane("short", 1);
  const auto owed = std::make_shared<door>();
  // As an answer that is owed is given when the job goes that owes it.
  std::shared_ptr<void> answers(nullptr, [owed](void*) { owed->open(); });
  ASSERT_TRUE(lane.submit([answers] { throw std::bad_alloc(); }, never));
  answers.reset();
  EXPECT_TRUE(owed->wait());
  door next;
  ASSERT_TRUE(lane.submit([&next] { next.open(); }, never));
  EXPECT_TRUE(next.wait());
}

TEST(pool, takes_continuations_before_requests_that_wait) {
  thread_pool lane("one", 1);
  const held_job busy;
  ASSERT_TRUE(lane.submit(busy, never));
  ASSERT_TRUE(busy.started->wait());
  const held_job blocking;
  ASSERT_TRUE(lane.submit(blocking, never, hondana::executor::job_priority::continuation));
  ASSERT_TRUE(blocking.started->wait());
  std::string order;
  door done;
  ASSERT_TRUE(lane.submit(
      [&] {
        order += "request";
        done.open();
      },
      never));
  ASSERT_TRUE(lane.submit([&] { order += "continuation "; }, never, hondana::executor::job_priority::continuation));
  busy.let_go->open();
  ASSERT_TRUE(done.wait());
  EXPECT_EQ(order, "continuation request");
  blocking.let_go->open();
  EXPECT_TRUE(lane.close(clock::now() + event_deadline));
}

TEST(inline_lane, runs_before_submit_returns) {
  inline_executor lane;
  bool ran = false;
  EXPECT_TRUE(lane.submit([&ran] { ran = true; }, never));
  EXPECT_TRUE(ran);
}

TEST(pool, runs_every_job_once) {
  std::atomic<int> ran = 0;
  std::latch all(200);
  thread_pool workers("p", 3);
  for (int job = 0; job < 200; ++job) {
    ASSERT_TRUE(workers.submit(
        [&] {
          ++ran;
          all.count_down();
        },
        never));
  }
  all.wait();
  EXPECT_EQ(ran, 200);
  EXPECT_TRUE(workers.close(clock::now() + event_deadline));
}

TEST(pool, runs_as_many_jobs_at_once_as_it_has_threads) {
  thread_pool workers("p", 3);
  held_job held[3];
  for (const auto& one : held) ASSERT_TRUE(workers.submit(one, never));
  for (const auto& one : held) EXPECT_TRUE(one.started->wait());
  for (const auto& one : held) one.let_go->open();
}

TEST(pool, refuses_jobs_beyond_its_queue) {
  thread_pool workers("disk", 1, 2);
  const held_job running;
  ASSERT_TRUE(workers.submit(running, never));
  ASSERT_TRUE(running.started->wait());
  const auto dropped = std::make_shared<int>(0);
  EXPECT_TRUE(workers.submit([] {}, never));
  EXPECT_TRUE(workers.submit([] {}, never));
  const auto refused = workers.submit([dropped] {}, never);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::overloaded);
  EXPECT_NE(refused.error().public_text.find("\"disk\""), std::string::npos);
  EXPECT_EQ(dropped.use_count(), 1);
  running.let_go->open();
}

TEST(pool, with_all_threads_past_their_deadlines_fails_at_once) {
  thread_pool workers("disk", 2);
  const held_job held[2];
  for (const auto& one : held) ASSERT_TRUE(workers.submit(one, clock::now() - 1ms));
  for (const auto& one : held) ASSERT_TRUE(one.started->wait());
  const auto refused = workers.submit([] {}, never);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::source_unavailable);
  EXPECT_NE(refused.error().public_text.find("\"disk\""), std::string::npos);

  held[0].let_go->open();
  held[1].let_go->open();
  EXPECT_TRUE(hondana_test::eventually([&] { return workers.submit([] {}, never).has_value(); }));
}

TEST(pool, with_one_thread_still_in_time_keeps_taking_jobs) {
  thread_pool workers("disk", 2);
  const held_job late;
  const held_job in_time;
  ASSERT_TRUE(workers.submit(late, clock::now() - 1ms));
  ASSERT_TRUE(workers.submit(in_time, never));
  ASSERT_TRUE(late.started->wait());
  ASSERT_TRUE(in_time.started->wait());
  door ran;
  EXPECT_TRUE(workers.submit([&ran] { ran.open(); }, never));
  in_time.let_go->open();
  EXPECT_TRUE(ran.wait());
  late.let_go->open();
  EXPECT_TRUE(workers.close(clock::now() + event_deadline));
}

TEST(pool, closed_refuses_new_jobs_drops_waiting_ones_and_waits_for_running_ones) {
  thread_pool workers("disk", 1);
  const held_job running;
  ASSERT_TRUE(workers.submit(running, never));
  ASSERT_TRUE(running.started->wait());
  const auto waiting = std::make_shared<int>(0);
  ASSERT_TRUE(workers.submit([waiting] { ++*waiting; }, never));
  EXPECT_FALSE(workers.close(clock::now()));
  EXPECT_EQ(*waiting, 0);
  EXPECT_EQ(waiting.use_count(), 1);
  EXPECT_EQ(workers.submit([] {}, never).error().code, errc::source_unavailable);
  running.let_go->open();
  EXPECT_TRUE(workers.close(clock::now() + event_deadline));
}

TEST(pool, destroyed_abandons_a_stuck_job_which_ends_later) {
  const held_job stuck;
  const auto ended = std::make_shared<door>();
  {
    thread_pool workers("disk", 1);
    ASSERT_TRUE(workers.submit(
        [stuck, ended] {
          stuck();
          ended->open();
        },
        never));
    ASSERT_TRUE(stuck.started->wait());
  }
  stuck.let_go->open();
  EXPECT_TRUE(ended->wait());
}

TEST(pool, may_be_destroyed_by_its_own_job) {
  const auto ended = std::make_shared<door>();
  auto workers = std::make_shared<thread_pool>("disk", 1);
  const auto go = std::make_shared<door>();
  auto& alias = *workers;
  ASSERT_TRUE(alias.submit(
      [go, ended, owner = workers]() mutable {
        go->wait();
        owner.reset();
        ended->open();
      },
      never));
  workers.reset();
  go->open();
  EXPECT_TRUE(ended->wait());
}

/// What jobs did, in their order.
struct history {
  std::mutex mutex;
  std::string text;
  void add(char who) {
    const std::lock_guard lock(mutex);
    text += who;
  }
  std::string so_far() {
    const std::lock_guard lock(mutex);
    return text;
  }
};

TEST(pool, lets_callers_have_turns_however_many_jobs_one_of_them_has_waiting) {
  thread_pool lane("disk", 1);
  const held_job first;
  ASSERT_TRUE(lane.submit(first, never));
  ASSERT_TRUE(first.started->wait());
  const auto done = std::make_shared<history>();
  const auto all = std::make_shared<door>();
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(lane.submit([done] { done->add('a'); }, never, hondana::executor::job_priority::request, "alice"));
  }
  ASSERT_TRUE(lane.submit([done] { done->add('b'); }, never, hondana::executor::job_priority::request, "bob"));
  ASSERT_TRUE(
      lane.submit([done, all] { done->add('c'), all->open(); }, never, hondana::executor::job_priority::request, "carol"));
  first.let_go->open();
  ASSERT_TRUE(all->wait());
  EXPECT_EQ(done->so_far().substr(0, 3), "abc");
}

TEST(pool, refuses_what_one_caller_has_waiting_beyond_its_part_and_takes_that_of_others) {
  thread_pool lane("disk", {.max_threads = 1, .max_waiting = 8, .max_waiting_per_caller = 2});
  const held_job first;
  ASSERT_TRUE(lane.submit(first, never));
  ASSERT_TRUE(first.started->wait());
  const auto nothing = [] {};
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(lane.submit(nothing, never, hondana::executor::job_priority::request, "alice"));
  const auto refused = lane.submit(nothing, never, hondana::executor::job_priority::request, "alice");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::overloaded);
  EXPECT_EQ(refused.error().retry_after, 1s);
  EXPECT_EQ(refused.error().public_text,
            "The source \"disk\" already has 2 requests of this caller waiting. Wait for responses before sending more.");
  EXPECT_TRUE(lane.submit(nothing, never, hondana::executor::job_priority::request, "bob"));
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(lane.submit(nothing, never)) << "those without a name have no part of their own";
  const auto full = lane.submit(nothing, never, hondana::executor::job_priority::request, "carol");
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().retry_after, 1s);
  first.let_go->open();
}

TEST(pool, always_has_a_place_for_what_goes_on_with_an_answer_that_has_begun) {
  thread_pool lane("disk", {.max_threads = 1, .max_waiting = 1, .max_waiting_per_caller = 1});
  const held_job first;
  const held_job piece;
  ASSERT_TRUE(lane.submit(first, never));
  ASSERT_TRUE(first.started->wait());
  ASSERT_TRUE(lane.submit(piece, never, hondana::executor::job_priority::continuation));
  ASSERT_TRUE(piece.started->wait());
  ASSERT_TRUE(lane.submit([] {}, never));
  std::latch all(20);
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(lane.submit([&all] { all.count_down(); }, never, hondana::executor::job_priority::continuation)) << i;
  }
  const auto refused = lane.submit([] {}, never);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().public_text, "The source \"disk\" already has 1 request waiting. Retry later.");
  first.let_go->open();
  piece.let_go->open();
  all.wait();
  EXPECT_TRUE(lane.close(clock::now() + event_deadline));
}

TEST(pool, keeps_a_thread_for_others_when_one_caller_may_not_have_all) {
  thread_pool lane("disk", {.max_threads = 2, .max_running_per_caller = 1});
  const held_job first;
  const held_job second;
  ASSERT_TRUE(lane.submit(first, never, hondana::executor::job_priority::request, "alice"));
  ASSERT_TRUE(lane.submit(second, never, hondana::executor::job_priority::request, "alice"));
  ASSERT_TRUE(first.started->wait());
  const auto others = std::make_shared<door>();
  ASSERT_TRUE(lane.submit([others] { others->open(); }, never, hondana::executor::job_priority::request, "bob"));
  EXPECT_TRUE(others->wait());
  first.let_go->open();
  EXPECT_TRUE(second.started->wait()) << "a job that waited for its caller's other one was forgotten";
  second.let_go->open();
}

TEST(pool, has_as_many_threads_as_it_is_told_to_have_meanwhile) {
  thread_pool lane("disk", 1);
  const held_job first;
  const held_job second;
  ASSERT_TRUE(lane.submit(first, never));
  ASSERT_TRUE(first.started->wait());
  lane.set_limits({.max_threads = 2});
  ASSERT_TRUE(lane.submit(second, never));
  EXPECT_TRUE(second.started->wait());
  lane.set_limits({.max_threads = 1});
  first.let_go->open();
  const held_job third;
  const held_job fourth;
  ASSERT_TRUE(lane.submit(third, never));
  ASSERT_TRUE(lane.submit(fourth, never));
  second.let_go->open();
  ASSERT_TRUE(third.started->wait());
  third.let_go->open();
  ASSERT_TRUE(fourth.started->wait());
  fourth.let_go->open();
  EXPECT_TRUE(lane.close(clock::now() + event_deadline));
}

}  // namespace
