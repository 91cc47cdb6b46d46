/// The tokens of streams, which are asked for again when they end.
#include <chrono>
#include <future>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include <hondana/clock.hpp>

#include "unit/transport/http_client/protected_talk.hpp"

namespace {

using hondana::errc;
using hondana::rejected_token;
using hondana_test::answering;
using hondana_test::call;
using hondana_test::event;
using hondana_test::gives;
using hondana_test::heard_request;
using hondana_test::notice;
using hondana_test::protected_talk;
using hondana_test::scripted_connection;
using hondana_test::wants_login;

TEST(http_tokens, the_stream_of_a_session_is_opened_anew_with_a_new_token_and_its_end_says_the_token_too) {
  const auto plays = [](const heard_request& asked, scripted_connection& to) {
    const auto token = asked.field("authorization");
    if (asked.method == "GET") {
      if (token == "Bearer first" && asked.field("last-event-id").empty()) {
        to.open_stream();
        to.send("retry: 50\n" + event(R"({"jsonrpc":"2.0","method":"a"})", "1"));
        return false;
      }
      if (token != "Bearer second") return to.answer(401, "", "", wants_login);
      to.open_stream();
      to.send(event(R"({"jsonrpc":"2.0","method":"b"})", "2"));
      return to.sees_the_end();
    }
    if (asked.method == "DELETE") return to.answer(200, "", "");
    if (asked.body.find("initialize\"") == std::string::npos) return to.answer(202, "", "");
    return to.answer(200, "application/json", answering(1), "Mcp-Session-Id: s\r\n");
  };
  protected_talk with(plays, "first", gives({"second"}));
  with.channel->send(call(1, "initialize"));
  ASSERT_TRUE(with.heard.ending_of(1));
  with.channel->complete_handshake({}, true);
  with.channel->send(notice());
  EXPECT_EQ(with.heard.messages(3).size(), 3u);
  with.channel->close(hondana_test::event_deadline);
  const auto ends = with.server.requests("DELETE", 1);
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_EQ(ends[0].field("authorization"), "Bearer second");
}

TEST(http_tokens, a_stream_for_which_no_token_is_had_is_not_asked_for_again) {
  const auto plays = [](const heard_request& asked, scripted_connection& to) {
    if (asked.method == "GET") return to.answer(401, "", "", wants_login);
    if (asked.body.find("initialize\"") == std::string::npos) return to.answer(202, "", "");
    return to.answer(200, "application/json", answering(1), "Mcp-Session-Id: s\r\n");
  };
  protected_talk with(plays, "first", gives({}));
  with.channel->send(call(1, "initialize"));
  ASSERT_TRUE(with.heard.ending_of(1));
  with.channel->complete_handshake({}, true);
  with.channel->send(notice());
  EXPECT_TRUE(with.has_logged("nobody logs in any more"));
  with.channel->close(hondana_test::event_deadline);
  with.channel.reset();
  EXPECT_EQ(with.tokens->asked(1).size(), 1u);
  EXPECT_FALSE(with.has_logged("first", std::chrono::seconds(0)));
}

TEST(http_tokens, a_stream_whose_token_is_not_to_be_had_for_now_is_asked_for_again) {
  const auto plays = [](const heard_request& asked, scripted_connection& to) {
    if (asked.method == "GET") {
      if (asked.field("authorization") == "Bearer first" && asked.field("last-event-id").empty()) {
        to.open_stream();
        to.send("retry: 50\n" + event(R"({"jsonrpc":"2.0","method":"a"})", "1"));
        return false;
      }
      if (asked.field("authorization") != "Bearer second") return to.answer(401, "", "", wants_login);
      to.open_stream();
      to.send(event(R"({"jsonrpc":"2.0","method":"b"})", "2"));
      return to.sees_the_end();
    }
    if (asked.body.find("initialize\"") == std::string::npos) return to.answer(202, "", "");
    return to.answer(200, "application/json", answering(1), "Mcp-Session-Id: s\r\n");
  };
  hondana::manual_clock clock;
  protected_talk with(plays, "first", [is_again = false](const rejected_token&, const std::stop_token&) mutable {
    if (std::exchange(is_again, true)) return hondana::result<std::string>("second");
    return hondana::result<std::string>(hondana::fail(errc::source_unavailable, "the authorization server answered with 503"));
  });
  with.channel->send(call(1, "initialize"));
  ASSERT_TRUE(with.heard.ending_of(1));
  with.channel->complete_handshake({}, true);
  with.channel->send(notice());
  EXPECT_TRUE(hondana_test::eventually([&] {
    clock.advance(std::chrono::seconds(1));
    return with.heard.messages(0).size() == 3;
  }));
  EXPECT_EQ(with.tokens->asked(2).size(), 2u);
}

TEST(http_tokens, a_stream_whose_reopening_throws_is_opened_later) {
  const auto plays = [](const heard_request& asked, scripted_connection& to) {
    if (asked.method == "GET") {
      to.open_stream();
      if (asked.field("last-event-id").empty()) {
        to.send("retry: 50\n" + event(R"({"jsonrpc":"2.0","method":"a"})", "1"));
        return false;
      }
      to.send(event(R"({"jsonrpc":"2.0","method":"b"})", "2"));
      return to.sees_the_end();
    }
    if (asked.body.find("initialize\"") == std::string::npos) return to.answer(202, "", "");
    return to.answer(200, "application/json", answering(1), "Mcp-Session-Id: s\r\n");
  };
  hondana::manual_clock clock;
  protected_talk with(plays, "first", gives({}));
  with.channel->send(call(1, "initialize"));
  ASSERT_TRUE(with.heard.ending_of(1));
  with.channel->complete_handshake({}, true);
  with.channel->send(notice());
  ASSERT_EQ(with.heard.messages(2).size(), 2u);
  with.tokens->throw_next(2);
  EXPECT_TRUE(hondana_test::eventually([&] {
    clock.advance(std::chrono::seconds(1));
    return with.heard.messages(0).size() == 3;
  }));
  EXPECT_EQ(with.tokens->throws_left(), 0);
}

TEST(http_tokens, http_sse_connects_again_after_its_opening_threw) {
  std::promise<scripted_connection*> stream;
  auto opened = stream.get_future();
  const auto plays = [&](const heard_request& asked, scripted_connection& to) {
    if (asked.method == "GET") {
      to.open_stream();
      to.send("event: endpoint\ndata: /messages\n\n");
      stream.set_value(&to);
      return to.sees_the_end();
    }
    auto* const out = opened.get();
    to.answer(202, "", "");
    return out->send(event(answering(2)));
  };
  protected_talk with(plays, "first", gives({}), true);
  with.tokens->throw_next(1);
  with.channel->send(call(1));
  const auto ending = with.heard.ending_of(1);
  ASSERT_TRUE(ending);
  EXPECT_EQ(ending->reason.code, errc::source_unavailable);
  with.channel->send(call(2));
  EXPECT_EQ(with.heard.messages(1).size(), 1u);
}

TEST(http_tokens, a_source_that_throws_ends_the_request_that_waits_for_it) {
  const auto throws = [](const rejected_token&, const std::stop_token&) -> hondana::result<std::string> {
    throw std::runtime_error("a defect");
  };
  protected_talk with(hondana_test::guarded_by("second"), "first", throws);
  with.channel->send(call(1));
  const auto ending = with.heard.ending_of(1);
  ASSERT_TRUE(ending);
  EXPECT_EQ(ending->reason.code, errc::source_unavailable);
}

TEST(http_tokens, the_stream_and_the_messages_of_http_sse_say_the_token) {
  std::promise<scripted_connection*> stream;
  auto opened = stream.get_future();
  const auto plays = [&](const heard_request& asked, scripted_connection& to) {
    const auto token = asked.field("authorization");
    if (asked.method == "GET") {
      if (token != "Bearer second") return to.answer(401, "", "", wants_login);
      to.open_stream();
      to.send("event: endpoint\ndata: /messages\n\n");
      stream.set_value(&to);
      return to.sees_the_end();
    }
    if (token != "Bearer third") return to.answer(401, "", "", wants_login);
    auto* const out = opened.get();
    to.answer(202, "", "");
    return out->send(event(answering(1)));
  };
  protected_talk with(plays, "first", gives({"second", "third"}), true);
  with.channel->send(call(1));
  EXPECT_EQ(with.heard.messages(1).size(), 1u);
  const auto asked = with.tokens->asked(2);
  ASSERT_EQ(asked.size(), 2u);
  EXPECT_EQ(asked[0].attempt, 1);
  EXPECT_EQ(asked[1].attempt, 1);
  EXPECT_EQ(asked[1].url, with.server.url());
}

}  // namespace
