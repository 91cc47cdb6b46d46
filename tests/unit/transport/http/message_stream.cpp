/// One stream of messages: who fills it, who carries it, and what happens between them.
#include "transport/http/message_stream.hpp"

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

namespace {

namespace http = hondana::transport::http;
namespace rpc = hondana::rpc;
using http::message_stream;
using http::portion;
using form = message_stream::form;

/// A source that the test fills.
class well final : public rpc::message_source {
 public:
  std::optional<std::string> next() override {
    ++asked;
    if (messages.empty()) return std::nullopt;
    auto out = std::move(messages.front());
    messages.pop_front();
    return out;
  }
  void follow(std::weak_ptr<rpc::follower> who) override {
    follower_ = std::move(who);
    if (!messages.empty()) wake();
  }
  bool has_ended() const override { return ended; }
  void pour(std::string message) {
    messages.push_back(std::move(message));
    wake();
  }
  bool is_followed() const { return !follower_.expired(); }

  std::deque<std::string> messages;
  int asked = 0;
  bool ended = false;

 private:
  void wake() const {
    if (const auto there = follower_.lock()) there->wake();
  }
  std::weak_ptr<rpc::follower> follower_;
};

struct counting_carrier final : rpc::follower {
  void wake() override { ++woken; }
  int woken = 0;
};

/// A stream with a carrier that counts how often it is woken.
struct fixture {
  explicit fixture(message_stream::traits is = {}, std::size_t room = 1u << 20)
      : budget(std::make_shared<http::byte_budget>(room)), stream(std::make_shared<message_stream>(std::move(is), budget)) {}

  void carry(std::optional<http::event_id> seen = {}) { mine = stream->carry(carrier, seen); }
  /// The next portion in words.
  std::string next() {
    auto what = stream->next(mine);
    if (!what) return "nothing";
    auto text = what->content.content ? what->content.content->take_text() : std::string();
    const auto id = what->id.empty() ? std::string() : " id " + what->id;
    switch (what->what) {
      case portion::kind::opening:
        return "opening" + id;
      case portion::kind::message:
        return "message " + text + id;
      case portion::kind::answer:
        return "answer " + text + id;
      case portion::kind::retry:
        return "retry " + std::to_string(what->after.count());
      case portion::kind::end:
        return "end";
    }
    return "?";
  }
  void answer(std::string text, int status = 200) { stream->answer({status, rpc::body(std::move(text))}); }

  std::shared_ptr<http::byte_budget> budget;
  std::shared_ptr<message_stream> stream;
  message_stream::carriage mine = 0;
  std::shared_ptr<counting_carrier> carrier = std::make_shared<counting_carrier>();
};

/// What a session of 2025-11-25 has.
message_stream::traits kept(const std::shared_ptr<http::replay>& log, std::uint64_t number = 4) {
  message_stream::traits is;
  is.number = number;
  is.kept = log;
  is.may_poll = true;
  return is;
}

std::shared_ptr<http::replay> a_log() {
  return std::make_shared<http::replay>(10'000, std::make_shared<http::byte_budget>(100'000));
}

TEST(message_stream, an_answer_alone_opens_nothing) {
  fixture with;
  with.carry();
  EXPECT_EQ(with.next(), "nothing");
  with.answer("{}");
  EXPECT_EQ(with.carrier->woken, 1);
  EXPECT_EQ(with.next(), "answer {}");
  EXPECT_EQ(with.next(), "end");
}

TEST(message_stream, what_goes_before_the_answer_opens_it) {
  fixture with;
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
  is.takes = form::json;
  fixture with(std::move(is));
  const auto from = std::make_shared<well>();
  with.carry();
  with.stream->send("1");
  with.stream->follow(from);
  EXPECT_FALSE(from->is_followed());
  with.answer("2");
  EXPECT_EQ(with.next(), "answer 2");
}

TEST(message_stream, who_takes_events_alone_gets_errors_with_their_status) {
  message_stream::traits is;
  is.takes = form::events;
  fixture good(is);
  good.carry();
  good.answer("{}");
  EXPECT_EQ(good.next(), "opening");
  EXPECT_EQ(good.next(), "answer {}");
  fixture bad(is);
  bad.carry();
  bad.answer("{}", 404);
  EXPECT_EQ(bad.next(), "answer {}");
}

TEST(message_stream, wakes_its_carrier_once_after_it_had_nothing) {
  fixture with;
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
  fixture with;
  const auto from = std::make_shared<well>();
  with.carry();
  with.stream->follow(from);
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
  fixture with;
  const auto from = std::make_shared<well>();
  with.carry();
  with.stream->send("acknowledged");
  with.stream->follow(from);
  from->pour("changed");
  with.answer("over");
  EXPECT_EQ(with.next(), "opening");
  EXPECT_EQ(with.next(), "message acknowledged");
  EXPECT_EQ(with.next(), "message changed");
  EXPECT_EQ(with.next(), "answer over");
}

// requires: 2026-07-28/transports.cancelled_silent
TEST(message_stream, forgets_everything_when_the_client_of_a_stateless_request_leaves) {
  fixture with({}, 300);
  const auto from = std::make_shared<well>();
  with.carry();
  with.stream->follow(from);
  with.stream->send("1");
  with.stream->let_go(with.mine);
  EXPECT_FALSE(from->is_followed());
  with.stream->send("2");
  with.answer("3");
  EXPECT_TRUE(with.stream->is_finished());
  EXPECT_TRUE(with.budget->take(300)) << "nothing waits any more";
}

TEST(message_stream, drops_notifications_beyond_the_room_and_keeps_the_answer) {
  message_stream::traits is;
  int dropped = 0;
  is.when_dropped = [&dropped] { ++dropped; };
  fixture with(std::move(is), 1'000);
  with.carry();
  for (int i = 0; i < 10; ++i) with.stream->send(std::string(200, 'x'));
  with.answer(std::string(5'000, 'y'));
  EXPECT_EQ(dropped, 1) << "seven were, and it was said once";
  EXPECT_EQ(with.next(), "opening");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(with.next(), "message " + std::string(200, 'x'));
  EXPECT_EQ(with.next(), "answer " + std::string(5'000, 'y'));
  EXPECT_TRUE(with.budget->take(1'000)) << "all room was given back";
}

TEST(message_stream, says_what_became_of_a_message) {
  message_stream::traits is;
  is.takes = form::json;
  fixture takes_json(is);
  takes_json.carry();
  EXPECT_EQ(takes_json.stream->send("1"), rpc::sending::no_way);
  fixture with({}, 1'000);
  EXPECT_EQ(with.stream->send("1"), rpc::sending::gone) << "nobody carries it yet";
  with.carry();
  EXPECT_EQ(with.stream->send("1"), rpc::sending::taken);
  EXPECT_EQ(with.stream->send(std::string(1'000, 'x')), rpc::sending::no_room);
  with.answer("2");
  EXPECT_EQ(with.next(), "opening");
  EXPECT_EQ(with.next(), "message 1");
  EXPECT_EQ(with.next(), "answer 2");
  EXPECT_EQ(with.stream->send("3"), rpc::sending::gone);
}

TEST(message_stream, numbers_events_and_gives_those_after_one_again) {
  fixture with(kept(a_log()));
  with.carry();
  with.stream->send("a");
  with.stream->send("b");
  EXPECT_EQ(with.next(), "opening id 4-1");
  EXPECT_EQ(with.next(), "message a id 4-2");
  EXPECT_EQ(with.next(), "message b id 4-3");
  with.stream->let_go(with.mine);
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
TEST(message_stream, is_released_only_where_clients_come_back) {
  fixture polling(kept(a_log()));
  polling.carry();
  polling.stream->release(std::chrono::milliseconds(500));
  EXPECT_EQ(polling.next(), "opening id 4-1");
  EXPECT_EQ(polling.next(), "retry 500");
  polling.stream->let_go(polling.mine);
  polling.stream->release(std::chrono::milliseconds(500));
  polling.answer("late");
  polling.carry(http::event_id{4, 1});
  EXPECT_EQ(polling.next(), "opening");
  EXPECT_EQ(polling.next(), "answer late id 4-2");

  auto older = kept(a_log());
  older.may_poll = false;
  for (auto& is : {older, message_stream::traits{}}) {
    fixture with(is);
    with.carry();
    with.stream->release(std::chrono::milliseconds(500));
    EXPECT_EQ(with.next(), "nothing");
  }
}

TEST(message_stream, a_second_carrier_takes_over_and_no_message_comes_twice) {
  auto is = kept(a_log(), 1);
  is.has_answer = false;
  fixture with(is);
  const auto from = std::make_shared<well>();
  with.stream->follow(from);
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
  EXPECT_EQ(lost->what, portion::kind::end);
  EXPECT_EQ(with.next(), "opening id 1-2");
  EXPECT_EQ(with.next(), "message changed id 1-3");
  with.stream->let_go(first);
  EXPECT_TRUE(with.stream->is_carried()) << "the first one has nothing to let go any more";
}

TEST(message_stream, a_request_whose_client_left_before_anything_was_said_keeps_nothing) {
  fixture with(kept(a_log()), 300);
  with.carry();
  EXPECT_EQ(with.next(), "nothing");
  with.stream->let_go(with.mine);
  with.stream->send("1");
  with.answer("2");
  EXPECT_TRUE(with.stream->is_finished());
  EXPECT_TRUE(with.budget->take(300));
}

TEST(message_stream, drops_the_answer_of_a_stream_nobody_carries_when_there_is_no_room) {
  fixture with(kept(a_log()), 300);
  with.carry();
  with.stream->send("1");
  EXPECT_EQ(with.next(), "opening id 4-1");
  EXPECT_EQ(with.next(), "message 1 id 4-2");
  with.stream->let_go(with.mine);
  with.answer(std::string(5'000, 'x'));
  EXPECT_TRUE(with.stream->is_finished());
  with.carry(http::event_id{4, 2});
  EXPECT_EQ(with.next(), "opening");
  EXPECT_EQ(with.next(), "end");
}

// attacks: resource exhaustion (an answer that nobody takes any more)
TEST(message_stream, counts_what_waits_when_its_carrier_leaves) {
  fixture with(kept(a_log()), 10'000);
  with.carry();
  with.stream->send("1");
  EXPECT_EQ(with.next(), "opening id 4-1");
  with.answer(std::string(5'000, 'x'));
  with.stream->let_go(with.mine);
  EXPECT_FALSE(with.budget->take(5'000)) << "it counts";
  with.carry(http::event_id{4, 1});
  EXPECT_EQ(with.next(), "opening");
  EXPECT_EQ(with.next(), "message 1 id 4-2");
  EXPECT_EQ(with.next(), "answer " + std::string(5'000, 'x') + " id 4-3");
  EXPECT_TRUE(with.budget->take(10'000));
}

// attacks: resource exhaustion (a client of HTTP+SSE that posts and does not read)
TEST(message_stream, of_many_answers_ends_when_too_much_waits) {
  message_stream::traits is;
  is.takes = form::events;
  is.has_answer = false;
  fixture with(is, 10'000);
  with.carry();
  with.stream->put(rpc::body(std::string(50'000, 'x')));
  EXPECT_FALSE(with.stream->is_finished()) << "one answer goes out, however long it is";
  EXPECT_EQ(with.next(), "opening");
  EXPECT_EQ(with.next(), "message " + std::string(50'000, 'x'));
  with.stream->put(rpc::body(std::string(6'000, 'y')));
  with.stream->put(rpc::body(std::string(6'000, 'z')));
  EXPECT_EQ(with.next(), "end");
  EXPECT_TRUE(with.budget->take(10'000)) << "all room was given back";
}

TEST(message_stream, keeps_no_file_open_for_who_has_left) {
  class nothing final : public hondana::byte_reader {
   public:
    std::uint64_t size() const noexcept override { return 0; }
    hondana::result<std::size_t> read(std::span<char>) override { return std::size_t{0}; }
    hondana::result<void> rewind() override { return {}; }
  };
  fixture with(kept(a_log()), 10u << 20);
  with.carry();
  with.stream->send("1");
  EXPECT_EQ(with.next(), "opening id 4-1");
  auto reader = std::make_shared<nothing>();
  const std::weak_ptr<nothing> open = reader;
  rpc::body content;
  hondana::bytes::prepared item;
  item.data = hondana::bytes::stream{std::move(reader), {}};
  content.append(std::move(item), nullptr);
  with.stream->answer({200, std::move(content)});
  EXPECT_FALSE(open.expired());
  with.stream->let_go(with.mine);
  EXPECT_TRUE(open.expired());
  EXPECT_TRUE(with.stream->is_finished());
}

TEST(message_stream, ends_for_everybody_when_its_session_ends) {
  auto is = kept(a_log());
  fixture with(is);
  const auto from = std::make_shared<well>();
  with.carry();
  with.stream->follow(from);
  EXPECT_EQ(with.next(), "opening id 4-1");
  EXPECT_EQ(with.next(), "nothing");
  with.stream->end();
  EXPECT_EQ(with.carrier->woken, 1);
  EXPECT_EQ(with.next(), "end");
  EXPECT_FALSE(from->is_followed());
  with.answer("late");
  EXPECT_EQ(with.next(), "end");
}

TEST(message_stream, an_answer_without_content_ends_what_was_opened) {
  fixture with(kept(a_log()));
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
  is.when_opened = [&opened](const auto& which) { opened += which != nullptr ? 1 : 0; };
  fixture with(is);
  with.carry();
  with.stream->send("1");
  EXPECT_EQ(with.next(), "opening id 4-1");
  with.stream->let_go(with.mine);
  with.carry(http::event_id{4, 1});
  EXPECT_EQ(with.next(), "opening");
  EXPECT_EQ(opened, 1);
}

TEST(message_stream, what_comes_while_its_carrier_looks_opens_it_too) {
  constexpr int streams = 3'000;
  std::atomic<message_stream*> filled{nullptr};
  std::thread filler([&filled] {
    for (int i = 0; i < streams; ++i) {
      message_stream* to = nullptr;
      while (to == nullptr) to = filled.load();
      to->send("1");
      filled = nullptr;
    }
  });
  for (int i = 0; i < streams; ++i) {
    fixture with;
    with.carry();
    filled = with.stream.get();
    // From one look to the next the message may be there.
    auto first = with.next();
    while (first == "nothing") first = with.next();
    EXPECT_EQ(first, "opening");
    EXPECT_EQ(with.next(), "message 1");
    while (filled.load() != nullptr) continue;
  }
  filler.join();
}

}  // namespace
