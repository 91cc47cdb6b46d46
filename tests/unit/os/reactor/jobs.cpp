/// Jobs and times: order, threads, what throws, and the end.
#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "deadline.hpp"
#include "os/reactor/reactor.hpp"

namespace hondana::reactor {
namespace {

using namespace std::chrono_literals;

/// Calls a function when its time has come.
struct alarm final : event_handler {
  explicit alarm(reactor& by, std::function<void()> then) : then_(std::move(then)), timer_(by, *this) {}
  void on_timer() override { then_(); }
  std::function<void()> then_;
  timer timer_;
};

TEST(reactor_jobs, run_in_order_and_the_end_comes_after_them) {
  reactor one;
  std::vector<int> ran;
  one.post([&] {
    ran.push_back(1);
    one.post([&] { ran.push_back(3); });
  });
  one.post([&] { ran.push_back(2); });
  one.release();
  one.run();
  EXPECT_EQ(ran, (std::vector{1, 2, 3}));
}

TEST(reactor_jobs, of_other_threads_wake_it) {
  reactor one;
  std::thread runs([&] { one.run(); });
  for (int i = 0; i < 200; ++i) {
    std::promise<std::thread::id> ran;
    one.post([&] { ran.set_value(std::this_thread::get_id()); });
    auto where = ran.get_future();
    ASSERT_EQ(where.wait_for(hondana_test::event_deadline), std::future_status::ready) << i;
    EXPECT_EQ(where.get(), runs.get_id());
  }
  one.post([&] { one.release(); });
  runs.join();
}

TEST(reactor_jobs, of_many_threads_are_all_run) {
  reactor one;
  constexpr int threads = 4, each = 5000;
  std::size_t ran = 0;
  std::vector<int> last(threads, -1);
  bool is_in_order = true;
  std::thread runs([&] { one.run(); });
  std::vector<std::thread> all;
  for (int of = 0; of < threads; ++of) {
    all.emplace_back([&, of] {
      for (int i = 0; i < each; ++i) {
        one.post([&, of, i] {
          ++ran;
          is_in_order = is_in_order && last[static_cast<std::size_t>(of)] == i - 1;
          last[static_cast<std::size_t>(of)] = i;
        });
      }
    });
  }
  for (auto& each_one : all) each_one.join();
  one.post([&] { one.release(); });
  runs.join();
  EXPECT_EQ(ran, static_cast<std::size_t>(threads * each));
  EXPECT_TRUE(is_in_order);
}

TEST(reactor_jobs, are_run_at_once_where_they_belong) {
  reactor one;
  std::vector<int> ran;
  one.dispatch([&] { ran.push_back(0); });
  EXPECT_TRUE(ran.empty()) << "nobody is in `run`";
  one.post([&] {
    one.dispatch([&] { ran.push_back(1); });
    ran.push_back(2);
  });
  one.release();
  one.run();
  EXPECT_EQ(ran, (std::vector{0, 1, 2}));
}

TEST(reactor_jobs, that_throw_do_not_take_others_with_them) {
  reactor one;
  int ran = 0;
  one.post([&] { ++ran; });
  one.post([] { throw std::runtime_error("one of them"); });
  one.post([&] { ++ran; });
  one.release();
  EXPECT_THROW(one.run(), std::runtime_error);
  EXPECT_EQ(ran, 1);
  one.run();
  EXPECT_EQ(ran, 2);
}

TEST(reactor_jobs, posted_after_the_end_are_let_go_of) {
  reactor one;
  one.release();
  one.run();
  const auto kept = std::make_shared<int>(1);
  one.post([kept] { FAIL() << "it has ended"; });
  EXPECT_EQ(kept.use_count(), 1);
}

TEST(reactor_jobs, that_post_themselves_leave_others_their_turn) {
  reactor one;
  std::optional<alarm> rings;
  bool has_rung = false;
  std::function<void()> again = [&] {
    if (!has_rung) one.post(again);
  };
  rings.emplace(one, [&] { has_rung = true; });
  rings->timer_.set(clock::now() + 2ms);
  one.post(again);
  one.release();
  one.run();
  EXPECT_TRUE(has_rung);
}

TEST(reactor_timers, are_told_of_in_the_order_of_their_times_and_never_before) {
  reactor one;
  std::vector<int> rang;
  const auto start = clock::now();
  alarm third(one, [&] {
    EXPECT_GE(clock::now(), start + 12ms);
    rang.push_back(3);
  });
  alarm first(one, [&] { rang.push_back(1); });
  alarm second(one, [&] { rang.push_back(2); });
  third.timer_.set(start + 12ms);
  second.timer_.set(start + 6ms);
  first.timer_.set(start - 1h);
  one.release();
  one.run();
  EXPECT_EQ(rang, (std::vector{1, 2, 3}));
}

TEST(reactor_timers, may_be_moved_and_forgotten) {
  reactor one;
  std::vector<int> rang;
  alarm moved(one, [&] { rang.push_back(2); });
  alarm forgotten(one, [] { FAIL() << "nobody waits for it"; });
  alarm first(one, [&] {
    rang.push_back(1);
    forgotten.timer_.cancel();
  });
  forgotten.timer_.set(clock::now() + 2ms);
  first.timer_.set(clock::now() + 1ms);
  moved.timer_.set(clock::now() + 1h);
  moved.timer_.set(clock::now() + 3ms);
  forgotten.timer_.cancel();
  forgotten.timer_.set(clock::now() + 2ms);
  one.release();
  one.run();
  EXPECT_EQ(rang, (std::vector{1, 2}));
}

TEST(reactor_timers, that_are_always_due_leave_others_their_turn) {
  reactor one;
  int rang = 0;
  bool has_run = false;
  std::optional<alarm> hasty;
  hasty.emplace(one, [&] {
    if (!has_run) hasty->timer_.set(clock::now() - 1h);
    if (++rang == 3) one.post([&] { has_run = true; });
  });
  hasty->timer_.set(clock::now());
  one.release();
  one.run();
  EXPECT_TRUE(has_run);
}

TEST(reactor_timers, may_die_of_what_they_tell) {
  reactor one;
  std::unique_ptr<alarm> rings;
  rings = std::make_unique<alarm>(one, [&] { rings.reset(); });
  rings->timer_.set(clock::now());
  one.release();
  one.run();
  EXPECT_EQ(rings, nullptr);
}

}  // namespace
}  // namespace hondana::reactor
