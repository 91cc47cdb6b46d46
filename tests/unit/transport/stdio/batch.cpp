/// Answers at hand: written together and by whoever has them, in order, and never at the price of waiting for the peer.
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "deadline.hpp"
#include "transport/stdio/line_writer.hpp"
#include "unit/transport/stdio/watched_answers.hpp"

namespace hondana::transport::stdio {
namespace {

using namespace std::chrono_literals;
using hondana_test::event_deadline;
using rpc::delivery_outcome;

/// A peer that sees each write apart: one packet each.
class a_batch : public testing::Test {
 public:
  ~a_batch() override {
    leave();
    ::close(ends_[1]);
  }
  a_batch(const a_batch&) = delete;
  a_batch& operator=(const a_batch&) = delete;

 protected:
  a_batch() {
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends_.data()), 0);
    const timeval patience{std::chrono::seconds(event_deadline).count(), 0};
    EXPECT_EQ(::setsockopt(ends_[0], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience), 0);
  }

  void leave() {
    if (ends_[0] >= 0) ::close(std::exchange(ends_[0], -1));
  }
  std::string packet() const {
    std::string out(1u << 20, ' ');
    const auto count = ::recv(ends_[0], out.data(), out.size(), 0);
    out.resize(count < 0 ? 0 : static_cast<std::size_t>(count));
    return out;
  }
  bool is_silent() const {
    char one = 0;
    return ::recv(ends_[0], &one, 1, MSG_DONTWAIT | MSG_PEEK) < 0;
  }

  std::array<int, 2> ends_{-1, -1};
  watched all_;
};

TEST_F(a_batch, leaves_in_one_write_of_the_thread_that_ends_it) {
  line_writer out(ends_[1], {}, {});
  out.begin_batch();
  for (const auto* text : {"1", "2", "3"}) {
    out.admit_request({});
    out.answer(all_.of(text));
  }
  EXPECT_TRUE(is_silent());
  out.end_batch();
  EXPECT_EQ(all_.told, std::vector<delivery_outcome>(3, delivery_outcome::sent));
  EXPECT_EQ(all_.tellers, std::vector<std::thread::id>(3, std::this_thread::get_id()));
  EXPECT_EQ(packet(), "1\n2\n3\n");
}

TEST_F(a_batch, keeps_the_order_of_what_other_threads_send_meanwhile) {
  line_writer out(ends_[1], {}, {});
  out.begin_batch();
  out.admit_request({});
  out.admit_request({});
  out.answer(all_.of("1"));
  std::thread([&out] { EXPECT_EQ(out.send("2"), rpc::send_outcome::accepted); }).join();
  std::thread([&] { out.answer(all_.of("3")); }).join();
  out.answer(all_.of("4"));
  out.end_batch();
  std::string got;
  while (got.size() < 8) {
    const auto more = packet();
    ASSERT_FALSE(more.empty());
    got += more;
  }
  EXPECT_EQ(got, "1\n2\n3\n4\n");
}

TEST_F(a_batch, makes_nobody_else_wait_for_its_end) {
  line_writer out(ends_[1], {}, {});
  out.begin_batch();
  out.admit_request({});
  out.admit_request({});
  std::thread([&] { out.answer(all_.of("1")); }).join();
  EXPECT_EQ(packet(), "1\n");
  out.end_batch();
}

/// A source of messages that has one when it is told so.
struct one_message final : rpc::message_source {
  void set_listener(std::weak_ptr<rpc::source_listener> by) override { follower = std::move(by); }
  [[nodiscard]] std::optional<std::string> next() override { return std::exchange(message, std::nullopt); }
  [[nodiscard]] bool is_finished() const override { return false; }
  void say(std::string text) {
    message = std::move(text);
    if (const auto there = follower.lock()) there->notify();
  }
  std::weak_ptr<rpc::source_listener> follower;
  std::optional<std::string> message;
};

TEST_F(a_batch, is_not_overtaken_by_what_a_source_says_meanwhile) {
  line_writer out(ends_[1], {}, {});
  const auto source = std::make_shared<one_message>();
  out.stream(source);
  out.begin_batch();
  out.admit_request({});
  out.answer(all_.of("1"));
  source->say("2");
  EXPECT_EQ(packet(), "1\n2\n");
  out.end_batch();
  EXPECT_TRUE(is_silent());
}

TEST_F(a_batch, is_written_before_its_end_when_there_is_enough_of_it) {
  line_writer out(ends_[1], {}, {});
  out.begin_batch();
  const std::string some(20'000, 'x');
  out.answer(all_.of(some));
  EXPECT_TRUE(is_silent());
  out.answer(all_.of(some));
  EXPECT_EQ(packet(), some + '\n' + some + '\n');
  out.end_batch();
  EXPECT_TRUE(is_silent());
}

TEST_F(a_batch, keeps_its_order_around_an_answer_that_is_too_big_for_it) {
  line_writer out(ends_[1], {}, {});
  const std::string big(100'000, 'x');
  out.begin_batch();
  out.answer(all_.of("1"));
  out.answer(all_.of(big));
  out.answer(all_.of("3"));
  out.end_batch();
  std::string got;
  while (got.size() < big.size() + 5) {
    const auto more = packet();
    ASSERT_FALSE(more.empty());
    got += more;
  }
  EXPECT_EQ(got, "1\n" + big + "\n3\n");
  EXPECT_EQ(all_.wait_for(3), std::vector<delivery_outcome>(3, delivery_outcome::sent));
}

TEST_F(a_batch, that_nobody_can_take_any_more_is_gone_and_said_so_once) {
  std::vector<std::string> log;
  line_writer out(ends_[1], {}, [&log](std::string_view line) { log.emplace_back(line); });
  leave();
  out.begin_batch();
  out.answer(all_.of("1"));
  out.answer(all_.of("2"));
  out.end_batch();
  EXPECT_EQ(all_.told, std::vector<delivery_outcome>(2, delivery_outcome::disconnected));
  ASSERT_EQ(log.size(), 1u);
  EXPECT_TRUE(log.front().starts_with("output: The peer closed the connection.")) << log.front();
  EXPECT_EQ(out.send("3"), rpc::send_outcome::disconnected);
}

TEST_F(a_batch, that_is_not_ended_is_written_all_the_same) {
  {
    line_writer out(ends_[1], {}, {});
    out.begin_batch();
    out.answer(all_.of("1"));
  }
  EXPECT_EQ(packet(), "1\n");
}

TEST_F(a_batch, leaves_the_last_answer_under_way_to_whoever_has_it) {
  line_writer out(ends_[1], {}, {});
  out.admit_request({});
  std::thread::id who;
  std::thread answering([&] {
    who = std::this_thread::get_id();
    out.answer(all_.of("1"));
  });
  answering.join();
  EXPECT_EQ(packet(), "1\n");
  ASSERT_EQ(all_.tellers.size(), 1u);
  EXPECT_EQ(all_.tellers.front(), who);
}

TEST_F(a_batch, leaves_answers_with_others_behind_them_to_the_thread_that_writes_them_together) {
  line_writer out(ends_[1], {}, {});
  out.admit_request({});
  out.admit_request({});
  out.answer(all_.of("1"));
  (void)all_.wait_for(1);
  EXPECT_NE(all_.tellers.front(), std::this_thread::get_id());
  EXPECT_EQ(packet(), "1\n");
}

/// Pipes, whose other end takes nothing unless asked.
class a_pipe : public testing::TestWithParam<bool> {
 public:
  ~a_pipe() override {
    leave();
    ::close(ends_[1]);
    (void)std::signal(SIGPIPE, before_);
  }
  a_pipe(const a_pipe&) = delete;
  a_pipe& operator=(const a_pipe&) = delete;

 protected:
  a_pipe() : before_(std::signal(SIGPIPE, GetParam() ? SIG_IGN : SIG_DFL)) { EXPECT_EQ(::pipe(ends_.data()), 0); }

  void leave() {
    if (ends_[0] >= 0) ::close(std::exchange(ends_[0], -1));
  }
  std::string read(std::size_t size) const {
    std::string out;
    std::array<char, 65536> buffer{};
    while (out.size() < size) {
      const auto count = ::read(ends_[0], buffer.data(), std::min(buffer.size(), size - out.size()));
      if (count <= 0) break;
      out.append(buffer.data(), static_cast<std::size_t>(count));
    }
    return out;
  }

  std::array<int, 2> ends_{-1, -1};
  watched all_;

 private:
  void (*before_)(int);
};

TEST_P(a_pipe, that_fills_up_in_the_middle_of_a_batch_gets_the_rest_in_order_later) {
  line_writer out(ends_[1], {}, {});
  std::string expected;
  for (int round = 0; round < 3; ++round) {
    out.begin_batch();
    for (int i = 0; i < 40; ++i) {
      const auto text = std::to_string(round * 100 + i) + std::string(2000, 'x');
      expected += text + '\n';
      out.admit_request({});
      out.answer(all_.of(text));
    }
    out.end_batch();  // returns although nobody reads
  }
  EXPECT_EQ(read(expected.size()), expected);
  EXPECT_EQ(all_.wait_for(120), std::vector<delivery_outcome>(120, delivery_outcome::sent));
  EXPECT_TRUE(out.finish(std::chrono::steady_clock::now() + event_deadline));
}

TEST_P(a_pipe, whose_reader_has_gone_is_an_error_and_no_signal) {
  line_writer out(ends_[1], {}, {});
  leave();
  out.begin_batch();
  out.answer(all_.of("1"));
  out.end_batch();
  EXPECT_EQ(all_.wait_for(1), std::vector<delivery_outcome>{delivery_outcome::disconnected});
  EXPECT_FALSE(out.finish(std::chrono::steady_clock::now() + event_deadline));
}

TEST_P(a_pipe, is_written_by_whoever_has_the_answers_only_where_no_signal_can_come_of_it) {
  line_writer out(ends_[1], {}, {});
  out.begin_batch();
  out.answer(all_.of("1"));
  out.end_batch();
  EXPECT_EQ(read(2), "1\n");
  (void)all_.wait_for(1);
  EXPECT_EQ(all_.tellers.front() == std::this_thread::get_id(), GetParam());
}

TEST_P(a_pipe, that_takes_nothing_is_given_up_with_what_was_left_of_a_batch) {
  line_writer::limits within;
  within.stall_timeout = 50ms;
  line_writer out(ends_[1], within, {});
  out.begin_batch();
  for (int i = 0; i < 100; ++i) out.answer(all_.of(std::string(2000, 'x')));
  out.end_batch();
  const auto told = all_.wait_for(100);
  EXPECT_EQ(told.size(), 100u);
  EXPECT_NE(told.back(), delivery_outcome::sent);
  EXPECT_FALSE(out.finish(std::chrono::steady_clock::now() + event_deadline));
}

INSTANTIATE_TEST_SUITE_P(signals, a_pipe, testing::Bool());

}  // namespace
}  // namespace hondana::transport::stdio
