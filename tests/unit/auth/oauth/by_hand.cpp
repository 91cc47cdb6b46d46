/// Logging in and out by hand, and the advice to where nobody can log in by himself.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "auth/oauth/code_request.hpp"
#include "auth/oauth/session.hpp"
#include "unit/auth/oauth/scripted_places.hpp"

namespace {

using namespace hondana_test;
using hondana::token_record;
using std::chrono::seconds;

TEST(oauth_session, where_nobody_can_log_in_the_advice_is_given) {
  scripted_world world;
  world.settings.login = nullptr;
  world.settings.login_advice = "run this and that";
  const auto done = world.refused("Bearer scope=\"a b\"");
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, errc::unauthorized);
  EXPECT_NE(done.error().public_text.find("(scopes: a b): run this and that"), std::string::npos) << done.error().public_text;
  ASSERT_TRUE(done.error().scopes);
  EXPECT_EQ(*done.error().scopes, (std::vector<std::string>{"a", "b"}));
}

TEST(oauth_session, a_log_in_that_the_server_does_not_take_is_told_from_none) {
  scripted_world world;
  ASSERT_TRUE(world.refused());
  world.settings.login = nullptr;
  world.restart();
  ASSERT_TRUE(world.lacking());
  const auto done = world.refused("Bearer error=\"invalid_token\"", 401, 1);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().public_text.find("requires authentication"), std::string::npos) << done.error().public_text;
  EXPECT_NE(done.error().public_text.find("rejected the login at " + std::string(login_server_url)), std::string::npos)
      << done.error().public_text;
}

TEST(oauth_session, where_nobody_can_log_in_and_nothing_is_published_no_log_in_is_advised) {
  scripted_world world;
  world.settings.login = nullptr;
  world.places.drop("https://mcp.example/.well-known/oauth-protected-resource/mcp");
  const auto done = world.refused();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, hondana::errc::unauthorized);
  EXPECT_FALSE(done.error().scopes);
  EXPECT_NE(done.error().public_text.find("names no authorization server to log in at"), std::string::npos)
      << done.error().public_text;
  EXPECT_EQ(done.error().public_text.find(world.settings.login_advice), std::string::npos);
}

TEST(oauth_session, a_login_by_hand_asks_the_server_what_it_wants) {
  scripted_world world;
  auto refusal = json("{}", 401);
  refusal.challenges = {"Bearer scope=\"wanted\""};
  world.places.put(server_url, refusal);
  const auto done = world.session().log_in({});
  ASSERT_TRUE(done) << done.error().public_text;
  EXPECT_EQ(field(query_of(world.user->pages.at(0)), "scope"), "wanted");
  EXPECT_EQ(world.session().current()->key, (hondana::token_key{login_server_url, server_url, "registered", "wanted"}));
  EXPECT_EQ(world.session().current()->tokens.access_token, "");
}

TEST(oauth_session, a_login_by_hand_at_a_server_that_wants_nobody_is_refused) {
  scripted_world world;
  world.places.drop("https://mcp.example/.well-known/oauth-protected-resource/mcp");
  world.places.put(server_url, json(R"({"jsonrpc":"2.0","id":1,"result":{}})"));
  const auto done = world.session().log_in({});
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().public_text.find("does not require authentication"), std::string::npos) << done.error().public_text;
  EXPECT_TRUE(world.places.asked("https://mcp.example/register").empty());
  // Some want tokens for other requests only, and say so.
  scripted_world other;
  other.places.put(server_url, json(R"({"jsonrpc":"2.0","id":1,"result":{}})"));
  EXPECT_TRUE(other.session().log_in({}));
}

TEST(oauth_session, logging_out_tells_the_authorization_server_and_forgets_all) {
  scripted_world world;
  world.announce(R"(,"revocation_endpoint":"https://as.example/revoke")");
  world.places.put("https://as.example/revoke", json(""));
  world.token_members = R"(,"refresh_token":"again")";
  ASSERT_TRUE(world.refused());
  EXPECT_EQ(world.session().log_out(false, {}), true);
  EXPECT_EQ(field(world.places.asked("https://as.example/revoke").at(0).body.value_or(""), "token"), "again");
  EXPECT_EQ(world.token(), "");
  EXPECT_TRUE(world.store->find(server_url)->empty());
  EXPECT_EQ(world.store->registrations(login_server_url)->size(), 1u);
  EXPECT_EQ(world.session().log_out(false, {}), false);
}

TEST(oauth_session, logging_out_of_all_forgets_a_registration_without_tokens) {
  scripted_world world;
  ASSERT_TRUE(world.store->put_registration(login_server_url, {"left", "", {}, "", ""}));
  EXPECT_EQ(world.session().log_out(true, {}), false);
  EXPECT_TRUE(world.store->registrations(login_server_url)->empty());
}

TEST(oauth_session, logging_out_tells_why_the_authorization_server_did_not_listen) {
  scripted_world world;
  world.announce(R"(,"revocation_endpoint":"https://as.example/revoke")");
  ASSERT_TRUE(world.refused());
  world.places.put("https://as.example/revoke",
                   json(R"({"error":"unsupported_token_type","error_description":"It is a JWT."})", 400));
  EXPECT_EQ(world.session().log_out(false, {}), true);
  EXPECT_NE(world.said().find("status 400: "), std::string::npos) << world.said();
  EXPECT_NE(world.said().find("It is a JWT."), std::string::npos) << world.said();
}

TEST(oauth_session, logging_out_forgets_even_when_the_authorization_server_cannot_be_told) {
  scripted_world world;
  ASSERT_TRUE(world.refused());
  world.places.put("https://as.example/.well-known/oauth-authorization-server", json("", 500));
  EXPECT_EQ(world.session().log_out(true, {}), true);
  EXPECT_TRUE(world.store->find(server_url)->empty());
  EXPECT_TRUE(world.store->registrations(login_server_url)->empty());
  EXPECT_NE(world.said().find("https://as.example did not revoke the tokens"), std::string::npos) << world.said();
}

}  // namespace
