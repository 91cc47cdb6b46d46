/// What becomes of a stream of messages whose client leaves and may come back.
#include <memory>
#include <span>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "unit/transport/http_server/carried_stream.hpp"

namespace {

namespace http = hondana::transport::http_server;
namespace rpc = hondana::rpc;
using http::a_log;
using http::carried_stream;
using http::kept;
using http::message_stream;
using http::portion;
using http::well;

// requires: 2026-07-28/transports.cancelled_silent
TEST(message_stream_left, forgets_everything_when_the_client_of_a_stateless_request_leaves) {
  carried_stream with({}, 300);
  const auto from = std::make_shared<well>();
  with.carry();
  with.stream->stream(from);
  with.stream->send("1");
  with.stream->detach(with.mine);
  EXPECT_FALSE(from->is_followed());
  with.stream->send("2");
  with.answer("3");
  EXPECT_TRUE(with.stream->is_finished());
  EXPECT_TRUE(with.budget->reserve(300)) << "nothing waits any more";
}

TEST(message_stream_left, numbers_events_and_gives_those_after_one_again) {
  carried_stream with(kept(a_log()));
  with.carry();
  with.stream->send("a");
  with.stream->send("b");
  EXPECT_EQ(with.next(), "opening id 4-1");
  EXPECT_EQ(with.next(), "message a id 4-2");
  EXPECT_EQ(with.next(), "message b id 4-3");
  with.stream->detach(with.mine);
  with.stream->send("c");
  with.answer("d");
  with.carry(http::event_id{4, 2});
  EXPECT_EQ(with.next(), "opening") << "who comes back after an event needs no new one to come back with";
  EXPECT_EQ(with.next(), "message b id 4-3");
  EXPECT_EQ(with.next(), "message c id 4-4");
  EXPECT_EQ(with.next(), "answer d id 4-5");
  EXPECT_EQ(with.next(), "end");
  with.carry(http::event_id{4, 4});
  EXPECT_EQ(with.next(), "opening");
  EXPECT_EQ(with.next(), "message d id 4-5") << "an answer that may not have arrived can be had again";
  EXPECT_EQ(with.next(), "end");
}

// requires: */transports.response_before_close
TEST(message_stream_left, is_released_only_where_clients_come_back) {
  carried_stream polling(kept(a_log()));
  polling.carry();
  polling.stream->release(std::chrono::milliseconds(500));
  EXPECT_EQ(polling.next(), "opening id 4-1");
  EXPECT_EQ(polling.next(), "retry 500");
  polling.stream->detach(polling.mine);
  polling.stream->release(std::chrono::milliseconds(500));
  polling.answer("late");
  polling.carry(http::event_id{4, 1});
  EXPECT_EQ(polling.next(), "opening");
  EXPECT_EQ(polling.next(), "answer late id 4-2");

  auto older = kept(a_log());
  older.supports_polling = false;
  for (auto& is : {older, message_stream::traits{}}) {
    carried_stream with(is);
    with.carry();
    with.stream->release(std::chrono::milliseconds(500));
    EXPECT_EQ(with.next(), "nothing");
  }
}

TEST(message_stream_left, a_second_carrier_takes_over_and_no_message_comes_twice) {
  auto is = kept(a_log(), 1);
  is.has_answer = false;
  carried_stream with(is);
  const auto from = std::make_shared<well>();
  with.stream->stream(from);
  with.carry();
  EXPECT_EQ(with.next(), "opening id 1-1");
  EXPECT_EQ(with.next(), "nothing");
  const auto first = with.mine;
  const auto woken = with.carrier->woken;
  with.carry();
  EXPECT_EQ(with.carrier->woken, woken + 1) << "the first one learns of it";
  from->pour("changed");
  const auto lost = with.stream->next(first);
  ASSERT_TRUE(lost);
  EXPECT_EQ(lost->type, portion::kind::end);
  EXPECT_EQ(with.next(), "opening id 1-2");
  EXPECT_EQ(with.next(), "message changed id 1-3");
  with.stream->detach(first);
  EXPECT_TRUE(with.stream->is_attached()) << "the first one has nothing to let go any more";
}

TEST(message_stream_left, a_request_whose_client_left_before_anything_was_said_keeps_nothing) {
  carried_stream with(kept(a_log()), 300);
  with.carry();
  EXPECT_EQ(with.next(), "nothing");
  with.stream->detach(with.mine);
  with.stream->send("1");
  with.answer("2");
  EXPECT_TRUE(with.stream->is_finished());
  EXPECT_TRUE(with.budget->reserve(300));
}

TEST(message_stream_left, drops_the_answer_of_a_stream_nobody_carries_when_there_is_no_room) {
  carried_stream with(kept(a_log()), 300);
  with.carry();
  with.stream->send("1");
  EXPECT_EQ(with.next(), "opening id 4-1");
  EXPECT_EQ(with.next(), "message 1 id 4-2");
  with.stream->detach(with.mine);
  with.answer(std::string(5'000, 'x'));
  EXPECT_TRUE(with.stream->is_finished());
  with.carry(http::event_id{4, 2});
  EXPECT_EQ(with.next(), "opening");
  EXPECT_EQ(with.next(), "end");
}

// attacks: resource exhaustion (an answer that nobody takes any more)
TEST(message_stream_left, counts_what_waits_when_its_carrier_leaves) {
  carried_stream with(kept(a_log()), 10'000);
  with.carry();
  with.stream->send("1");
  EXPECT_EQ(with.next(), "opening id 4-1");
  with.answer(std::string(5'000, 'x'));
  with.stream->detach(with.mine);
  EXPECT_FALSE(with.budget->reserve(5'000)) << "it counts";
  with.carry(http::event_id{4, 1});
  EXPECT_EQ(with.next(), "opening");
  EXPECT_EQ(with.next(), "message 1 id 4-2");
  EXPECT_EQ(with.next(), "answer " + std::string(5'000, 'x') + " id 4-3");
  EXPECT_TRUE(with.budget->reserve(10'000));
}

TEST(message_stream_left, keeps_no_file_open_for_who_has_left) {
  class nothing final : public hondana::byte_reader {
   public:
    std::uint64_t size() const noexcept override { return 0; }
    hondana::result<std::size_t> read(std::span<char>) override { return std::size_t{0}; }
    hondana::result<void> rewind() override { return {}; }
  };
  carried_stream with(kept(a_log()), 10u << 20);
  with.carry();
  with.stream->send("1");
  EXPECT_EQ(with.next(), "opening id 4-1");
  auto reader = std::make_shared<nothing>();
  const std::weak_ptr<nothing> open = reader;
  rpc::body content;
  hondana::bytes::prepared_content item;
  item.data = hondana::bytes::verified_stream{std::move(reader), {}};
  content.append(std::move(item), nullptr);
  with.stream->answer({200, std::move(content)});
  EXPECT_FALSE(open.expired());
  with.stream->detach(with.mine);
  EXPECT_TRUE(open.expired());
  EXPECT_TRUE(with.stream->is_finished());
}

TEST(message_stream_left, ends_for_everybody_when_its_session_ends) {
  auto is = kept(a_log());
  carried_stream with(is);
  const auto from = std::make_shared<well>();
  with.carry();
  with.stream->stream(from);
  EXPECT_EQ(with.next(), "opening id 4-1");
  EXPECT_EQ(with.next(), "nothing");
  with.stream->end();
  EXPECT_EQ(with.carrier->woken, 1);
  EXPECT_EQ(with.next(), "end");
  EXPECT_FALSE(from->is_followed());
  with.answer("late");
  EXPECT_EQ(with.next(), "end");
}

}  // namespace
