/// Streams that wait for changes: the short way of an event to very many, and what is left to the long way.
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "protocol/wire/choose_codec.hpp"
#include "server/catalog/change_feed.hpp"
#include "server/session/change_stream.hpp"
#include "transport/http_server/message_stream.hpp"
#include "unit/transport/http_server/script.hpp"

namespace {

using hondana_test::bare_post;
using hondana_test::script;
namespace catalog = hondana::catalog;
namespace http = hondana::transport::http_server;
namespace model = hondana::model;
namespace rpc = hondana::rpc;
namespace wire = hondana::wire;
using http::message_stream;
using http::portion;
using rest = message_stream::remainder;
using kind = model::change::change_kind;

struct carrier final : rpc::source_listener {
  void notify() override { ++woken; }
  int woken = 0;
};

const wire::codec& manners() {
  rpc::request_info facts;
  facts.http = rpc::http_headers{};
  facts.http->protocol_version = "2025-11-25";
  return wire::choose_for_unreadable(facts, {});
}

std::string updated(const std::string& uri) {
  return R"(data: {"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":")" + uri + "\"}}\n\n";
}

/// A stream that is open and waits, following what watches two URIs.
class waiting_stream : public testing::Test {
 protected:
  explicit waiting_stream(message_stream::traits is = {})
      : stream(std::make_shared<message_stream>(std::move(is), std::make_shared<http::byte_budget>(1u << 20))) {
    for (const auto* uri : {"memo:///a", "memo:///b"}) {
      EXPECT_TRUE(notes->watch(uri, uri, 10));
      EXPECT_TRUE(feed->watch(notes, uri));
    }
    stream->stream(notes);
    mine = stream->attach(by);
    const auto opening = stream->next(mine);
    EXPECT_TRUE(opening && opening->type == portion::kind::opening);
    EXPECT_FALSE(stream->next(mine));
  }
  void change(const std::string& uri) { feed->publish({kind::content, uri, {}}); }
  /// What is appended, and what is left.
  std::pair<std::string, rest> events() {
    std::string text;
    const auto left = stream->next_events(mine, text);
    return {text, left};
  }
  using outcome = std::pair<std::string, rest>;

  std::shared_ptr<catalog::change_feed> feed = std::make_shared<catalog::change_feed>();
  std::shared_ptr<hondana::session::change_stream> notes =
      std::make_shared<hondana::session::change_stream>(feed, &manners(), std::nullopt);
  std::shared_ptr<carrier> by = std::make_shared<carrier>();
  std::shared_ptr<message_stream> stream;
  message_stream::attachment_id mine = 0;
};

TEST_F(waiting_stream, gives_an_event_and_wakes_its_carrier_for_the_next) {
  change("memo:///a");
  EXPECT_EQ(by->woken, 1);
  EXPECT_EQ(events(), outcome(updated("memo:///a"), rest::none));
  change("memo:///b");
  EXPECT_EQ(by->woken, 2) << "without having been asked again";
  EXPECT_EQ(events(), outcome(updated("memo:///b"), rest::none));
  EXPECT_EQ(events(), outcome("", rest::none));
}

TEST_F(waiting_stream, gives_what_came_while_its_peer_took_nothing_as_one_event_a_resource) {
  for (int i = 0; i < 1'000; ++i) change(i % 2 == 0 ? "memo:///a" : "memo:///b");
  EXPECT_EQ(by->woken, 1);
  EXPECT_EQ(events(), outcome(updated("memo:///a") + updated("memo:///b"), rest::none));
}

TEST_F(waiting_stream, leaves_what_waits_besides_changes_to_the_long_way) {
  EXPECT_EQ(stream->send("[1]"), rpc::send_outcome::accepted);
  change("memo:///a");
  EXPECT_EQ(events(), outcome("", rest::some));
  auto first = stream->next(mine);
  ASSERT_TRUE(first && first->content.content);
  EXPECT_EQ(first->content.content->extract_text(), "[1]");
  EXPECT_EQ(events(), outcome(updated("memo:///a"), rest::none));
}

TEST_F(waiting_stream, gives_nothing_to_a_carrier_that_has_lost_it) {
  const auto before = mine;
  const auto other = std::make_shared<carrier>();
  mine = stream->attach(other);
  change("memo:///a");
  std::string text;
  EXPECT_EQ(stream->next_events(before, text), rest::some);
  EXPECT_EQ(text, "");
  const auto opening = stream->next(mine);
  ASSERT_TRUE(opening && opening->type == portion::kind::opening);
  EXPECT_EQ(events(), outcome(updated("memo:///a"), rest::none));
}

TEST_F(waiting_stream, says_that_there_is_more_once_its_source_has_ended) {
  notes->close();
  EXPECT_EQ(events(), outcome("", rest::some));
  EXPECT_FALSE(stream->next(mine));
}

message_stream::traits kept() {
  message_stream::traits is;
  is.number = 4;
  is.has_answer = false;
  is.replay = std::make_shared<http::replay_buffer>(1u << 16, std::make_shared<http::byte_budget>(1u << 16));
  return is;
}

class kept_waiting_stream : public waiting_stream {
 protected:
  kept_waiting_stream() : waiting_stream(kept()) {}
};

TEST_F(kept_waiting_stream, numbers_its_events_and_gives_them_again) {
  change("memo:///a");
  EXPECT_EQ(events(), outcome("id: 4-1\n" + updated("memo:///a"), rest::none));
  change("memo:///b");
  EXPECT_EQ(events(), outcome("id: 4-2\n" + updated("memo:///b"), rest::none));
  stream->detach(mine);
  mine = stream->attach(by, http::event_id{4, 1});
  const auto opening = stream->next(mine);
  ASSERT_TRUE(opening && opening->type == portion::kind::opening);
  EXPECT_EQ(events(), outcome("", rest::some)) << "what is given again takes the long way";
  const auto again = stream->next(mine);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->id, "4-2");
}

TEST(waiting_dialogue, keeps_what_its_driver_could_not_send_until_the_peer_takes_it) {
  script with;
  with.talk.receive(bare_post("{}"));
  EXPECT_FALSE(with.talk.is_idle_stream());
  portion opening;
  opening.type = portion::kind::opening;
  with.talk.send_portion(with.asked.last, std::move(opening));
  EXPECT_FALSE(with.talk.is_idle_stream()) << "the head has not been taken";
  (void)with.taken();
  ASSERT_TRUE(with.talk.is_idle_stream());
  with.talk.on_events_sent({});
  EXPECT_TRUE(with.talk.is_idle_stream());
  with.talk.on_events_sent("rest of an event");
  EXPECT_FALSE(with.talk.is_idle_stream());
  EXPECT_FALSE(with.talk.wants_portion()) << "further changes stay where they are noted";
  EXPECT_EQ(with.taken(), "rest of an event");
  EXPECT_TRUE(with.talk.is_idle_stream());
  with.talk.drain();
  EXPECT_FALSE(with.talk.is_idle_stream());
}

TEST(waiting_dialogue, takes_the_next_request_after_a_stream_has_given_its_memory_back) {
  script with;
  with.talk.receive(bare_post("{}"));
  portion opening;
  opening.type = portion::kind::opening;
  with.talk.send_portion(with.asked.last, std::move(opening));
  (void)with.taken();
  with.talk.receive(bare_post("[2]"));  // pipelined behind the stream
  portion answer;
  answer.type = portion::kind::answer;
  answer.content.content = rpc::body("{}");
  with.talk.send_portion(with.asked.last, std::move(answer));
  EXPECT_TRUE(with.taken().ends_with("0\r\n\r\n"));
  ASSERT_EQ(with.asked.messages.size(), 2u);
  EXPECT_EQ(with.asked.messages.back(), "[2]");
}

}  // namespace
