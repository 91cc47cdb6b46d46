/// One stream of messages: who fills it, who carries it, and what happens between them.
#include "transport/http_server/message_stream.hpp"

#include <atomic>
#include <memory>
#include <string>
#include <thread>
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
using http::well;
using form = message_stream::response_format;

TEST(message_stream, an_answer_alone_opens_nothing) {
  carried_stream with;
  with.carry();
  EXPECT_EQ(with.next(), "nothing");
  with.answer("{}");
  EXPECT_EQ(with.carrier->woken, 1);
  EXPECT_EQ(with.next(), "answer {}");
  EXPECT_EQ(with.next(), "end");
}

TEST(message_stream, what_goes_before_the_answer_opens_it) {
  carried_stream with;
  with.carry();
  with.stream->send("1");
  with.stream->send("2");
  with.answer("3");
  EXPECT_EQ(with.next(), "opening");
  EXPECT_EQ(with.next(), "message 1");
  EXPECT_EQ(with.next(), "message 2");
  EXPECT_EQ(with.next(), "answer 3");
}

TEST(message_stream, who_takes_json_alone_gets_the_answer_alone) {
  message_stream::traits is;
  is.format = form::json;
  carried_stream with(std::move(is));
  const auto from = std::make_shared<well>();
  with.carry();
  with.stream->send("1");
  with.stream->stream(from);
  EXPECT_FALSE(from->is_followed());
  with.answer("2");
  EXPECT_EQ(with.next(), "answer 2");
}

TEST(message_stream, who_takes_events_alone_gets_errors_with_their_status) {
  message_stream::traits is;
  is.format = form::events;
  carried_stream good(is);
  good.carry();
  good.answer("{}");
  EXPECT_EQ(good.next(), "opening");
  EXPECT_EQ(good.next(), "answer {}");
  carried_stream bad(is);
  bad.carry();
  bad.answer("{}", 404);
  EXPECT_EQ(bad.next(), "answer {}");
}

TEST(message_stream, wakes_its_carrier_once_after_it_had_nothing) {
  carried_stream with;
  with.carry();
  with.stream->send("1");
  EXPECT_EQ(with.carrier->woken, 0) << "its carrier asks by itself first";
  EXPECT_EQ(with.next(), "opening");
  EXPECT_EQ(with.next(), "message 1");
  EXPECT_EQ(with.next(), "nothing");
  with.stream->send("2");
  with.stream->send("3");
  EXPECT_EQ(with.carrier->woken, 1);
}

TEST(message_stream, asks_its_sources_only_when_its_carrier_has_room) {
  carried_stream with;
  const auto from = std::make_shared<well>();
  with.carry();
  with.stream->stream(from);
  EXPECT_EQ(with.next(), "opening") << "a followed source needs a stream at once";
  EXPECT_EQ(with.next(), "nothing");
  from->pour("1");
  from->pour("2");
  EXPECT_EQ(with.carrier->woken, 1);
  const auto before = from->asked;
  EXPECT_EQ(with.next(), "message 1");
  EXPECT_EQ(from->asked, before + 1);
  EXPECT_EQ(with.next(), "message 2");
  EXPECT_EQ(with.next(), "nothing");
}

TEST(message_stream, what_sources_still_have_goes_before_the_answer) {
  carried_stream with;
  const auto from = std::make_shared<well>();
  with.carry();
  with.stream->send("acknowledged");
  with.stream->stream(from);
  from->pour("changed");
  with.answer("over");
  EXPECT_EQ(with.next(), "opening");
  EXPECT_EQ(with.next(), "message acknowledged");
  EXPECT_EQ(with.next(), "message changed");
  EXPECT_EQ(with.next(), "answer over");
}

TEST(message_stream, drops_notifications_beyond_the_room_and_keeps_the_answer) {
  message_stream::traits is;
  int dropped = 0;
  is.on_dropped = [&dropped] { ++dropped; };
  carried_stream with(std::move(is), 1'000);
  with.carry();
  for (int i = 0; i < 10; ++i) with.stream->send(std::string(200, 'x'));
  with.answer(std::string(5'000, 'y'));
  EXPECT_EQ(dropped, 1) << "seven were, and it was said once";
  EXPECT_EQ(with.next(), "opening");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(with.next(), "message " + std::string(200, 'x'));
  EXPECT_EQ(with.next(), "answer " + std::string(5'000, 'y'));
  EXPECT_TRUE(with.budget->reserve(1'000)) << "all room was given back";
}

TEST(message_stream, says_what_became_of_a_message) {
  message_stream::traits is;
  is.format = form::json;
  carried_stream takes_json(is);
  takes_json.carry();
  EXPECT_EQ(takes_json.stream->send("1"), rpc::send_outcome::unsupported);
  carried_stream with({}, 1'000);
  EXPECT_EQ(with.stream->send("1"), rpc::send_outcome::disconnected) << "nobody carries it yet";
  with.carry();
  EXPECT_EQ(with.stream->send("1"), rpc::send_outcome::accepted);
  EXPECT_EQ(with.stream->send(std::string(1'000, 'x')), rpc::send_outcome::no_capacity);
  with.answer("2");
  EXPECT_EQ(with.next(), "opening");
  EXPECT_EQ(with.next(), "message 1");
  EXPECT_EQ(with.next(), "answer 2");
  EXPECT_EQ(with.stream->send("3"), rpc::send_outcome::disconnected);
}

// attacks: resource exhaustion (a client of HTTP+SSE that posts and does not read)
TEST(message_stream, of_many_answers_ends_when_too_much_waits) {
  message_stream::traits is;
  is.format = form::events;
  is.has_answer = false;
  carried_stream with(is, 10'000);
  with.carry();
  with.stream->add_answer(rpc::body(std::string(50'000, 'x')));
  EXPECT_FALSE(with.stream->is_finished()) << "one answer goes out, however long it is";
  EXPECT_EQ(with.next(), "opening");
  EXPECT_EQ(with.next(), "message " + std::string(50'000, 'x'));
  with.stream->add_answer(rpc::body(std::string(6'000, 'y')));
  with.stream->add_answer(rpc::body(std::string(6'000, 'z')));
  EXPECT_EQ(with.next(), "end");
  EXPECT_TRUE(with.budget->reserve(10'000)) << "all room was given back";
}

TEST(message_stream, an_answer_without_content_ends_what_was_opened) {
  carried_stream with(kept(a_log()));
  with.carry();
  with.stream->send("1");
  with.stream->answer({202, std::nullopt});
  EXPECT_EQ(with.next(), "opening id 4-1");
  EXPECT_EQ(with.next(), "message 1 id 4-2");
  EXPECT_EQ(with.next(), "answer ");
}

TEST(message_stream, tells_once_that_it_was_opened) {
  auto is = kept(a_log());
  int opened = 0;
  is.on_opened = [&opened](const auto& which) { opened += which != nullptr ? 1 : 0; };
  carried_stream with(is);
  with.carry();
  with.stream->send("1");
  EXPECT_EQ(with.next(), "opening id 4-1");
  with.stream->detach(with.mine);
  with.carry(http::event_id{4, 1});
  EXPECT_EQ(with.next(), "opening");
  EXPECT_EQ(opened, 1);
}

TEST(message_stream, what_comes_while_its_carrier_looks_opens_it_too) {
  constexpr int streams = 500;
  std::atomic<message_stream*> filled{nullptr};
  std::thread filler([&filled] {
    for (int i = 0; i < streams; ++i) {
      filled.wait(nullptr);
      filled.load()->send("1");
      filled = nullptr;
      filled.notify_one();
    }
  });
  for (int i = 0; i < streams; ++i) {
    carried_stream with;
    with.carry();
    filled = with.stream.get();
    filled.notify_one();
    // From one look to the next the message may be there.
    auto first = with.next();
    while (first == "nothing") {
      std::this_thread::yield();
      first = with.next();
    }
    EXPECT_EQ(first, "opening");
    EXPECT_EQ(with.next(), "message 1");
    filled.wait(with.stream.get());
  }
  filler.join();
}

}  // namespace
