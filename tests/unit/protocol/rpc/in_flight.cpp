/// Replies: once, in every order of sending, dropping and cancelling.
#include "protocol/rpc/pending_requests.hpp"

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace {

using namespace hondana;
using rpc::pending_reply;
using rpc::pending_requests;
using rpc::request_id;

rpc::outgoing_response text(std::string what) { return {200, rpc::body(std::move(what))}; }

/// What came out of one request: its text, "cancelled", or nothing yet.
struct outcome {
  std::vector<std::string> answers;
  pending_requests::sink taker() {
    return [this](std::optional<rpc::outgoing_response> what) {
      answers.push_back(what ? what->content->extract_text() : "cancelled");
    };
  }
};

struct in_flight_table : testing::Test {
  std::shared_ptr<pending_requests> table = std::make_shared<pending_requests>();
  outcome got;

  pending_reply open(request_id id = std::int64_t{1}) { return *table->open(id, 10, got.taker(), text("dropped")); }
};

TEST_F(in_flight_table, sends_the_first_answer_only) {
  auto duty = open();
  EXPECT_EQ(table->size(), 1);
  duty.send(text("first"));
  duty.send(text("second"));
  EXPECT_EQ(got.answers, (std::vector<std::string>{"first"}));
  EXPECT_EQ(table->size(), 0);
}

TEST_F(in_flight_table, answers_for_a_reply_that_was_dropped) {
  {
    const auto duty = open();
  }
  EXPECT_EQ(got.answers, (std::vector<std::string>{"dropped"}));
  EXPECT_EQ(table->size(), 0);
}

TEST_F(in_flight_table, answers_once_for_a_reply_that_was_moved) {
  {
    auto duty = open();
    auto moved = std::move(duty);
    auto again = std::move(moved);
    again.send(text("sent"));
  }
  EXPECT_EQ(got.answers, (std::vector<std::string>{"sent"}));
}

TEST_F(in_flight_table, cancels_at_once_and_drops_the_late_answer) {
  auto duty = open();
  const auto stop = duty.stop();
  EXPECT_FALSE(stop.stop_requested());
  EXPECT_TRUE(table->cancel(std::int64_t{1}));
  EXPECT_TRUE(stop.stop_requested());
  EXPECT_FALSE(table->cancel(std::int64_t{1}));
  duty.send(text("late"));
  EXPECT_EQ(got.answers, (std::vector<std::string>{"cancelled"}));
}

TEST_F(in_flight_table, knows_ids_by_kind_and_refuses_one_in_use) {
  auto number = open(std::int64_t{1});
  outcome other;
  EXPECT_EQ(table->open(std::int64_t{1}, 10, other.taker(), text("x")).error(), pending_requests::rejection::in_use);
  EXPECT_TRUE(other.answers.empty());
  auto string = table->open(std::string("1"), 10, other.taker(), text("x"));
  ASSERT_TRUE(string);
  EXPECT_FALSE(table->cancel(std::string("2")));
  string->send(text("string"));
  number.send(text("number"));
  EXPECT_EQ(other.answers, (std::vector<std::string>{"string"}));
  EXPECT_EQ(got.answers, (std::vector<std::string>{"number"}));
}

TEST_F(in_flight_table, does_not_take_a_reused_id_for_the_cancelled_one) {
  auto old = open();
  ASSERT_TRUE(table->cancel(std::int64_t{1}));
  outcome fresh;
  auto now = table->open(std::int64_t{1}, 10, fresh.taker(), text("x"));
  ASSERT_TRUE(now);
  old.send(text("old"));
  EXPECT_TRUE(fresh.answers.empty());
  now->send(text("new"));
  EXPECT_EQ(fresh.answers, (std::vector<std::string>{"new"}));
  EXPECT_EQ(got.answers, (std::vector<std::string>{"cancelled"}));
}

TEST_F(in_flight_table, refuses_requests_beyond_its_limit) {
  auto first = table->open(std::int64_t{1}, 1, got.taker(), text("x"));
  ASSERT_TRUE(first);
  EXPECT_EQ(table->open(std::int64_t{2}, 1, got.taker(), text("x")).error(), pending_requests::rejection::full);
  first->send(text("one"));
  EXPECT_TRUE(table->open(std::int64_t{2}, 1, got.taker(), text("x")));
}

TEST_F(in_flight_table, cancels_everything_for_a_peer_that_has_gone) {
  auto one = open(std::int64_t{1});
  auto two = open(std::string("two"));
  table->cancel_all();
  EXPECT_TRUE(one.stop().stop_requested());
  EXPECT_TRUE(two.stop().stop_requested());
  EXPECT_EQ(got.answers, (std::vector<std::string>{"cancelled", "cancelled"}));
  EXPECT_EQ(table->size(), 0);
}

TEST_F(in_flight_table, may_be_used_by_its_own_sinks) {
  auto duty = *table->open(std::int64_t{1}, 10, [this](auto) { table->cancel_all(); }, text("x"));
  auto other = open(std::int64_t{2});
  duty.send(text("one"));
  EXPECT_EQ(got.answers, (std::vector<std::string>{"cancelled"}));
}

TEST(in_flight_race, between_answer_and_cancellation_has_one_winner) {
  const auto table = std::make_shared<pending_requests>();
  for (int round = 0; round < 500; ++round) {
    std::atomic<int> calls = 0;
    auto duty = *table->open(std::int64_t{round}, 10, [&calls](auto) { ++calls; }, text("x"));
    std::thread cancelling([&table, round] { table->cancel(std::int64_t{round}); });
    duty.send(text("answer"));
    cancelling.join();
    ASSERT_EQ(calls, 1);
  }
}

}  // namespace
