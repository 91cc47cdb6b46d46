/// Sessions that belong to somebody, and what scopes allow in and out of them.
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/transport/http_server/client.hpp"
#include "unit/transport/http_server/guarded.hpp"
#include "unit/transport/http_server/protected_requests.hpp"
#include "unit/transport/http_server/shelf.hpp"

namespace {

using hondana_test::answer;
using hondana_test::ask;
using hondana_test::bearer;
using hondana_test::challenge_of;
using hondana_test::guarded;
using hondana_test::initialize;
using hondana_test::legacy_read;
using hondana_test::library;
using hondana_test::modern;
using hondana_test::ping;
using hondana_test::post;
using hondana_test::protected_post;
using hondana_test::session_get;
using hondana_test::who;
using testing::HasSubstr;
using testing::Not;

TEST(sessions_of_callers, belong_to_whoever_has_opened_them) {
  guarded with;
  const auto opened = ask(with, protected_post("alice", initialize()));
  ASSERT_EQ(opened.status, 200) << opened.body;
  const auto id = opened.fields.at("mcp-session-id");
  const auto field = "Mcp-Session-Id: " + id + "\r\n";
  EXPECT_THAT(ask(with, post(legacy_read, bearer("alice") + field)).body, HasSubstr("\"alice at "));
  EXPECT_THAT(ask(with, post(legacy_read, bearer("alice-again") + field)).body, HasSubstr("\"alice at "))
      << "a refreshed token is the same caller's";

  const auto unknown = ask(with, post(legacy_read, bearer("bob") + "Mcp-Session-Id: 00000000000000000000000000000000\r\n"));
  const auto foreign = ask(with, post(legacy_read, bearer("bob") + field));
  EXPECT_EQ(foreign.status, 404);
  EXPECT_EQ(foreign.body, unknown.body) << "it can be told that the session is there";
  EXPECT_EQ(ask(with, session_get(id, "bob")).status, 404);
  EXPECT_EQ(ask(with, "DELETE /mcp HTTP/1.1\r\nHost: localhost\r\n" + field + bearer("bob") + "\r\n").status, 404);
  EXPECT_EQ(ask(with, post(legacy_read, field)).status, 401);

  auto stream = with.peer();
  stream.send(session_get(id, "alice"));
  EXPECT_THAT(stream.receive_until("\r\n\r\n"), HasSubstr("HTTP/1.1 200 OK"));
  EXPECT_EQ(ask(with, "DELETE /mcp HTTP/1.1\r\nHost: localhost\r\n" + field + bearer("alice") + "\r\n", false).status, 204);
}

TEST(sessions_of_callers, by_the_oldest_transport_belong_to_them_too) {
  guarded with;
  auto stream = with.peer();
  stream.send("GET /sse HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n" + bearer("alice") + "\r\n");
  stream.receive_until("data: ");
  auto target = stream.receive_until("\n\n");
  target.erase(target.find('\n'));
  ASSERT_TRUE(target.starts_with("/message?sessionId=")) << target;
  const auto send = [&](std::string_view token) {
    return ask(with,
               "POST " + target + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" + bearer(token) +
                   "Content-Length: " + std::to_string(initialize().size()) + "\r\n\r\n" + initialize(),
               false)
        .status;
  };
  EXPECT_EQ(send("bob"), 404);
  EXPECT_EQ(send("bad"), 401);
  EXPECT_EQ(send("alice-again"), 202);
  EXPECT_THAT(stream.receive_until("\n\n"), HasSubstr("\"protocolVersion\""));
}

// --- scopes

hondana::server_options with_rules() {
  hondana::server_options options;
  options.scopes.always_required = {"mcp"};
  options.scopes.rules = {{{"resources/read", "resources/subscribe"}, {"memo:///secret"}, {}, {"secrets"}}};
  options.scopes.implied = {{"admin", {"mcp", "secrets"}}};
  options.has_resource_tools = true;
  return options;
}

struct scoped : guarded {
  scoped() : guarded(with_rules()) {
    clerk->scopes = {{"guest", {}}, {"reader", {"mcp"}}, {"chief", {"admin"}}};
    clerk->about = std::make_shared<hondana::protected_resource>();
  }
};

const std::string secret = library::read("memo:///secret/plan", "5");
constexpr std::string_view needs_both =
    "Bearer resource_metadata=\"http://127.0.0.1/.well-known/oauth-protected-resource/mcp\", error=\"insufficient_scope\", "
    "error_description=\"This needs more scopes than the token has\", scope=\"mcp secrets\"";

// requires: */authorization.insufficient_scope */authorization.all_scopes */authorization.hierarchy
TEST(scopes_of_callers, that_lack_are_named_all_at_once) {
  scoped with;
  const auto got = ask(with, protected_post("reader", secret));
  EXPECT_EQ(got.status, 403);
  EXPECT_EQ(challenge_of(got), needs_both);
  EXPECT_TRUE(got.body.starts_with(R"({"jsonrpc":"2.0","id":5,"error":{"code":-32602,"message":"Not allowed: this needs the )"
                                   R"(scopes mcp secrets,)"))
      << got.body;
  EXPECT_EQ(ask(with, protected_post("reader")).status, 200);
  EXPECT_THAT(ask(with, protected_post("chief", secret)).body, HasSubstr("the plan"));
  EXPECT_EQ(
      challenge_of(ask(with, protected_post("guest", ping))),
      "Bearer resource_metadata=\"http://127.0.0.1/.well-known/oauth-protected-resource/mcp\", error=\"insufficient_scope\", "
      "error_description=\"This needs more scopes than the token has\", scope=\"mcp\"");
}

TEST(scopes_of_callers, that_have_proved_nothing_are_not_asked_for) {
  scoped with;
  EXPECT_THAT(ask(with, protected_post("nobody-special", secret)).body, HasSubstr("the plan"));
}

TEST(scopes_of_callers, count_in_sessions_too_and_a_better_token_goes_on_there) {
  scoped with;
  EXPECT_EQ(ask(with, protected_post("guest", initialize())).status, 403);
  const auto opened = ask(with, protected_post("reader", initialize()));
  ASSERT_EQ(opened.status, 200) << opened.body;
  const auto field = "Mcp-Session-Id: " + opened.fields.at("mcp-session-id") + "\r\n";
  const std::string read = R"({"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"memo:///secret/plan"}})";
  const std::string watch = R"({"jsonrpc":"2.0","id":2,"method":"resources/subscribe","params":{"uri":"memo:///secret/plan"}})";
  for (const auto& request : {read, watch}) {
    const auto got = ask(with, post(request, bearer("reader") + field));
    EXPECT_EQ(got.status, 403) << request;
    EXPECT_EQ(challenge_of(got), needs_both) << request;
  }
  with.clerk->scopes["reader"] = {"mcp", "secrets"};
  EXPECT_THAT(ask(with, post(read, bearer("reader-again") + field)).body, HasSubstr("the plan"));
}

TEST(scopes_of_callers, in_a_batch_are_matters_of_its_messages) {
  scoped with;
  auto opening = initialize();
  opening.replace(opening.find("2025-11-25"), 10, "2025-03-26");
  const auto opened = ask(with, protected_post("reader", opening));
  ASSERT_EQ(opened.status, 200) << opened.body;
  const auto field = "Mcp-Session-Id: " + opened.fields.at("mcp-session-id") + "\r\n";
  const auto got =
      ask(with, post(R"([{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"memo:///secret/plan"}},)"
                     R"({"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"memo:///who"}}])",
                     bearer("reader") + field));
  EXPECT_EQ(got.status, 200);
  EXPECT_EQ(challenge_of(got), "");
  EXPECT_THAT(got.body, HasSubstr("this needs the scopes mcp secrets"));
  EXPECT_THAT(got.body, HasSubstr("\"reader at "));
}

TEST(scopes_of_callers, count_for_streams_of_changes) {
  scoped with;
  const auto listen =
      modern("subscriptions/listen", "9", R"("notifications":{"resourceSubscriptions":["memo:///secret/plan"]},)");
  const auto got = ask(with, protected_post("reader", listen));
  EXPECT_EQ(got.status, 403);
  EXPECT_EQ(challenge_of(got), needs_both);
}

// attacks: reading a folder, which brings what a rule protects in it
TEST(scopes_of_callers, count_for_each_content_of_a_reading) {
  scoped with;
  with.source->entries["memo:///folder"] = [](const auto&) {
    auto made = hondana::text_read_result("memo:///secret/plan");
    auto inside = hondana::text_read_result("the plan").contents.front();
    inside.uri = "memo:///secret/plan";
    made.contents.push_back(std::move(inside));
    return made;
  };
  const auto folder = library::read("memo:///folder", "5");
  const auto some = ask(with, protected_post("reader", folder));
  EXPECT_EQ(some.status, 200);
  EXPECT_THAT(some.body, HasSubstr("\"memo:///secret/plan\""));
  EXPECT_THAT(some.body, Not(HasSubstr("the plan")));
  EXPECT_THAT(some.body, HasSubstr(R"("cacheScope":"private")"));
  EXPECT_THAT(ask(with, protected_post("chief", folder)).body, HasSubstr("the plan"));
}

// attacks: having an answer sent again with a token that it would have been refused to
TEST(scopes_of_callers, count_for_what_is_sent_again) {
  scoped with;
  with.source->entries["memo:///secret/report"] = [](const hondana::read_request& request) {
    request.report_progress({1, 2.0, "half"});
    return hondana::text_read_result("the plan");
  };
  const auto id = ask(with, protected_post("chief", initialize())).fields.at("mcp-session-id");
  const std::string read = R"({"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"memo:///secret/report",)"
                           R"("_meta":{"progressToken":"p"}}})";
  const auto got = ask(with, post(read, bearer("chief") + "Mcp-Session-Id: " + id + "\r\n"));
  EXPECT_THAT(got.body, HasSubstr("id: 2-1\n"));
  EXPECT_THAT(got.body, HasSubstr("the plan"));
  auto again = session_get(id, "chief");
  again.insert(again.size() - 2, "Last-Event-ID: 2-1\r\n");
  with.clerk->scopes["chief"] = {"mcp"};
  const auto refused = ask(with, again);
  EXPECT_EQ(refused.status, 400);
  EXPECT_THAT(refused.body, Not(HasSubstr("the plan")));
  with.clerk->scopes["chief"] = {"admin"};
  EXPECT_THAT(ask(with, again).body, HasSubstr("the plan"));
}

TEST(scopes_of_callers, count_for_what_tools_read) {
  scoped with;
  const std::string call =
      R"({"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"read_resource","arguments":{"uri":"memo:///secret/plan"}}})";
  const auto send = [&with, &call](std::string_view token) {
    const auto opened = ask(with, protected_post(token, initialize()));
    return ask(with, post(call, bearer(token) + "Mcp-Session-Id: " + opened.fields.at("mcp-session-id") + "\r\n"));
  };
  const auto got = send("reader");
  EXPECT_EQ(got.status, 403) << got.body;
  EXPECT_EQ(challenge_of(got), needs_both);
  EXPECT_THAT(send("chief").body, HasSubstr("the plan"));
}

}  // namespace
