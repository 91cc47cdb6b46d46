/// Streamable HTTP as a client: what becomes of the server's answers, good and bad.
#include <algorithm>
#include <chrono>
#include <future>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "transport/http_client/http_channel.hpp"
#include "unit/transport/http_client/scripted_server.hpp"

namespace {

using hondana::errc;
using hondana_test::answering;
using hondana_test::asking;
using hondana_test::call;
using hondana_test::event;
using hondana_test::heard_request;
using hondana_test::kept_words;
using hondana_test::scripted_connection;
using hondana_test::scripted_server;

/// A server and a channel to it.
struct talk {
  explicit talk(scripted_server::script plays, hondana::channel::limits most = {}, hondana::http_target target = {})
      : server(std::move(plays)) {
    target.url = server.url();
    target.proxy = "none";
    auto made = hondana::transport::http_client::make_http(target, heard, most, {});
    if (made) channel = std::move(*made);
  }
  kept_words heard;
  scripted_server server;
  std::unique_ptr<hondana::channel::channel> channel;
};

scripted_server::script always(int status, std::string type, std::string body, std::string more = {}) {
  return [=](const heard_request&, scripted_connection& to) { return to.answer(status, type, body, more); };
}

TEST(http_calls, without_memory_for_an_answer_end_alone) {
  talk with(always(200, "application/json", answering(1, R"({"contents":[{"uri":"a:b","text":"more"}]})")));
  auto message = call(1);
  message.content = [](std::size_t, std::string_view) -> hondana::result<void> { throw std::bad_alloc(); };
  with.channel->send(std::move(message));
  EXPECT_EQ(with.heard.failure_of(1).code, errc::source_unavailable);
  with.channel->send(call(2));
  EXPECT_TRUE(with.heard.ending_of(2));
}

TEST(http_calls, go_on_after_an_exception_of_the_listener) {
  talk with(always(200, "application/json", answering(1)));
  with.heard.on_received = [](hondana::channel::call_id call, const std::string&) {
    if (call == 1) throw std::bad_alloc();
  };
  with.channel->send(call(1));
  with.channel->send(call(2));
  EXPECT_TRUE(with.heard.ending_of(2));
}

TEST(http_calls, a_request_is_a_post_and_its_json_answer_is_received) {
  talk with(always(200, "application/json", answering(1)));
  auto message = call(1);
  message.headers = {{"Mcp-Method", "ping"}, {"MCP-Protocol-Version", "2026-07-28"}};
  with.channel->send(std::move(message));
  ASSERT_TRUE(with.heard.ending_of(1));
  const auto messages = with.heard.messages(1);
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_EQ(messages[0].call, 1u);
  EXPECT_EQ(messages[0].text, answering(1));
  const auto asked = with.server.requests(1).at(0);
  EXPECT_EQ(asked.method, "POST");
  EXPECT_EQ(asked.target, "/mcp");
  EXPECT_EQ(asked.body, asking(1));
  EXPECT_EQ(asked.field("content-type"), "application/json");
  EXPECT_EQ(asked.field("accept"), "application/json, text/event-stream");
  EXPECT_EQ(asked.field("mcp-method"), "ping");
  EXPECT_EQ(asked.field("mcp-protocol-version"), "2026-07-28");
  EXPECT_FALSE(asked.fields.contains("accept-encoding"));
  EXPECT_FALSE(asked.fields.contains("expect"));
  EXPECT_GT(with.heard.progress_of(1), 0u);
}

TEST(http_calls_timing, a_cold_call_takes_milliseconds) {
  // Generous, and one of several: sanitizers and busy machines. A wait for a timer would show each time.
  auto quickest = std::chrono::steady_clock::duration::max();
  for (int i = 0; i < 5 && quickest >= std::chrono::milliseconds(500); ++i) {
    talk with(always(200, "application/json", answering(1)));
    const auto begin = std::chrono::steady_clock::now();
    with.channel->send(call(1));
    ASSERT_TRUE(with.heard.ending_of(1));
    quickest = std::min(quickest, std::chrono::steady_clock::now() - begin);
  }
  EXPECT_LT(quickest, std::chrono::milliseconds(500));
}

TEST(http_calls, messages_before_the_answer_belong_to_its_call) {
  talk with([](const heard_request&, scripted_connection& to) {
    to.open_stream();
    to.send(event(R"({"jsonrpc":"2.0","method":"notifications/progress"})"));
    to.send(event(R"({"jsonrpc":"2.0","id":7,"method":"roots/list"})"));
    to.send(event(answering(7)));
    return false;
  });
  with.channel->send(call(7));
  ASSERT_TRUE(with.heard.ending_of(7));
  const auto messages = with.heard.messages(3);
  ASSERT_EQ(messages.size(), 3u);
  for (const auto& one : messages) EXPECT_EQ(one.call, 7u);
  // One that asks under the number of the call is not its answer.
  EXPECT_EQ(messages[2].text, answering(7));
}

TEST(http_calls, events_are_the_same_however_their_bytes_are_cut) {
  const std::string stream =
      "\xEF\xBB\xBF: hello\r\n\r\nevent: message\rdata: {\"jsonrpc\":\"2.0\",\rdata:\"id\":3,\r\ndata: \"result\":{}}\n\n";
  for (std::size_t piece = 1; piece <= stream.size(); piece += piece < 8 ? 1 : 17) {
    talk with([&](const heard_request&, scripted_connection& to) {
      to.send("HTTP/1.1 200 OK\r\nContent-Type: Text/Event-Stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n");
      for (std::size_t at = 0; at < stream.size(); at += piece) {
        const auto part = stream.substr(at, piece);
        to.send((std::string(part.size() > 15 ? "" : "0") + "0123456789abcdef"[part.size() / 16] +
                 "0123456789abcdef"[part.size() % 16])
                    .substr(part.size() > 15 ? 0 : 1) +
                "\r\n" + part + "\r\n");
      }
      return to.send("0\r\n\r\n");
    });
    with.channel->send(call(3));
    ASSERT_TRUE(with.heard.ending_of(3));
    const auto messages = with.heard.messages(1);
    ASSERT_EQ(messages.size(), 1u) << piece;
    EXPECT_EQ(messages[0].text, "{\"jsonrpc\":\"2.0\",\n\"id\":3,\n\"result\":{}}");
  }
}

TEST(http_calls, an_array_of_messages_is_taken_apart_and_its_content_goes_to_the_sink) {
  const std::string told = R"({"jsonrpc":"2.0","method":"notifications/message"})";
  const std::string foreign = R"({"id":9,"result":{"contents":[{"text":"of another call"}]}})";
  const std::string batch = "[" + told + "," + foreign + R"(, {"id":1,"result":{"contents":[{"text":"ab"}]}},)" + told + "]";
  for (const bool as_events : {false, true}) {
    talk with([&](const heard_request&, scripted_connection& to) {
      if (!as_events) return to.answer(200, "application/json", batch);
      to.open_stream();
      to.send(event(batch));
      return false;
    });
    auto asking = call(1);
    std::string content;
    asking.content = hondana_test::into(content);
    with.channel->send(std::move(asking));
    ASSERT_TRUE(with.heard.ending_of(1));
    const auto messages = with.heard.messages(4);
    ASSERT_EQ(messages.size(), 4u);
    EXPECT_EQ(messages[0].text, told);
    EXPECT_EQ(messages[1].text, foreign);
    EXPECT_EQ(messages[2].text, R"({"id":1,"result":{"contents":[{"text":""}]}})");
    EXPECT_EQ(messages[3].text, told);
    EXPECT_EQ(content, "ab");
  }
}

TEST(http_calls, an_array_without_messages_is_no_answer) {
  for (const bool as_events : {false, true}) {
    talk with([&](const heard_request&, scripted_connection& to) {
      if (!as_events) return to.answer(200, "application/json", "[]");
      to.open_stream();
      to.send(event("[ ]"));
      return false;
    });
    with.channel->send(call(1));
    const auto how = with.heard.ending_of(1);
    ASSERT_TRUE(how);
    EXPECT_EQ(how->reason.code, errc::protocol_error);
    EXPECT_EQ(how->reason.public_text, "an empty array is not a message");
  }
}

TEST(http_calls, an_error_answer_ends_the_call_with_all_that_it_says) {
  const std::string body = R"({"jsonrpc":"2.0","id":1,"error":{"code":-32020,"message":"x"}})";
  talk with(always(400, "application/json", body, "Retry-After: 7\r\n"));
  with.channel->send(call(1));
  const auto how = with.heard.ending_of(1);
  ASSERT_TRUE(how);
  EXPECT_EQ(how->http_status, 400);
  EXPECT_EQ(how->body, body);
  EXPECT_EQ(how->content_type, "application/json");
  EXPECT_EQ(how->retry_after, std::chrono::seconds(7));
  EXPECT_EQ(how->reason.code, errc::protocol_error);
  EXPECT_FALSE(how->session_has_ended);
  EXPECT_TRUE(with.heard.messages(0).empty());
}

TEST(http_calls, a_401_brings_its_challenges) {
  talk with(
      always(401, "text/plain", "who?", "WWW-Authenticate: Bearer resource_metadata=\"x\"\r\nWWW-Authenticate: Basic\r\n"));
  with.channel->send(call(1));
  const auto how = with.heard.ending_of(1);
  ASSERT_TRUE(how);
  EXPECT_EQ(how->reason.code, errc::unauthorized);
  EXPECT_EQ(how->challenges, (std::vector<std::string>{"Bearer resource_metadata=\"x\"", "Basic"}));
}

TEST(http_calls, a_503_may_name_a_date_to_come_back) {
  talk with(always(503, "", "", "Retry-After: Fri, 31 Dec 2100 23:59:59 GMT\r\n"));
  with.channel->send(call(1));
  const auto how = with.heard.ending_of(1);
  ASSERT_TRUE(how);
  EXPECT_EQ(how->reason.code, errc::source_unavailable);
  EXPECT_EQ(how->retry_after, std::chrono::hours(24));
}

TEST(http_calls, an_error_body_is_cut_at_64_kib) {
  talk with(always(500, "text/plain", std::string(1u << 20, 'x')));
  with.channel->send(call(1));
  const auto how = with.heard.ending_of(1);
  ASSERT_TRUE(how);
  EXPECT_EQ(how->body.size(), 65536u);
}

TEST(http_calls, what_is_neither_json_nor_events_is_no_answer) {
  talk with(always(200, "text/html", "<p>Welcome"));
  with.channel->send(call(1));
  const auto how = with.heard.ending_of(1);
  ASSERT_TRUE(how);
  EXPECT_EQ(how->reason.code, errc::protocol_error);
  EXPECT_NE(how->reason.public_text.find("text/html"), std::string::npos) << how->reason.public_text;
}

TEST(http_calls, a_request_that_is_merely_accepted_has_no_answer) {
  talk with(always(202, "", ""));
  with.channel->send(call(1));
  const auto how = with.heard.ending_of(1);
  ASSERT_TRUE(how);
  EXPECT_EQ(how->reason.code, errc::protocol_error);
  EXPECT_EQ(how->http_status, 202);
}

TEST(http_calls, compressed_answers_are_refused) {
  talk with(always(200, "application/json", "\x1f\x8b", "Content-Encoding: gzip\r\n"));
  with.channel->send(call(1));
  const auto how = with.heard.ending_of(1);
  ASSERT_TRUE(how);
  EXPECT_EQ(how->reason.code, errc::protocol_error);
  EXPECT_NE(how->reason.public_text.find("gzip"), std::string::npos);
}

TEST(http_calls, bytes_that_are_no_http_end_the_call) {
  for (const std::string garbage : {"SSH-2.0-OpenSSH\r\n", "\x16\x03\x01\x02", "HTTP/1.1 banana\r\n\r\n", "{}"}) {
    talk with([&](const heard_request&, scripted_connection& to) {
      to.send(garbage);
      return false;
    });
    with.channel->send(call(1));
    const auto how = with.heard.ending_of(1);
    ASSERT_TRUE(how) << garbage;
    EXPECT_TRUE(how->reason.code == errc::protocol_error || how->reason.code == errc::source_unavailable) << garbage;
    EXPECT_TRUE(with.heard.messages(0).empty());
  }
}

TEST(http_calls, header_bombs_end_the_call) {
  talk with([](const heard_request&, scripted_connection& to) {
    to.send("HTTP/1.1 200 OK\r\n");
    while (to.send("X-Filler: " + std::string(1000, 'x') + "\r\n")) {
    }
    return false;
  });
  with.channel->send(call(1));
  const auto how = with.heard.ending_of(1);
  ASSERT_TRUE(how);
  EXPECT_EQ(how->reason.code, errc::protocol_error);
  EXPECT_NE(how->reason.public_text.find("64 KiB"), std::string::npos) << how->reason.public_text;
}

TEST(http_calls, one_endless_header_line_is_no_lack_of_memory) {
  for (const std::string begin : {"HTTP/1.1 200 OK\r\nX-Filler: ", "HTTP/1.1 200 ", "HTTP/1.1 200 OK\r\nX-Short: y\r\n"}) {
    talk with([&](const heard_request&, scripted_connection& to) {
      to.send(begin);
      while (to.send(std::string(1000, 'x'))) {
      }
      return false;
    });
    with.channel->send(call(1));
    const auto why = with.heard.failure_of(1);
    EXPECT_EQ(why.code, errc::protocol_error);
    EXPECT_NE(why.public_text.find("64 KiB"), std::string::npos) << why.public_text;
  }
}

TEST(http_calls, a_message_over_the_limit_ends_its_call) {
  hondana::channel::limits small;
  small.max_message_bytes = 1000;
  for (const bool as_events : {false, true}) {
    talk with(
        [&](const heard_request&, scripted_connection& to) {
          const auto text = answering(1, "\"" + std::string(100'000, 'x') + "\"");
          if (!as_events) return to.answer(200, "application/json", text);
          to.open_stream();
          to.send(event(text));
          to.sees_the_end();
          return false;
        },
        small);
    with.channel->send(call(1));
    const auto how = with.heard.ending_of(1);
    ASSERT_TRUE(how);
    EXPECT_EQ(how->reason.code, errc::response_too_large) << how->reason.public_text;
    EXPECT_TRUE(with.heard.messages(0).empty());
  }
}

TEST(http_calls, a_connection_that_ends_half_way_ends_the_call) {
  for (const bool resets : {false, true}) {
    talk with([&](const heard_request&, scripted_connection& to) {
      to.send("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{\"jsonrpc\"");
      if (resets) to.vanish();
      return false;
    });
    with.channel->send(call(1));
    const auto how = with.heard.ending_of(1);
    ASSERT_TRUE(how);
    EXPECT_EQ(how->reason.code, errc::source_unavailable) << how->reason.public_text;
    EXPECT_TRUE(with.heard.messages(0).empty());
  }
}

TEST(http_calls, a_stream_that_ends_before_its_answer_ends_the_call) {
  talk with([](const heard_request&, scripted_connection& to) {
    to.open_stream();
    to.send(event(R"({"jsonrpc":"2.0","method":"notifications/message"})", "1"));
    to.send("data: {\"jsonrpc\"");
    return false;
  });
  with.channel->complete_handshake({}, false);
  with.channel->send(call(1));
  const auto how = with.heard.ending_of(1);
  ASSERT_TRUE(how);
  EXPECT_EQ(how->reason.code, errc::source_unavailable);
  EXPECT_EQ(with.heard.messages(1).size(), 1u);
}

TEST(http_calls, nobody_listening_is_told_with_advice) {
  kept_words heard;
  hondana::http_target target;
  {
    const scripted_server gone(always(200, "", ""));
    target.url = gone.url();
  }
  auto channel = hondana::transport::http_client::make_http(target, heard, {}, {});
  ASSERT_TRUE(channel);
  (*channel)->send(call(1));
  const auto how = heard.ending_of(1);
  ASSERT_TRUE(how);
  EXPECT_EQ(how->reason.code, errc::source_unavailable);
  EXPECT_NE(how->reason.public_text.find("127.0.0.1"), std::string::npos) << how->reason.public_text;
}

TEST(http_calls, comments_that_keep_a_stream_alive_are_no_progress) {
  talk with([&](const heard_request& asked, scripted_connection& to) {
    if (asked.body == asking(2)) return to.answer(200, "application/json", answering(2));
    to.open_stream();
    for (int i = 0; i < 100; ++i) to.send(": still here\n\n");
    to.send(event(R"({"jsonrpc":"2.0","method":"notifications/message"})"));
    to.sees_the_end();
    return false;
  });
  with.channel->send(call(1));
  ASSERT_EQ(with.heard.messages(1).size(), 1u);
  // By then all is told of the first.
  with.channel->send(call(2));
  ASSERT_TRUE(with.heard.ending_of(2));
  // The one event may come in two pieces.
  EXPECT_GE(with.heard.progress_of(1), 1u);
  EXPECT_LE(with.heard.progress_of(1), 2u);
}

TEST(http_calls, an_abandoned_call_closes_its_exchange_and_nothing_more_is_told) {
  std::promise<bool> has_seen_the_end;
  talk with([&](const heard_request& asked, scripted_connection& to) {
    if (asked.body.find("\"id\":2") != std::string::npos) return to.answer(200, "application/json", answering(2));
    to.open_stream();
    has_seen_the_end.set_value(to.sees_the_end());
    to.send(event(answering(1)));
    return false;
  });
  with.channel->send(call(1));
  ASSERT_EQ(with.server.requests(1).size(), 1u);
  with.channel->abandon(1);
  EXPECT_TRUE(has_seen_the_end.get_future().get());
  with.channel->send(call(2));
  ASSERT_TRUE(with.heard.ending_of(2));
  EXPECT_EQ(with.heard.messages(1).size(), 1u);
  EXPECT_EQ(with.heard.endings(1).size(), 1u);
}

TEST(http_calls, many_calls_at_once_use_few_connections) {
  talk with([](const heard_request& asked, scripted_connection& to) {
    const auto at = asked.body.find("\"id\":") + 5;
    return to.answer(200, "application/json", answering(std::stoul(asked.body.substr(at))));
  });
  constexpr std::uint64_t count = 500;
  for (std::uint64_t i = 1; i <= count; ++i) with.channel->send(call(i));
  ASSERT_EQ(with.heard.endings(count).size(), count);
  for (const auto& one : with.heard.messages(count)) EXPECT_EQ(one.text, answering(one.call));
  EXPECT_LE(with.server.connections(), 32u);
}

TEST(http_calls, more_bytes_than_may_wait_are_refused_at_once) {
  hondana::channel::limits small;
  small.max_queued_bytes = 1000;
  talk with(always(200, "application/json", answering(1)), small);
  auto large = call(1);
  large.text = std::string(2000, ' ') + large.text;
  with.channel->send(std::move(large));
  const auto how = with.heard.ending_of(1);
  ASSERT_TRUE(how);
  EXPECT_EQ(how->reason.code, errc::overloaded);
  with.channel->send(call(2));
  ASSERT_TRUE(with.heard.ending_of(2));
}

}  // namespace
