/// Who asks, as clients see it over sockets: tokens and refusals.
#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/transport/http_server/client.hpp"
#include "unit/transport/http_server/guarded.hpp"
#include "unit/transport/http_server/protected_requests.hpp"
#include "unit/transport/http_server/shelf.hpp"

namespace {

using hondana_test::ask;
using hondana_test::bearer;
using hondana_test::challenge_of;
using hondana_test::get;
using hondana_test::guarded;
using hondana_test::post;
using hondana_test::protected_post;
using hondana_test::who;
using testing::HasSubstr;
using testing::Not;

TEST(callers, without_a_token_are_told_what_is_missing) {
  guarded with;
  const auto got = ask(with, post(who));
  EXPECT_EQ(got.status, 401);
  EXPECT_EQ(challenge_of(got), "Bearer realm=\"mcp\"");
  EXPECT_EQ(got.fields.at("content-type"), "application/json");
  EXPECT_EQ(got.body,
            R"({"jsonrpc":"2.0","error":{"code":-32600,"message":"Unauthorized: this server requires authentication. Send )"
            R"(Authorization: Bearer with a token."}})");
}

TEST(callers, are_known_by_their_token_wherever_a_request_comes_from) {
  guarded with;
  EXPECT_THAT(ask(with, protected_post("alice")).body, HasSubstr("\"alice at 127.0.0.1\""));
  EXPECT_THAT(ask(with, post(who, "authorization: bEARER bob\r\n")).body, HasSubstr("\"bob at 127.0.0.1\""));
  EXPECT_EQ(with.clerk->last().bearer_token, "bob");
  EXPECT_EQ(with.clerk->last().host, "127.0.0.1");
  EXPECT_FALSE(with.clerk->last().is_secure);
  EXPECT_FALSE(with.clerk->last().peer);
}

TEST(callers, are_those_of_each_request_on_one_connection) {
  guarded with;
  auto peer = with.peer();
  with.clerk->open();
  peer.send(protected_post("alice") + protected_post("slow-bob") + protected_post("carol") + get("/healthz") +
            protected_post("bad") + protected_post("dave"));
  EXPECT_THAT(peer.receive().body, HasSubstr("\"alice at "));
  EXPECT_THAT(peer.receive().body, HasSubstr("\"bob at "));
  EXPECT_THAT(peer.receive().body, HasSubstr("\"carol at "));
  EXPECT_EQ(peer.receive().body.substr(0, 14), R"({"status":"ok")");
  // What is left of a refused request would be taken for the next one.
  const auto refused = peer.receive();
  EXPECT_EQ(refused.status, 401);
  EXPECT_EQ(refused.fields.at("connection"), "close");
  EXPECT_TRUE(peer.sees_the_end());
}

TEST(callers, that_are_refused_may_ask_again_on_the_connection_when_there_is_no_body) {
  guarded with;
  auto peer = with.peer();
  peer.send("DELETE /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(peer.receive().status, 401);
  peer.send(protected_post("alice"));
  EXPECT_EQ(peer.receive().status, 200);
}

// requires: */authorization.challenge */authorization.token_refused
TEST(callers, with_a_refused_token_are_told_why) {
  guarded with;
  with.clerk->about = std::make_shared<hondana::protected_resource>();
  const auto got = ask(with, post(who, bearer("bad-token") + "Origin: http://localhost:6274\r\n"));
  EXPECT_EQ(got.status, 401);
  EXPECT_EQ(challenge_of(got),
            "Bearer resource_metadata=\"http://127.0.0.1/.well-known/oauth-protected-resource/mcp\", error=\"invalid_token\", "
            "error_description=\"The token has expired. Log in again.\", scope=\"files\"");
  EXPECT_THAT(got.body, HasSubstr("The token has expired."));
  EXPECT_THAT(got.fields.at("access-control-expose-headers"), HasSubstr("WWW-Authenticate"));
  EXPECT_THAT(with.log() + got.body + challenge_of(got), Not(HasSubstr("bad-token")));
}

// requires: */authorization.challenge_scopes
TEST(callers, without_a_token_are_told_the_scopes_that_every_request_needs) {
  hondana::server_options options;
  options.scopes.always_required = {"mcp", "profile"};
  guarded with(options);
  EXPECT_EQ(challenge_of(ask(with, post(who))), "Bearer scope=\"mcp profile\"");
}

TEST(callers, are_told_the_scopes_of_the_present_rules) {
  hondana::server_options options;
  options.scopes.always_required = {"old"};
  guarded with(options);
  with.clerk->about = std::make_shared<hondana::protected_resource>();
  const std::string metadata = "/.well-known/oauth-protected-resource/mcp";
  EXPECT_THAT(ask(with, get(metadata)).body, HasSubstr(R"("scopes_supported":["old"])"));
  options.scopes.always_required = {"mcp"};
  options.scopes.rules = {{{"resources/read"}, {}, {}, {"read"}}};
  ASSERT_TRUE(with.server.replace(options, {with.source}));
  EXPECT_THAT(ask(with, get(metadata)).body, HasSubstr(R"("scopes_supported":["mcp","read"])"));
  // What the authenticator names by itself stays.
  EXPECT_THAT(challenge_of(ask(with, post(who, bearer("bad-token")))), HasSubstr("scope=\"files mcp\""));
  auto own = std::make_shared<hondana::protected_resource>();
  own->supported_scopes = {"mine"};
  with.clerk->about = own;
  EXPECT_THAT(ask(with, get(metadata)).body, HasSubstr(R"("scopes_supported":["mine"])"));
}

TEST(callers, are_not_let_in_by_an_authenticator_that_refuses_with_a_strange_status) {
  guarded with;
  with.clerk->always_says = hondana::auth_rejection{200, "invalid_token", "no", {}, {}};
  EXPECT_EQ(ask(with, protected_post("alice")).status, 401);
  with.clerk->always_says = hondana::auth_rejection{403, {}, "This shelf is closed to you.", {}, {}};
  const auto closed = ask(with, protected_post("alice"));
  EXPECT_EQ(closed.status, 403);
  EXPECT_THAT(closed.body, HasSubstr("This shelf is closed to you."));
  with.clerk->always_says = hondana::auth_rejection{503, {}, {}, {}, std::chrono::seconds(7)};
  const auto busy = ask(with, protected_post("alice"));
  EXPECT_EQ(busy.status, 503);
  EXPECT_EQ(busy.fields.at("retry-after"), "7");
  EXPECT_EQ(challenge_of(busy), "");
}

TEST(callers, of_another_scheme_have_sent_nothing) {
  guarded with;
  EXPECT_EQ(ask(with, post(who, "Authorization: Basic YWxpY2U6c2VjcmV0\r\n")).status, 401);
  EXPECT_FALSE(with.clerk->last().bearer_token);
}

TEST(callers, with_two_tokens_are_refused) {
  guarded with;
  const auto got = ask(with, post(who, bearer("alice") + bearer("alice")));
  EXPECT_EQ(got.status, 400);
  EXPECT_EQ(challenge_of(got),
            "Bearer error=\"invalid_request\", error_description=\"the header Authorization occurs more than once\"");
}

TEST(callers, with_a_control_character_in_the_token_are_refused) {
  guarded with;
  for (const std::string_view bad : {"a\tb", "a\x01", "a\x7f", "a b"}) {
    EXPECT_EQ(ask(with, protected_post(bad)).status, 400) << bad;
  }
}

// requires: */authorization.no_token_in_url
TEST(callers, with_a_token_in_the_url_are_refused_and_it_is_not_repeated) {
  guarded with;
  for (const std::string_view query :
       {"?access_token=hush", "?a=b&access_token=hush", "?%61ccess_token=hush", "?access_token"}) {
    auto request = protected_post("alice");
    request.replace(request.find("/mcp"), 4, "/mcp" + std::string(query));
    const auto got = ask(with, request);
    EXPECT_EQ(got.status, 400) << query;
    EXPECT_THAT(got.body, HasSubstr("must not be in the URL"));
    EXPECT_THAT(got.body + with.log(), Not(HasSubstr("hush")));
  }
  auto request = protected_post("alice");
  request.replace(request.find("/mcp"), 4, "/mcp?token=1&my_access_token=2");
  EXPECT_EQ(ask(with, request).status, 200);
}

TEST(callers, with_a_megabyte_of_header_are_refused) {
  guarded with;
  auto peer = with.peer();
  peer.send(post(who, bearer(std::string(1u << 20, 'x'))));
  EXPECT_EQ(peer.receive().status, 431);
}

// requires: */transports.authentication
TEST(callers, are_asked_for_before_anything_else_of_a_request_matters) {
  guarded with;
  auto peer = with.peer();
  peer.send(
      "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n"
      "Expect: 100-continue\r\n\r\n");
  EXPECT_EQ(peer.receive().status, 401) << "the body was waited for";
  for (const std::string_view request :
       {"GET /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n", "GET /sse HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "POST /message?sessionId=1 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n",
        "PUT /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n",
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: 0\r\n\r\n"}) {
    EXPECT_EQ(ask(with, std::string(request)).status, 401) << request;
  }
  EXPECT_EQ(ask(with, "GET /mcp HTTP/1.1\r\nHost: evil.example\r\n\r\n").status, 403);
}

TEST(callers, are_not_asked_for_where_nothing_is_at_stake) {
  guarded with;
  with.clerk->about = std::make_shared<hondana::protected_resource>();
  for (const auto* const path : {"/healthz", "/readyz", "/.well-known/oauth-protected-resource"}) {
    EXPECT_EQ(ask(with, get(path)).status, 200) << path;
  }
  EXPECT_EQ(ask(with, get("/metrics")).status, 401) << "who may ask nothing does not learn how busy it is";
  EXPECT_EQ(ask(with, get("/elsewhere")).status, 404);
  const auto preflight = ask(with, "OPTIONS /mcp HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost:6274\r\n\r\n", false);
  EXPECT_EQ(preflight.status, 204);
  EXPECT_THAT(preflight.fields.at("access-control-allow-headers"), HasSubstr("Authorization"));
}

}  // namespace
