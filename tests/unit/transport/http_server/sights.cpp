/// Streams of sessions whose callers see otherwise than when something was sent.
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/must.hpp"
#include "unit/transport/http_server/client.hpp"
#include "unit/transport/http_server/guarded.hpp"
#include "unit/transport/http_server/protected_requests.hpp"
#include "unit/transport/http_server/shelf.hpp"

namespace {

using hondana_test::ask;
using hondana_test::bearer;
using hondana_test::client;
using hondana_test::guarded;
using hondana_test::initialize;
using hondana_test::post;
using hondana_test::protected_post;
using hondana_test::session_get;
using testing::HasSubstr;
using testing::Not;

hondana::server_options ruled(bool denies_secret) {
  hondana::server_options made;
  made.access.rules.push_back({.level = hondana::access_level::read});
  if (denies_secret) made.access.rules.push_back({.uris = {"memo:///secret"}});
  return made;
}

constexpr std::string_view staff = R"({"groups":["staff"]})";
constexpr std::string_view nobody = R"({"groups":[]})";

/// Who is not of the staff does not see the secret.
hondana::server_options ruled_for_staff() {
  auto made = ruled(true);
  made.access.rules.push_back({.groups = {"staff"}, .uris = {"memo:///secret"}, .level = hondana::access_level::read});
  return made;
}

/// A session whose caller comes with one token and then with another.
struct session_of_two_tokens : guarded {
  session_of_two_tokens() : guarded(ruled_for_staff()) {
    clerk->grant("alice", {"mcp"});
    clerk->claim("alice", std::string(staff));
    id = ask(*this, protected_post("alice", initialize())).fields.at("mcp-session-id");
    for (const std::string uri : {"memo:///who", "memo:///secret/plan"})
      send(R"({"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":")" + uri + "\"}}");
  }
  void send(const std::string& message) {
    const auto got = ask(*this, post(message, bearer("alice") + "Mcp-Session-Id: " + id + "\r\n"));
    EXPECT_EQ(got.status, 200) << got.body;
  }
  void ask_with(std::string_view claims) {
    clerk->claim("alice", std::string(claims));
    send(R"({"jsonrpc":"2.0","id":2,"method":"ping"})");
  }
  /// What is told of a change of both, up to that of the one that everybody sees.
  std::string told_of_changes(client& stream) {
    must(server.notify_resource_updated("memo:///secret/plan"));
    must(server.notify_resource_updated("memo:///who"));
    return stream.receive_until("memo:///who\"");
  }
  std::string id;
};

// attacks: going on to hear what another token of the same caller shows no more
TEST(sights_of_sessions, are_those_of_the_token_that_asked_last_and_of_the_one_that_reads) {
  session_of_two_tokens with;
  auto stream = with.peer();
  stream.send(session_get(with.id, "alice"));
  EXPECT_THAT(with.told_of_changes(stream), HasSubstr("memo:///secret/plan"));
  with.ask_with(nobody);
  EXPECT_THAT(with.told_of_changes(stream), Not(HasSubstr("secret")));
  with.ask_with(staff);
  EXPECT_THAT(with.told_of_changes(stream), HasSubstr("memo:///secret/plan"));

  with.clerk->claim("alice", std::string(nobody));
  auto lesser = with.peer();
  lesser.send(session_get(with.id, "alice"));
  EXPECT_THAT(lesser.receive_until("\r\n\r\n"), HasSubstr("HTTP/1.1 200 OK"));
  with.ask_with(staff);
  EXPECT_THAT(with.told_of_changes(lesser), Not(HasSubstr("secret")));
}

/// A session that watches two resources, and has heard of both.
struct session_that_has_heard : guarded {
  session_that_has_heard() : guarded(ruled(false)) {
    id = ask(*this, protected_post("alice", initialize())).fields.at("mcp-session-id");
    for (const std::string uri : {"memo:///who", "memo:///secret/plan"}) {
      const auto got =
          ask(*this, post(R"({"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":")" + uri + "\"}}",
                          bearer("alice") + "Mcp-Session-Id: " + id + "\r\n"));
      EXPECT_EQ(got.status, 200) << got.body;
    }
    auto stream = peer();
    stream.send(session_get(id, "alice"));
    must(server.notify_resource_updated("memo:///secret/plan"));
    EXPECT_THAT(stream.receive_until("secret/plan"), HasSubstr("resources/updated"));
    must(server.notify_resource_updated("memo:///who"));
    EXPECT_THAT(stream.receive_until("memo:///who"), HasSubstr("resources/updated"));
  }
  /// The stream, from its beginning.
  client come_back() {
    auto again = session_get(id, "alice");
    again.insert(again.size() - 2, "Last-Event-ID: 1-0\r\n");
    auto made = peer();
    made.send(again);
    EXPECT_THAT(made.receive_until("\r\n\r\n"), HasSubstr("HTTP/1.1 200 OK"));
    return made;
  }
  std::string id;
};

TEST(sights_of_sessions, that_are_the_same_have_what_was_missed_sent_again) {
  session_that_has_heard with;
  EXPECT_THAT(with.come_back().receive_until("memo:///who"), HasSubstr("memo:///secret/plan"));
}

// attacks: having sent again what rules hide by now
TEST(sights_of_sessions, that_have_changed_leave_a_stream_that_goes_on_without_what_was_missed) {
  session_that_has_heard with;
  ASSERT_TRUE(with.server.replace(ruled(true), {with.source}));
  auto stream = with.come_back();
  must(with.server.notify_resource_updated("memo:///secret/plan"));
  must(with.server.notify_resource_updated("memo:///who"));
  EXPECT_THAT(stream.receive_until("memo:///who"), Not(HasSubstr("secret")));
}

TEST(sights_of_sessions, that_have_changed_have_sent_again_what_was_missed_since) {
  session_that_has_heard with;
  ASSERT_TRUE(with.server.replace(ruled(true), {with.source}));
  {
    auto stream = with.come_back();
    must(with.server.notify_resource_updated("memo:///who"));
    EXPECT_THAT(stream.receive_until("memo:///who"), HasSubstr("resources/updated"));
  }
  EXPECT_THAT(with.come_back().receive_until("memo:///who"), HasSubstr("resources/updated"));
}

}  // namespace
