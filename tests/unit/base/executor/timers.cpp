/// Timers: order, forgetting, and the end of the thread.
#include "base/executor/timers.hpp"

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <new>
#include <vector>

#include <gtest/gtest.h>

#include <hondana/clock.hpp>

#include "deadline.hpp"

namespace {

using namespace std::chrono_literals;
using hondana::manual_clock;
using hondana::executor::clock;
using hondana::executor::timers;
using hondana_test::event_deadline;

TEST(timers, run_in_the_order_of_their_times) {
  manual_clock manual;
  std::vector<int> ran;
  std::promise<void> all;
  timers due;
  const auto start = clock::now();
  due.schedule(start + 20ms, [&] {
    ran.push_back(3);
    all.set_value();
  });
  due.schedule(start + 10ms, [&] { ran.push_back(2); });
  due.schedule(start - 1s, [&] { ran.push_back(1); });
  manual.advance(20ms);
  ASSERT_EQ(all.get_future().wait_for(event_deadline), std::future_status::ready);
  EXPECT_EQ(ran, (std::vector{1, 2, 3}));
}

TEST(timers, wake_for_one_that_is_due_before_the_one_they_sleep_for) {
  timers due;
  due.schedule(clock::now() + 1h, [] {});
  std::promise<void> early;
  due.schedule(clock::now() + 5ms, [&] { early.set_value(); });
  EXPECT_EQ(early.get_future().wait_for(event_deadline), std::future_status::ready);
}

TEST(timers, go_on_after_one_that_has_no_memory) {
  timers due;
  due.schedule(clock::now(), [] { throw std::bad_alloc(); });
  std::promise<void> next;
  due.schedule(clock::now(), [&] { next.set_value(); });
  EXPECT_EQ(next.get_future().wait_for(event_deadline), std::future_status::ready);
}

TEST(timers, that_were_cancelled_do_not_run_and_let_go_of_what_they_own) {
  manual_clock manual;
  timers due;
  std::atomic<bool> ran = false;
  const auto owned = std::make_shared<int>(0);
  const auto first = due.schedule(clock::now() + 10ms, [&ran, owned] { ran = true; });
  due.cancel(first);
  EXPECT_EQ(owned.use_count(), 1);
  std::promise<void> later;
  const auto second = due.schedule(clock::now() + 20ms, [&] { later.set_value(); });
  manual.advance(20ms);
  ASSERT_EQ(later.get_future().wait_for(event_deadline), std::future_status::ready);
  EXPECT_FALSE(ran);
  due.cancel(second);
  due.cancel(first);
  due.cancel(12345);
}

TEST(timers, may_be_set_and_cancelled_by_a_timer) {
  timers due;
  std::promise<void> last;
  due.schedule(clock::now(), [&] {
    due.cancel(due.schedule(clock::now() + 1h, [] {}));
    due.schedule(clock::now(), [&] { last.set_value(); });
  });
  EXPECT_EQ(last.get_future().wait_for(event_deadline), std::future_status::ready);
}

TEST(timers, destroyed_forget_what_is_not_due) {
  const auto owned = std::make_shared<int>(0);
  {
    timers due;
    due.schedule(clock::now() + 1h, [owned] {});
    EXPECT_EQ(owned.use_count(), 2);
  }
  EXPECT_EQ(owned.use_count(), 1);
}

TEST(timers, may_be_destroyed_by_the_function_that_owns_them) {
  manual_clock manual;
  std::promise<void> done;
  auto owner = std::make_shared<std::shared_ptr<timers>>(std::make_shared<timers>());
  auto& due = **owner;
  due.schedule(clock::now() + 1h, [] {});
  due.schedule(clock::now() + 5ms, [owner, &done] {
    owner->reset();
    done.set_value();
  });
  owner.reset();
  manual.advance(5ms);
  EXPECT_EQ(done.get_future().wait_for(event_deadline), std::future_status::ready);
}

}  // namespace
