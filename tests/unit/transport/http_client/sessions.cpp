/// Streamable HTTP with servers of older revisions: sessions, the stream of the server, and streams that are taken up again.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <hondana/clock.hpp>

#include "deadline.hpp"
#include "transport/http_client/http_channel.hpp"
#include "unit/protocol/channel/open_descriptors.hpp"
#include "unit/transport/http_client/scripted_server.hpp"

namespace {

using hondana::errc;
using hondana_test::answering;
using hondana_test::call;
using hondana_test::event;
using hondana_test::event_deadline;
using hondana_test::eventually;
using hondana_test::heard_request;
using hondana_test::kept_words;
using hondana_test::notice;
using hondana_test::scripted_connection;
using hondana_test::scripted_server;
using std::chrono::milliseconds;

const std::string session_field = "Mcp-Session-Id: s-1\r\n";
const std::string server_notice = R"({"jsonrpc":"2.0","method":"notifications/resources/list_changed"})";

/// Opens a session `s-1`; leaves the rest to `plays`, which is asked for everything but the opening.
struct session_talk {
  explicit session_talk(scripted_server::script plays, std::string opening_fields = session_field)
      : server([=](const heard_request& asked, scripted_connection& to) {
          if (asked.body.find("\"initialize\"") != std::string::npos)
            return to.answer(200, "application/json", answering(1), opening_fields);
          if (asked.method == "POST" && asked.body.find("\"id\"") == std::string::npos) return to.answer(202, "", "");
          return plays(asked, to);
        }) {
    hondana::http_target target;
    target.url = server.url();
    target.proxy = "none";
    target.headers = {{"X-Key", "abc"}};
    auto made = hondana::transport::http_client::make_http(target, heard, {}, {});
    if (made) channel = std::move(*made);
  }
  /// Initialises as the engine does.
  void open(hondana::channel::header_fields fields = {{"MCP-Protocol-Version", "2025-11-25"}}) {
    channel->send(call(1, "initialize"));
    ASSERT_TRUE(heard.ending_of(1));
    channel->complete_handshake(std::move(fields), true);
    channel->send(notice());
  }
  kept_words heard;
  scripted_server server;
  std::unique_ptr<hondana::channel::channel> channel;
};

/// To a server that the test has scripted whole.
std::unique_ptr<hondana::channel::channel> channel_to(const scripted_server& server, kept_words& heard) {
  hondana::http_target target;
  target.url = server.url();
  target.proxy = "none";
  return std::move(*hondana::transport::http_client::make_http(target, heard, {}, {}));
}

bool no_stream(const heard_request& asked, scripted_connection& to) {
  if (asked.method == "GET") return to.answer(405, "", "");
  if (asked.method == "DELETE") return to.answer(204, "", "");
  return to.answer(200, "application/json", answering(2));
}

TEST(http_sessions, messages_name_the_session_and_the_revision) {
  session_talk with(no_stream);
  with.open();
  with.channel->send(call(2));
  ASSERT_TRUE(with.heard.ending_of(2));
  ASSERT_EQ(with.server.requests("GET", 1).size(), 1u);
  with.channel->close(event_deadline);
  const auto all = with.server.requests(5);
  ASSERT_EQ(all.size(), 5u);
  for (const auto& one : all) {
    const bool is_opening = one.body.find("\"initialize\"") != std::string::npos;
    EXPECT_EQ(one.field("mcp-session-id"), is_opening ? "" : "s-1");
    EXPECT_EQ(one.field("mcp-protocol-version"), is_opening ? "" : "2025-11-25");
    EXPECT_EQ(one.field("x-key"), "abc");
  }
  EXPECT_EQ(all.back().method, "DELETE");
}

TEST(http_sessions, revision_2025_03_26_has_no_version_field) {
  session_talk with(no_stream);
  with.open({});
  with.channel->send(call(2));
  ASSERT_TRUE(with.heard.ending_of(2));
  for (const auto& one : with.server.requests("POST", 3)) EXPECT_FALSE(one.fields.contains("mcp-protocol-version"));
}

TEST(http_sessions, a_modern_server_gets_no_session_and_no_stream) {
  session_talk with(no_stream);
  with.channel->complete_handshake({}, false);
  with.channel->send(call(2));
  ASSERT_TRUE(with.heard.ending_of(2));
  with.channel->close(event_deadline);
  const auto all = with.server.requests(1);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_FALSE(all[0].fields.contains("mcp-session-id"));
  EXPECT_FALSE(all[0].fields.contains("mcp-protocol-version"));
}

TEST(http_sessions, requests_wait_until_the_server_has_taken_the_first_notification) {
  std::atomic<bool> is_initialized{false};
  std::atomic<bool> came_too_early{false};
  kept_words heard;
  scripted_server server([&](const heard_request& asked, scripted_connection& to) {
    if (asked.method == "GET") return to.answer(405, "", "");
    if (asked.body.find("\"initialize\"") != std::string::npos)
      return to.answer(200, "application/json", answering(1), session_field);
    if (asked.body.find("\"id\"") == std::string::npos) {
      is_initialized = true;
      return to.answer(202, "", "");
    }
    if (!is_initialized) came_too_early = true;
    return to.answer(200, "application/json", answering(2));
  });
  for (int i = 0; i < 20; ++i) {
    is_initialized = false;
    kept_words ears;
    const auto channel = channel_to(server, ears);
    channel->send(call(1, "initialize"));
    ASSERT_TRUE(ears.ending_of(1));
    channel->send(notice());
    channel->send(call(2));
    ASSERT_TRUE(ears.ending_of(2));
  }
  EXPECT_FALSE(came_too_early);
}

/// A stream that is asked for earlier needs a second connection, where it can arrive after the call it is to serve.
TEST(http_sessions, the_stream_is_asked_for_when_a_slow_server_has_taken_the_first_notification) {
  const hondana::manual_clock clock;  // After a while it would be asked for all the same.
  std::promise<void> asked_for_stream;
  auto has_asked = asked_for_stream.get_future().share();
  std::atomic<bool> came_too_early{false};
  scripted_server server([&](const heard_request& asked, scripted_connection& to) {
    if (asked.method == "GET") {
      asked_for_stream.set_value();
      return to.answer(405, "", "");
    }
    if (asked.body.find("\"initialize\"") != std::string::npos)
      return to.answer(200, "application/json", answering(1), session_field);
    if (asked.body.find("\"id\"") != std::string::npos) return to.answer(200, "application/json", answering(2));
    came_too_early = has_asked.wait_for(milliseconds(200)) == std::future_status::ready;
    return to.answer(202, "", "");
  });
  kept_words heard;
  const auto channel = channel_to(server, heard);
  channel->send(call(1, "initialize"));
  ASSERT_TRUE(heard.ending_of(1));
  channel->complete_handshake({}, true);
  channel->send(notice());
  channel->send(call(2));
  EXPECT_TRUE(heard.ending_of(2));
  EXPECT_EQ(has_asked.wait_for(event_deadline), std::future_status::ready);
  EXPECT_FALSE(came_too_early);
}

TEST(http_sessions, a_notification_that_is_never_answered_holds_nobody_up_for_ever) {
  hondana::manual_clock clock;
  kept_words heard;
  scripted_server server([](const heard_request& asked, scripted_connection& to) {
    if (asked.method == "GET") return to.answer(405, "", "");
    if (asked.body.find("\"id\"") != std::string::npos) return to.answer(200, "application/json", answering(1));
    to.sees_the_end();
    return false;
  });
  const auto channel = channel_to(server, heard);
  channel->send(call(1, "initialize"));
  ASSERT_TRUE(heard.ending_of(1));
  channel->send(notice());
  channel->send(call(2));
  EXPECT_TRUE(eventually([&] {
    clock.advance(std::chrono::seconds(1));
    return heard.endings(0).size() == 2;
  }));
  EXPECT_TRUE(heard.ending_of(2));
}

TEST(http_sessions, forgetting_a_session_closes_its_stream) {
  std::atomic<int> closed{0};
  std::promise<void> is_closed;
  session_talk with([&](const heard_request& asked, scripted_connection& to) {
    if (asked.method != "GET") return to.answer(200, "application/json", answering(2));
    to.open_stream();
    to.send(event(server_notice));
    to.sees_the_end();
    if (++closed == 1) is_closed.set_value();
    return false;
  });
  with.open();
  ASSERT_EQ(with.heard.messages(2).size(), 2u);
  with.channel->discard_session();
  with.channel->send(call(1, "initialize"));
  ASSERT_EQ(with.heard.endings(2).size(), 2u);
  with.channel->complete_handshake({{"MCP-Protocol-Version", "2025-11-25"}}, true);
  with.channel->send(notice());
  ASSERT_EQ(with.heard.messages(4).size(), 4u);
  EXPECT_EQ(is_closed.get_future().wait_for(event_deadline), std::future_status::ready);
  EXPECT_EQ(closed, 1);
}

TEST(http_sessions, a_session_id_that_cannot_be_ends_the_opening) {
  for (const auto& bad : {"Mcp-Session-Id: a b\r\n", "Mcp-Session-Id: \xC3\xA9\r\n", "Mcp-Session-Id:\r\n"}) {
    session_talk with(no_stream, bad);
    with.channel->send(call(1, "initialize"));
    const auto how = with.heard.ending_of(1);
    ASSERT_TRUE(how);
    EXPECT_EQ(how->reason.code, errc::protocol_error) << bad;
  }
  session_talk with(no_stream, "Mcp-Session-Id: " + std::string(1025, 'x') + "\r\n");
  with.channel->send(call(1, "initialize"));
  const auto how = with.heard.ending_of(1);
  ASSERT_TRUE(how);
  EXPECT_EQ(how->reason.code, errc::protocol_error);
}

TEST(http_sessions, a_404_to_a_session_means_that_it_has_ended) {
  session_talk with([](const heard_request& asked, scripted_connection& to) {
    return asked.method == "GET" ? to.answer(405, "", "") : to.answer(404, "text/plain", "gone");
  });
  with.open();
  with.channel->send(call(2));
  const auto how = with.heard.ending_of(2);
  ASSERT_TRUE(how);
  EXPECT_TRUE(how->session_has_ended);
  EXPECT_EQ(how->http_status, 404);
  with.channel->discard_session();
  with.channel->send(call(3));
  const auto then = with.heard.ending_of(3);
  ASSERT_TRUE(then);
  EXPECT_FALSE(then->session_has_ended);
  EXPECT_FALSE(with.server.requests("POST", 4).at(3).fields.contains("mcp-session-id"));
}

TEST(http_sessions, what_the_server_sends_by_itself_belongs_to_no_call) {
  session_talk with([](const heard_request& asked, scripted_connection& to) {
    if (asked.method != "GET") return no_stream(asked, to);
    to.open_stream();
    to.send(event("", "prime") + event(server_notice, "1"));
    to.sees_the_end();
    return false;
  });
  with.open();
  const auto messages = with.heard.messages(2);
  ASSERT_EQ(messages.size(), 2u);
  EXPECT_EQ(messages[1].call, 0u);
  EXPECT_EQ(messages[1].text, server_notice);
  EXPECT_EQ(with.server.requests("GET", 1).at(0).field("accept"), "text/event-stream");
}

TEST(http_sessions, the_servers_stream_is_asked_for_again_with_the_last_id_after_the_pause_it_names) {
  std::atomic<int> streams{0};
  session_talk with([&](const heard_request& asked, scripted_connection& to) {
    if (asked.method != "GET") return no_stream(asked, to);
    to.open_stream();
    if (++streams == 1) {
      to.send("retry: 120\n" + event(server_notice, "41"));
      return false;
    }
    to.send(event(server_notice, "42"));
    to.sees_the_end();
    return false;
  });
  with.open();
  ASSERT_EQ(with.heard.messages(3).size(), 3u);
  const auto gets = with.server.requests("GET", 2);
  EXPECT_FALSE(gets[0].fields.contains("last-event-id"));
  EXPECT_EQ(gets[1].field("last-event-id"), "41");
  EXPECT_EQ(gets[1].field("mcp-session-id"), "s-1");
  EXPECT_GE(gets[1].at - gets[0].at, milliseconds(119));
  EXPECT_EQ(with.heard.interruptions(0), 0u);  // it went on where it ended
}

TEST(http_sessions, a_stream_without_ids_that_comes_back_may_have_missed_something) {
  std::atomic<int> streams{0};
  session_talk with([&](const heard_request& asked, scripted_connection& to) {
    if (asked.method != "GET") return no_stream(asked, to);
    to.open_stream();
    if (++streams == 1) {
      to.send("retry: 60\n" + event(server_notice));
      return false;
    }
    to.sees_the_end();
    return false;
  });
  with.open();
  EXPECT_EQ(with.heard.interruptions(1), 1u);
}

TEST(http_sessions, a_stream_that_was_there_and_is_404_now_breaks_the_session) {
  std::atomic<int> streams{0};
  session_talk with([&](const heard_request& asked, scripted_connection& to) {
    if (asked.method == "POST") {
      to.sees_the_end();
      return false;
    }
    if (asked.method == "DELETE") return to.answer(204, "", "");
    if (++streams > 1) return to.answer(404, "", "");
    to.open_stream();
    to.send("retry: 10\n" + event(server_notice));
    return false;
  });
  with.open();
  with.channel->send(call(2));
  const auto breaks = with.heard.breaks(1);
  ASSERT_EQ(breaks.size(), 1u);
  EXPECT_EQ(breaks[0].code, errc::source_unavailable);
  // Forgotten: nothing is left to end.
  with.channel->close(event_deadline);
  EXPECT_TRUE(with.server.requests("DELETE", 0).empty());
}

TEST(http_sessions, a_404_where_no_stream_has_been_is_no_end) {
  session_talk with([](const heard_request& asked, scripted_connection& to) {
    return asked.method == "GET" ? to.answer(404, "", "") : no_stream(asked, to);
  });
  with.open();
  ASSERT_EQ(with.server.requests("GET", 1).size(), 1u);
  with.channel->send(call(2));
  ASSERT_TRUE(with.heard.ending_of(2));
  EXPECT_TRUE(with.heard.breaks(0).empty());
}

TEST(http_sessions, an_answers_stream_that_ends_early_is_taken_up_by_get) {
  session_talk with([](const heard_request& asked, scripted_connection& to) {
    to.open_stream();
    if (asked.method == "POST") {
      to.send("id: e-1\nretry: 150\ndata: \n\n");
      return false;
    }
    if (asked.field("last-event-id").empty()) {
      to.sees_the_end();
    } else {
      to.send(event(server_notice, "e-2") + event(answering(2), "e-3"));
      to.sees_the_end();
    }
    return false;
  });
  with.open();
  with.channel->send(call(2));
  ASSERT_TRUE(with.heard.ending_of(2));
  const auto messages = with.heard.messages(3);
  ASSERT_EQ(messages.size(), 3u);
  EXPECT_EQ(messages[1].call, 2u);
  EXPECT_EQ(messages[2].text, answering(2));
  const auto posted = with.server.requests("POST", 3).at(2);
  const auto gets = with.server.requests("GET", 2);
  const auto taken_up =
      std::find_if(gets.begin(), gets.end(), [](const auto& one) { return one.fields.contains("last-event-id"); });
  ASSERT_NE(taken_up, gets.end());
  EXPECT_EQ(taken_up->field("last-event-id"), "e-1");
  EXPECT_EQ(taken_up->field("mcp-session-id"), "s-1");
  EXPECT_GE(taken_up->at - posted.at, milliseconds(149));
}

TEST(http_sessions, a_stream_that_cannot_be_taken_up_ends_the_call) {
  session_talk with([](const heard_request& asked, scripted_connection& to) {
    if (asked.method == "GET") return to.answer(405, "", "");
    to.open_stream();
    to.send("id: e-1\nretry: 10\ndata: \n\n");
    return false;
  });
  with.open();
  with.channel->send(call(2));
  const auto how = with.heard.ending_of(2);
  ASSERT_TRUE(how);
  EXPECT_EQ(how->http_status, 405);
  EXPECT_NE(how->reason.public_text.find("cannot be resumed"), std::string::npos) << how->reason.public_text;
}

TEST(http_sessions, content_that_was_given_away_is_not_asked_for_again) {
  session_talk with([](const heard_request& asked, scripted_connection& to) {
    if (asked.method == "GET") return to.answer(405, "", "");
    to.open_stream();
    to.send("id: e-1\nretry: 10\ndata: \n\n");
    to.send(R"(data: {"jsonrpc":"2.0","id":2,"result":{"contents":[{"uri":"a:b","text":"half of)");
    return false;
  });
  with.open();
  auto reading = call(2);
  reading.content = [](std::size_t, std::string_view) { return hondana::result<void>(); };
  with.channel->send(std::move(reading));
  const auto how = with.heard.ending_of(2);
  ASSERT_TRUE(how);
  EXPECT_EQ(how->reason.code, errc::source_unavailable);
  EXPECT_EQ(how->http_status, 200);
}

TEST(http_sessions, closing_lets_notifications_out_before_the_session_ends) {
  session_talk with(no_stream);
  with.open();
  ASSERT_EQ(with.server.requests("GET", 1).size(), 1u);
  for (int i = 0; i < 20; ++i) with.channel->send(notice("notifications/cancelled"));
  with.channel->close(event_deadline);
  const auto all = with.server.requests(24);
  ASSERT_EQ(all.size(), 24u);
  EXPECT_EQ(all.back().method, "DELETE");
}

TEST(http_sessions, closing_waits_no_longer_than_it_may) {
  session_talk with([&](const heard_request& asked, scripted_connection& to) {
    if (asked.method == "GET") return to.answer(405, "", "");
    to.sees_the_end();
    return false;
  });
  with.open();
  for (std::uint64_t i = 2; i < 10; ++i) with.channel->send(call(i));
  const auto begin = std::chrono::steady_clock::now();
  with.channel->close(milliseconds(100));
  // The server would wait for so long.
  EXPECT_LT(std::chrono::steady_clock::now() - begin, event_deadline);
  EXPECT_EQ(with.heard.endings(1).size(), 1u);
}

TEST(http_sessions, nothing_is_left_open_or_running) {
  const auto threads = [] { return hondana_test::entries_of("/proc/self/task"); };
  const auto running = threads();
  {
    const session_talk warm(no_stream);
  }
  const auto before = hondana_test::open_descriptors();
  for (int i = 0; i < 10; ++i) {
    session_talk with([](const heard_request& asked, scripted_connection& to) {
      if (asked.method == "DELETE") return to.answer(204, "", "");
      to.open_stream();
      to.sees_the_end();
      return false;
    });
    with.open();
    for (std::uint64_t id = 2; id < 12; ++id) with.channel->send(call(id));
    ASSERT_EQ(with.server.requests("GET", 1).size(), 1u);
    if (i % 2 == 0) with.channel->close(event_deadline);
    with.channel.reset();
  }
  EXPECT_EQ(hondana_test::open_descriptors(), before);
  // A thread is listed for a moment after it was joined.
  EXPECT_TRUE(eventually([&] { return threads() <= running; }));
}

}  // namespace
