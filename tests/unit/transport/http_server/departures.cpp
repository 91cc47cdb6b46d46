/// Whoever wants to know how an answer left over HTTP is told once: when it was taken, cut off, or lost.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "protocol/rpc/message_body.hpp"
#include "transport/http_server/message_stream.hpp"
#include "unit/base/bytes/scripted_reader.hpp"
#include "unit/transport/http_server/script.hpp"

namespace {

using namespace hondana_test;
using hondana::rpc::delivery_outcome;

struct watched {
  std::vector<delivery_outcome> told;
  std::uint64_t bytes = 0;  // of the last
  rpc::body of(std::string text) {
    rpc::body out(std::move(text));
    watch(out);
    return out;
  }
  /// A text that is pulled in two pieces.
  rpc::body pulled() {
    const std::string content(300'000, 'x');
    rpc::body out("\"");
    out.append({"memo:///a", "", "", "", true,
                hondana::bytes::verified_stream{std::make_shared<hondana::test::scripted_reader>(content, 100'000),
                                                hondana::bytes::digest_of(content)}},
               std::make_shared<hondana::executor::inline_executor>());
    out.text() += "\"";
    watch(out);
    return out;
  }
  void watch(rpc::body& message) {
    message.attach_receipt(std::make_shared<rpc::receipt>([this](delivery_outcome how, std::uint64_t of) {
      told.push_back(how);
      bytes = of;
    }));
  }
};

using only = std::vector<delivery_outcome>;

TEST(departures, an_answer_has_left_when_the_connection_has_taken_all_of_it) {
  watched answer;
  script with;
  with.talk.receive(bare_post("{}"));
  with.talk.send_response(with.asked.last, {200, answer.of("[1]")});
  EXPECT_TRUE(answer.told.empty());
  (void)with.taken();
  EXPECT_EQ(answer.told, only{delivery_outcome::sent});
}

TEST(departures, an_answer_that_is_pulled_has_left_with_its_last_piece) {
  watched answer;
  script with;
  with.talk.receive(bare_post("{}"));
  with.talk.send_response(with.asked.last, {200, answer.pulled()});
  std::size_t pieces = 0;
  // The dialogue itself pulls what is in memory.
  while (answer.told.empty() && ++pieces < 10) {
    const auto got = with.asked.pulling->content.pull(with.asked.pulling->piece);
    with.talk.on_pulled(with.asked.last, got);
    EXPECT_TRUE(answer.told.empty());
    (void)with.taken();
  }
  EXPECT_EQ(pieces, 2u);
  EXPECT_EQ(answer.told, only{delivery_outcome::sent});
}

TEST(departures, an_answer_whose_source_fails_or_whose_peer_takes_nothing_is_cut) {
  watched failing;
  watched stalled;
  script with;
  with.talk.receive(bare_post("{}"));
  with.talk.send_response(with.asked.last, {200, failing.pulled()});
  with.talk.on_pulled(with.asked.last, hondana::fail(hondana::errc::content_changed, "It changed."));
  EXPECT_EQ(failing.told, only{delivery_outcome::truncated});

  script slow;
  slow.talk.receive(bare_post("{}"));
  slow.talk.send_response(slow.asked.last, {200, stalled.of("[1]")});
  slow.talk.expire();
  EXPECT_EQ(stalled.told, only{delivery_outcome::truncated});
}

TEST(departures, an_answer_whose_connection_is_closed_is_gone) {
  watched answer;
  watched late;
  script with;
  with.talk.receive(bare_post("{}"));
  with.talk.send_response(with.asked.last, {200, answer.of("[1]")});
  with.talk.abandon();
  EXPECT_EQ(answer.told, only{delivery_outcome::disconnected});
  with.talk.send_response(with.asked.last, {200, late.of("[1]")});
  EXPECT_EQ(late.told, only{delivery_outcome::disconnected});
}

TEST(departures, of_what_is_lent_the_bytes_that_were_taken_are_counted) {
  const auto ask = [](script& with, watched& answer) {
    rpc::body body("[\"");
    body.append(
        {"memo:///a", "", "", "", true, hondana::bytes::encoded_content{std::make_shared<const std::string>(300'000, 'x'), 1}},
        nullptr);
    body.text() += "\"]";
    answer.watch(body);
    with.talk.receive(bare_post("{}"));
    with.talk.send_response(with.asked.last, {200, std::move(body)});
    return with.talk.output().size() - 300'004;  // of the head
  };
  watched left;
  script gone;
  const auto head = ask(gone, left);
  gone.talk.on_written(head + 2 + 1000);
  gone.talk.on_written(500);
  gone.talk.abandon();
  EXPECT_EQ(left.told, only{delivery_outcome::disconnected});
  EXPECT_EQ(left.bytes, 4u + 1500) << "the text around it is counted at once";

  watched silent;
  script slow;
  (void)ask(slow, silent);
  slow.talk.on_written(head);
  slow.talk.expire();
  EXPECT_EQ(silent.told, only{delivery_outcome::truncated});
  EXPECT_EQ(silent.bytes, 4u);

  watched all;
  script with;
  (void)ask(with, all);
  with.talk.on_written(head + 10);
  (void)with.taken();
  EXPECT_EQ(all.told, only{delivery_outcome::sent});
  EXPECT_EQ(all.bytes, 300'004u);
}

TEST(departures, each_answer_on_a_stream_of_events_has_left_with_its_own_event) {
  watched first;
  watched second;
  script with;
  with.talk.receive(bare_post("{}"));
  with.talk.send_portion(with.asked.last, {http::portion::kind::opening, {}, {}, {}, {}});
  (void)with.taken();
  with.talk.send_portion(with.asked.last, {http::portion::kind::message, {200, first.of("1")}, {}, {}, {}});
  EXPECT_TRUE(first.told.empty());
  (void)with.taken();
  EXPECT_EQ(first.told, only{delivery_outcome::sent});
  with.talk.send_portion(with.asked.last, {http::portion::kind::answer, {200, second.of("2")}, {}, {}, {}});
  (void)with.taken();
  EXPECT_EQ(second.told, only{delivery_outcome::sent});
}

TEST(departures, an_answer_that_nobody_carries_is_gone_and_one_that_is_kept_for_later_leaves_once) {
  const auto room = std::make_shared<http::byte_budget>(1 << 20);
  watched lost;
  http::message_stream alone({}, room);
  alone.answer({200, lost.of("[1]")});
  EXPECT_EQ(lost.told, only{delivery_outcome::disconnected});

  watched kept;
  http::message_stream::traits is;
  is.format = http::message_stream::response_format::events;
  is.replay = std::make_shared<http::replay_buffer>(1 << 20, room);
  const auto stream = std::make_shared<http::message_stream>(std::move(is), room);
  auto mine = stream->attach({});
  (void)stream->send("{}");
  ASSERT_EQ(stream->next(mine)->type, http::portion::kind::opening);
  stream->detach(mine);
  stream->answer({200, kept.of("[1]")});
  EXPECT_TRUE(kept.told.empty()) << "its client may come back";
  mine = stream->attach({}, http::event_id{0, 0});
  for (auto one = stream->next(mine); one && one->type != http::portion::kind::end; one = stream->next(mine)) {
    if (one->content.content && !one->content.content->attached_receipts().empty()) {
      EXPECT_EQ(one->type, http::portion::kind::answer);
      EXPECT_FALSE(one->id.empty()) << "it is also kept to be sent again";
      one->content.content->attached_receipts().report(delivery_outcome::sent);
    }
  }
  EXPECT_EQ(kept.told, only{delivery_outcome::sent});
}

}  // namespace
