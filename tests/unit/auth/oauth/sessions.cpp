/// Logging in where a server asks for it, and stepping up.
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

TEST(oauth_session, a_refused_request_makes_somebody_log_in) {
  scripted_world world;
  EXPECT_FALSE(world.session().token());
  ASSERT_TRUE(world.lacking());
  EXPECT_EQ(world.token(), "");
  const auto done = world.refused("Bearer resource_metadata=\"https://mcp.example/meta\", scope=\"read\"");
  ASSERT_TRUE(done) << done.error().public_text;
  EXPECT_EQ(world.token(), "token-1");
  ASSERT_EQ(world.user->pages.size(), 1u);
  const auto query = query_of(world.user->pages[0]);
  EXPECT_TRUE(world.user->pages[0].starts_with("https://as.example/authorize?"));
  EXPECT_EQ(field(query, "scope"), "read");
  EXPECT_EQ(field(query, "client_id"), "registered");
  EXPECT_EQ(field(query, "resource"), server_url);
  EXPECT_EQ(field(query, "code_challenge_method"), "S256");
  const auto form = world.token_form(0);
  EXPECT_EQ(field(form, "grant_type"), "authorization_code");
  EXPECT_EQ(field(form, "code"), "the-code");
  EXPECT_EQ(field(form, "resource"), server_url);
  EXPECT_EQ(field(form, "redirect_uri"), "http://127.0.0.1:7000/back");
  EXPECT_EQ(hondana::oauth::code_challenge(field(form, "code_verifier")), field(query, "code_challenge"));
  EXPECT_EQ(world.said().find("token-1"), std::string::npos);
  EXPECT_EQ(world.said().find("the-code"), std::string::npos);
}

TEST(oauth_session, the_metadata_that_the_server_names_is_asked_for_first) {
  scripted_world world;
  world.places.put("https://elsewhere.example/meta",
                   json(R"({"resource":"https://mcp.example/","authorization_servers":["https://as.example"]})"));
  ASSERT_TRUE(world.refused("Bearer resource_metadata=\"https://elsewhere.example/meta\""));
  EXPECT_EQ(world.places.urls().front(), "https://elsewhere.example/meta");
  EXPECT_EQ(world.places.asked("https://mcp.example/.well-known/oauth-protected-resource/mcp").size(), 0u);
  // The parameter is what the server publishes, letter for letter.
  EXPECT_EQ(field(query_of(world.user->pages.at(0)), "resource"), "https://mcp.example/");
  EXPECT_EQ(field(world.token_form(0), "resource"), "https://mcp.example/");
}

TEST(oauth_session, without_a_challenge_that_says_more_all_published_scopes_are_asked_for) {
  scripted_world world;
  world.publish(
      R"({"resource":"https://mcp.example/mcp","authorization_servers":["https://as.example"],"scopes_supported":["b","a"]})");
  world.settings.scopes = {"mine"};
  ASSERT_TRUE(world.refused());
  EXPECT_EQ(field(query_of(world.user->pages.at(0)), "scope"), "a b mine");
}

TEST(oauth_session, offline_access_is_asked_for_where_there_is_such_a_scope_and_another) {
  scripted_world world;
  world.announce(R"(,"scopes_supported":["offline_access"])");
  ASSERT_TRUE(world.refused("Bearer scope=\"a\""));
  EXPECT_EQ(field(query_of(world.user->pages.at(0)), "scope"), "a offline_access");
  scripted_world without;
  without.announce(R"(,"scopes_supported":["offline_access"])");
  ASSERT_TRUE(without.refused());
  EXPECT_EQ(query_of(without.user->pages.at(0)).find("scope="), std::string::npos);
}

TEST(oauth_session, tokens_at_hand_serve_the_next_process) {
  scripted_world world;
  ASSERT_TRUE(world.refused());
  world.restart();
  ASSERT_TRUE(world.lacking());
  EXPECT_EQ(world.token(), "token-1");
  EXPECT_EQ(world.user->pages.size(), 1u);
}

TEST(oauth_session, tokens_of_another_client_or_with_too_few_scopes_are_not_used) {
  scripted_world world;
  ASSERT_TRUE(world.refused("Bearer scope=a"));
  world.restart();
  world.settings.scopes = {"b"};
  ASSERT_TRUE(world.lacking());
  EXPECT_EQ(world.token(), "");
  world.restart();
  world.settings.scopes = {"a"};
  world.settings.client_id = "another";
  ASSERT_TRUE(world.lacking());
  EXPECT_EQ(world.token(), "");
}

TEST(oauth_session, a_step_up_asks_for_the_union_of_scopes) {
  scripted_world world;
  ASSERT_TRUE(world.refused("Bearer scope=\"read\""));
  ASSERT_TRUE(world.refused("Bearer error=\"insufficient_scope\", scope=\"write\"", 403));
  EXPECT_EQ(field(query_of(world.user->pages.at(1)), "scope"), "read write");
  EXPECT_EQ(world.token(), "token-2");
  ASSERT_EQ(world.store->find(server_url)->size(), 1u);
  EXPECT_EQ(world.store->find(server_url)->front().key.scope, "read write");
}

TEST(oauth_session, a_step_up_for_what_was_asked_for_already_ends_at_once) {
  scripted_world world;
  ASSERT_TRUE(world.refused("Bearer scope=\"admin\""));
  const auto done = world.refused("Bearer error=\"insufficient_scope\", scope=\"admin\"", 403);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, errc::unauthorized);
  ASSERT_TRUE(done.error().scopes);
  EXPECT_EQ(*done.error().scopes, std::vector<std::string>{"admin"});
  EXPECT_FALSE(world.refused("Bearer error=\"insufficient_scope\"", 403));
  EXPECT_EQ(world.user->pages.size(), 1u);
}

TEST(oauth_session, where_nobody_can_log_in_a_step_up_names_what_the_log_in_lacks) {
  scripted_world world;
  ASSERT_TRUE(world.refused("Bearer scope=\"read\""));
  world.settings.login = nullptr;
  world.restart();
  ASSERT_TRUE(world.lacking());
  const auto done = world.refused("Bearer error=\"insufficient_scope\", scope=\"read write\"", 403);
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().public_text.find("lacks the scopes write: "), std::string::npos) << done.error().public_text;
  ASSERT_TRUE(done.error().scopes);
  EXPECT_EQ(*done.error().scopes, std::vector<std::string>{"write"});
}

TEST(oauth_session, a_login_by_hand_for_one_scope_more_keeps_those_of_before) {
  scripted_world world;
  ASSERT_TRUE(world.refused("Bearer scope=\"read\""));
  world.settings.scopes = {"write"};
  world.restart();
  const auto done = world.session().log_in({});
  ASSERT_TRUE(done) << done.error().public_text;
  EXPECT_EQ(field(query_of(world.user->pages.at(1)), "scope"), "read write");
}

TEST(oauth_session, a_server_of_2025_03_26_is_its_own_authorization_server) {
  scripted_world world;
  // A configured client is bound to the issuer that it was used with first.
  world.settings.client_id = "old";
  world.places.drop("https://mcp.example/.well-known/oauth-protected-resource/mcp");
  world.places.put("https://mcp.example/.well-known/oauth-authorization-server",
                   json(R"({"issuer":"https://mcp.example/","authorization_endpoint":"https://mcp.example/o/a",)"
                        R"("token_endpoint":"https://mcp.example/o/t","registration_endpoint":"https://mcp.example/o/r"})"));
  world.places.put("https://mcp.example/o/r", json(R"({"client_id":"old"})", 201));
  world.places.put("https://mcp.example/o/t", json(R"({"access_token":"old-token","token_type":"Bearer"})"));
  const auto done = world.refused();
  ASSERT_TRUE(done) << done.error().public_text;
  EXPECT_EQ(world.token(), "old-token");
  // Nor is its slash another's the second time.
  EXPECT_EQ(world.session().current()->key.issuer, "https://mcp.example/");
  const auto again = world.refused("Bearer", 401, 1);
  ASSERT_TRUE(again) << again.error().public_text;
  EXPECT_EQ(world.places.asked("https://mcp.example/.well-known/oauth-authorization-server").front().headers.back(),
            (std::pair<std::string, std::string>("MCP-Protocol-Version", "2025-03-26")));
}

TEST(oauth_session, one_that_publishes_nothing_has_the_default_endpoints) {
  scripted_world world;
  world.places.drop("https://mcp.example/.well-known/oauth-protected-resource/mcp");
  world.places.put("https://mcp.example/register", json(R"({"client_id":"old"})", 201));
  world.places.put("https://mcp.example/token", json(R"({"access_token":"old-token","token_type":"Bearer"})"));
  const auto done = world.refused();
  ASSERT_TRUE(done) << done.error().public_text;
  EXPECT_TRUE(world.user->pages.at(0).starts_with("https://mcp.example/authorize?"));
}

}  // namespace
