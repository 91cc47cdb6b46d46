/// Streams that go on no longer than what their callers have proved.
#include <chrono>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hondana/clock.hpp>

#include "unit/transport/http_server/client.hpp"
#include "unit/transport/http_server/guarded.hpp"
#include "unit/transport/http_server/protected_requests.hpp"
#include "unit/transport/http_server/shelf.hpp"

namespace {

using hondana_test::ask;
using hondana_test::bearer;
using hondana_test::challenge_of;
using hondana_test::client;
using hondana_test::eventually;
using hondana_test::guarded;
using hondana_test::initialize;
using hondana_test::modern;
using hondana_test::post;
using hondana_test::protected_post;
using hondana_test::session_get;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::AllOf;
using testing::HasSubstr;

const hondana::auth_rejection expired{401, "invalid_token", "The token has expired.", {}, {}};

struct stopped_time {
  hondana::manual_clock clock;
};

hondana::server_options patient() {
  hondana::server_options out;
  out.call_timeout = hours(24);
  return out;
}

/// Says of everybody for a moment only who it is.
struct fleeting : stopped_time, guarded {
  explicit fleeting(hondana::server_options with = patient()) : guarded(std::move(with)) { clerk->holds = milliseconds(50); }

  /// Lets time pass until `stream` has got `what`, or has ended.
  std::string receive_later(client& stream, std::string_view what) {
    EXPECT_TRUE(eventually([&] {
      clock.advance(seconds(1));
      return stream.has_received(what);
    })) << what;
    return stream.receive_until(what);
  }
  /// Lets time pass until those whom it has vouched for were looked at so many times more.
  void look_again(std::size_t times) {
    const auto before = clerk->looked_at.count();
    EXPECT_TRUE(eventually([&] {
      clock.advance(seconds(1));
      return clerk->looked_at.count() >= before + times;
    }));
  }

  std::string open_session(std::string_view token) const {
    return ask(*this, protected_post(token, initialize())).fields.at("mcp-session-id");
  }
  /// The stream of a session, opened.
  client standing(const std::string& session, std::string_view token) const {
    auto made = peer();
    made.send(session_get(session, token));
    EXPECT_THAT(made.receive_until("\r\n\r\n"), HasSubstr("HTTP/1.1 200 OK"));
    return made;
  }
  client listening(std::string_view token) const {
    auto made = peer();
    made.send(protected_post(token, modern("subscriptions/listen", "9", R"("notifications":{"resourcesListChanged":true},)")));
    EXPECT_THAT(made.receive_until("\r\n\r\n"), HasSubstr("text/event-stream"));
    EXPECT_THAT(made.receive_until("\n\n"), HasSubstr("acknowledged"));
    return made;
  }
};

// attacks: going on to listen with a token that was revoked
TEST(proofs, that_have_ended_end_the_stream_of_a_session_but_not_the_session) {
  fleeting with;
  const auto id = with.open_session("alice");
  auto stream = with.standing(id, "alice");
  with.clerk->say(expired);
  EXPECT_THAT(with.receive_later(stream, "\r\n0\r\n\r\n"), testing::EndsWith("\r\n0\r\n\r\n"))
      << "the stream has no orderly end";
  EXPECT_TRUE(stream.sees_the_end());
  EXPECT_EQ(ask(with, session_get(id, "alice")).status, 401);
  with.clerk->say({});
  auto again = with.standing(id, "alice-again");
}

TEST(proofs, that_have_ended_end_a_stream_of_changes_with_its_answer) {
  fleeting with;
  auto stream = with.listening("alice");
  with.clerk->say(expired);
  EXPECT_THAT(with.receive_later(stream, "\r\n0\r\n\r\n"),
              AllOf(HasSubstr("\"id\":9"), testing::EndsWith("\n\n\r\n0\r\n\r\n")));
  EXPECT_TRUE(stream.sees_the_end());
}

TEST(proofs, that_have_ended_end_the_session_of_the_oldest_transport) {
  fleeting with;
  auto stream = with.peer();
  stream.send("GET /sse HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n" + bearer("alice") + "\r\n");
  EXPECT_THAT(stream.receive_until("\n\n"), HasSubstr("event: endpoint"));
  with.clerk->say(expired);
  EXPECT_THAT(with.receive_later(stream, "\r\n0\r\n\r\n"), testing::EndsWith("\r\n0\r\n\r\n"));
  EXPECT_TRUE(stream.sees_the_end());
}

TEST(proofs, that_still_hold_when_they_are_looked_at_again_end_nothing) {
  fleeting with;
  auto stream = with.listening("alice");
  with.look_again(2);
  with.server.notify_resources_changed();
  EXPECT_THAT(with.receive_later(stream, "list_changed"), HasSubstr("list_changed"));
}

TEST(proofs, that_must_be_asked_about_are_asked_about_again) {
  fleeting with;
  with.clerk->open();
  auto stream = with.listening("slow-alice");
  EXPECT_TRUE(eventually([&] {
    with.clock.advance(seconds(1));
    return with.clerk->asked.count() >= 2;
  }));
  with.clerk->say(expired);
  EXPECT_THAT(with.receive_later(stream, "\"id\":9"), HasSubstr("\"id\":9"));
}

TEST(proofs, of_which_nobody_can_tell_for_a_moment_end_nothing) {
  fleeting with;
  auto stream = with.listening("alice");
  with.clerk->say(hondana::auth_rejection{503, {}, "away", {}, std::chrono::seconds(1)});
  with.server.notify_resources_changed();
  EXPECT_THAT(with.receive_later(stream, "list_changed"), HasSubstr("list_changed"));
  with.clerk->say({});
  with.look_again(1);
  with.server.notify_resources_changed();
  EXPECT_THAT(with.receive_later(stream, "list_changed"), HasSubstr("list_changed"));
}

TEST(proofs, of_which_nobody_can_tell_for_long_end_the_stream) {
  hondana::server_options options;
  options.call_timeout = milliseconds(500);
  fleeting with(options);
  auto stream = with.listening("alice");
  with.clerk->say(hondana::auth_rejection{503, {}, "away", {}, {}});
  EXPECT_THAT(with.receive_later(stream, "\"id\":9"), HasSubstr("\"id\":9"));
}

TEST(proofs, of_less_than_before_end_the_stream) {
  fleeting with;
  with.clerk->grant("alice", {"mcp", "secrets"});
  auto stream = with.listening("alice");
  with.clerk->grant("alice", {"mcp"});
  EXPECT_THAT(with.receive_later(stream, "\"id\":9"), HasSubstr("\"id\":9"));
}

// attacks: going on to listen with groups that were taken away
TEST(proofs, of_other_groups_than_before_end_the_stream_when_these_see_otherwise) {
  hondana::server_options options;
  options.access.rules.push_back({.level = hondana::access_level::read});
  options.access.rules.push_back({.uris = {"memo:///secret"}});
  options.access.rules.push_back({.groups = {"staff"}, .uris = {"memo:///secret"}, .level = hondana::access_level::read});
  fleeting with(options);
  with.clerk->grant("alice", {"mcp"});
  with.clerk->claim("alice", R"({"groups":["staff"]})");
  auto stream = with.listening("alice");
  with.clerk->claim("alice", R"({"groups":["staff","choir"]})");
  with.look_again(2);
  with.server.notify_resources_changed();
  EXPECT_THAT(with.receive_later(stream, "list_changed"), HasSubstr("list_changed")) << "what no rule is about changes nothing";
  with.clerk->claim("alice", R"({"groups":["choir"]})");
  EXPECT_THAT(with.receive_later(stream, "\"id\":9"), HasSubstr("\"id\":9"));
}

TEST(proofs, of_a_broader_scope_than_before_end_nothing_and_open_what_that_one_has_opened) {
  hondana::server_options options;
  options.scopes.implied = {{"admin", {"write"}}};
  fleeting with(options);
  with.clerk->grant("alice", {"write"});
  const auto id = with.open_session("alice");
  auto stream = with.listening("alice");
  with.clerk->grant("alice", {"admin"});
  with.look_again(2);
  with.server.notify_resources_changed();
  EXPECT_THAT(with.receive_later(stream, "list_changed"), HasSubstr("list_changed"));
  auto again = with.standing(id, "alice");
}

TEST(proofs, that_end_while_a_request_is_answered_do_not_cut_that_off) {
  fleeting with;
  hondana_test::tally release;
  with.source->entries["memo:///slow"] = [&release](const hondana::read_request& request) {
    request.report_progress({1, 2.0, "half"});
    static_cast<void>(release.reaches(1));
    return hondana::text_read_result("all of it");
  };
  const auto id = with.open_session("alice");
  auto peer = with.peer();
  peer.send(post(R"({"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"memo:///slow",)"
                 R"("_meta":{"progressToken":"p"}}})",
                 bearer("alice") + "Mcp-Session-Id: " + id + "\r\n"));
  EXPECT_THAT(peer.receive_until("\n\n"), HasSubstr("HTTP/1.1 200"));
  auto watch = with.listening("bob");
  with.clerk->say(expired);
  EXPECT_THAT(with.receive_later(watch, "\"id\":9"), HasSubstr("\"id\":9")) << "by now the other one has been looked at, too";
  release.add();
  EXPECT_THAT(peer.receive_until("all of it"), HasSubstr("all of it"));
}

// attacks: opening the stream of a session with less than the session was opened with
TEST(proofs, of_less_do_not_open_the_stream_of_a_session_that_was_opened_with_more) {
  fleeting with;
  with.clerk->grant("alice", {"mcp", "secrets"});
  const auto id = with.open_session("alice");
  with.clerk->grant("alice", {"mcp"});
  const auto got = ask(with, session_get(id, "alice"));
  EXPECT_EQ(got.status, 403);
  EXPECT_THAT(challenge_of(got), HasSubstr("error=\"insufficient_scope\""));
  EXPECT_THAT(challenge_of(got), HasSubstr("scope=\"mcp secrets\""));
  EXPECT_THAT(got.body, HasSubstr("opened with a token of more scopes"));
  with.clerk->grant("alice", {"mcp", "secrets", "more"});
  auto stream = with.standing(id, "alice");
}

}  // namespace
