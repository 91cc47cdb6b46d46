/// Every call is answered exactly once, whatever its source does.
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <stop_token>

#include <gtest/gtest.h>

#include "unit/server/catalog/scripted_provider.hpp"

namespace {

using namespace hondana;
using namespace std::chrono_literals;
using catalog::read_answer;
using hondana_test::event_deadline;
using hondana_test::eventually;
using test::answer;
using test::arrange;
using test::event;
using test::scripted_provider;

/// A source that holds every read until it is let go.
struct held_source {
  std::shared_ptr<scripted_provider> what =
      std::make_shared<scripted_provider>("slow disk", std::vector<std::string>{"memo:///"});
  std::shared_ptr<event> started = std::make_shared<event>();
  std::shared_ptr<event> let_go = std::make_shared<event>();
  std::shared_ptr<std::atomic<int>> reads = std::make_shared<std::atomic<int>>(0);

  explicit held_source(std::size_t threads) {
    what->threads = threads;
    what->on_read = [started = started, let_go = let_go, reads = reads](const read_request&) -> result<read_result> {
      ++*reads;
      started->happen();
      let_go->wait();
      return text_read_result("late");
    };
  }
};

TEST(deadline, that_passes_first_is_answered_and_the_late_result_is_dropped) {
  manual_clock clock;
  held_source held(1);
  const auto catalog = arrange({held.what});
  ASSERT_TRUE(catalog);
  const answer<read_answer> first;
  (*catalog)->read(test::due_in(20ms), "memo:///a", "memo:///a", first.taker());
  ASSERT_TRUE(held.started->wait());
  EXPECT_EQ(first.count(), 0);
  clock.advance(20ms);
  const auto& found = first.wait();
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, errc::timed_out);
  EXPECT_EQ(found.error().public_text, "The source \"slow disk\" did not answer in time. Retry later.");
  held.let_go->happen();
  EXPECT_TRUE((*catalog)->sources()[0]->close(monotonic_clock::now() + event_deadline));
  EXPECT_EQ(first.count(), 1);
  EXPECT_EQ(*held.reads, 1);
}

TEST(deadline, passed_by_all_threads_makes_the_source_fail_at_once) {
  manual_clock clock;
  held_source held(2);
  const auto catalog = arrange({held.what});
  ASSERT_TRUE(catalog);
  const answer<read_answer> late[2];
  for (const auto& one : late) (*catalog)->read(test::due_in(20ms), "memo:///a", "memo:///a", one.taker());
  ASSERT_TRUE(eventually([&] { return *held.reads == 2; }));
  clock.advance(21ms);
  for (const auto& one : late) EXPECT_EQ(one.wait().error().code, errc::timed_out);

  const answer<read_answer> refused;
  (*catalog)->read({}, "memo:///a", "memo:///a", refused.taker());
  ASSERT_EQ(refused.count(), 1);
  EXPECT_EQ(refused.wait().error().code, errc::source_unavailable);
  EXPECT_NE(refused.wait().error().public_text.find("\"slow disk\""), std::string::npos);
  held.let_go->happen();
}

TEST(deadline, of_a_waiting_call_is_kept_and_the_call_is_never_run) {
  manual_clock clock;
  held_source held(1);
  const auto catalog = arrange({held.what});
  ASSERT_TRUE(catalog);
  const answer<read_answer> running;
  (*catalog)->read({}, "memo:///a", "memo:///a", running.taker());
  ASSERT_TRUE(held.started->wait());
  const answer<read_answer> waiting;
  (*catalog)->read(test::due_in(10ms), "memo:///b", "memo:///b", waiting.taker());
  clock.advance(10ms);
  EXPECT_EQ(waiting.wait().error().code, errc::timed_out);
  held.let_go->happen();
  const answer<read_answer> last;
  (*catalog)->read({}, "memo:///c", "memo:///c", last.taker());
  ASSERT_TRUE(last.wait());
  EXPECT_EQ(*held.reads, 2);
  EXPECT_EQ(waiting.count(), 1);
}

TEST(queue, that_is_full_answers_overloaded) {
  held_source held(1);
  const auto catalog = arrange({held.what}, {}, nullptr, 1);
  ASSERT_TRUE(catalog);
  const answer<read_answer> running;
  (*catalog)->read({}, "memo:///a", "memo:///a", running.taker());
  ASSERT_TRUE(held.started->wait());
  const answer<read_answer> waiting;
  const answer<read_answer> refused;
  (*catalog)->read({}, "memo:///b", "memo:///b", waiting.taker());
  (*catalog)->read({}, "memo:///c", "memo:///c", refused.taker());
  ASSERT_EQ(refused.count(), 1);
  EXPECT_EQ(refused.wait().error().code, errc::overloaded);
  held.let_go->happen();
  EXPECT_TRUE(waiting.wait());
}

TEST(cancellation, before_the_start_answers_cancelled_without_running) {
  held_source held(1);
  const auto catalog = arrange({held.what});
  ASSERT_TRUE(catalog);
  const answer<read_answer> running;
  (*catalog)->read({}, "memo:///a", "memo:///a", running.taker());
  ASSERT_TRUE(held.started->wait());
  std::stop_source stop;
  request_context stopped;
  stopped.stop = stop.get_token();
  const answer<read_answer> waiting;
  (*catalog)->read(stopped, "memo:///b", "memo:///b", waiting.taker());
  stop.request_stop();
  held.let_go->happen();
  EXPECT_EQ(waiting.wait().error().code, errc::cancelled);
  EXPECT_EQ(*held.reads, 1);
}

TEST(closing, answers_waiting_calls_and_abandons_running_ones) {
  held_source held(1);
  const auto catalog = arrange({held.what});
  ASSERT_TRUE(catalog);
  const answer<read_answer> running;
  const answer<read_answer> waiting;
  (*catalog)->read({}, "memo:///a", "memo:///a", running.taker());
  ASSERT_TRUE(held.started->wait());
  (*catalog)->read({}, "memo:///b", "memo:///b", waiting.taker());
  EXPECT_FALSE((*catalog)->sources()[0]->close(monotonic_clock::now()));
  ASSERT_EQ(waiting.count(), 1);
  EXPECT_EQ(waiting.wait().error().code, errc::source_unavailable);
  EXPECT_EQ(waiting.wait().error().public_text,
            "The source \"slow disk\" did not start this request: it is shutting down, or memory is short. Retry later.");
  held.let_go->happen();
  EXPECT_TRUE(running.wait());
  EXPECT_TRUE((*catalog)->sources()[0]->close(monotonic_clock::now() + event_deadline));
}

TEST(abandoned_call, may_end_after_the_catalog_has_gone) {
  held_source held(1);
  const answer<read_answer> running;
  {
    const auto catalog = arrange({held.what});
    ASSERT_TRUE(catalog);
    (*catalog)->read(test::due_in(1h), "memo:///a", "memo:///a", running.taker());
    ASSERT_TRUE(held.started->wait());
  }
  held.let_go->happen();
  ASSERT_TRUE(running.wait());
  EXPECT_EQ(**std::get_if<shared_bytes>(&running.wait()->reading.contents[0].data), "late");
}

TEST(exception, from_a_source_becomes_an_internal_error_whose_reason_stays_here) {
  for (const bool is_inline : {false, true}) {
    auto throwing = std::make_shared<scripted_provider>("bad", std::vector<std::string>{"memo:///"});
    throwing->is_inline = is_inline;
    throwing->on_read = [](const read_request& request) -> result<read_result> {
      if (request.uri == "memo:///odd") throw 7;
      throw std::runtime_error("/secret/path is broken");
    };
    const auto catalog = arrange({throwing});
    ASSERT_TRUE(catalog);
    const answer<read_answer> thrown;
    (*catalog)->read({}, "memo:///a", "memo:///a", thrown.taker());
    EXPECT_EQ(thrown.wait().error().code, errc::internal);
    EXPECT_EQ(thrown.wait().error().public_text,
              "The source \"bad\" failed on this request; the reason is in the server's log.");
    EXPECT_NE(thrown.wait().error().private_text.find("/secret/path is broken"), std::string::npos);
    const answer<read_answer> odd;
    (*catalog)->read({}, "memo:///odd", "memo:///odd", odd.taker());
    EXPECT_EQ(odd.wait().error().code, errc::internal);
  }
}

TEST(failure_of_a_source, names_it_where_it_is_the_reason) {
  auto failing = std::make_shared<scripted_provider>("remote", std::vector<std::string>{"memo:///"});
  failing->on_read = [](const read_request&) { return fail(errc::timed_out, "The deadline passed."); };
  const auto catalog = arrange({failing});
  const answer<read_answer> late;
  (*catalog)->read({}, "memo:///a", "memo:///a", late.taker());
  EXPECT_EQ(late.wait().error().public_text, "The source \"remote\" failed: The deadline passed.");
}

TEST(source_that_never_blocks, answers_before_the_call_returns) {
  auto quick = std::make_shared<scripted_provider>("quick", std::vector<std::string>{"memo:///"});
  quick->is_inline = true;
  const auto catalog = arrange({quick});
  ASSERT_TRUE(catalog);
  const answer<read_answer> found;
  (*catalog)->read(test::due_in(1h), "memo:///a", "memo:///a", found.taker());
  EXPECT_EQ(found.count(), 1);
  EXPECT_TRUE((*catalog)->sources()[0]->close(monotonic_clock::now()));
}

}  // namespace
