/// Tokens that expire or are refused, and those that another process has got meanwhile.
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

TEST(oauth_session, an_expired_token_is_refreshed_without_anybody) {
  scripted_world world;
  world.token_members = R"(,"expires_in":3600,"refresh_token":"again","scope":"a")";
  ASSERT_TRUE(world.refused("Bearer scope=a"));
  world.pass(seconds(3569));
  EXPECT_EQ(world.session().token(), "token-1");
  world.pass(seconds(1));
  EXPECT_FALSE(world.session().token());
  world.token_members = R"(,"expires_in":3600)";
  const auto done = world.lacking();
  ASSERT_TRUE(done) << done.error().public_text;
  EXPECT_EQ(world.token(), "token-2");
  EXPECT_EQ(field(world.token_form(1), "grant_type"), "refresh_token");
  EXPECT_EQ(field(world.token_form(1), "refresh_token"), "again");
  EXPECT_EQ(field(world.token_form(1), "client_id"), "registered");
  EXPECT_EQ(field(world.token_form(1), "resource"), server_url);
  // Not given anew, the old one stays.
  world.pass(seconds(3600));
  ASSERT_TRUE(world.lacking());
  EXPECT_EQ(field(world.token_form(2), "refresh_token"), "again");
  EXPECT_EQ(world.user->pages.size(), 1u);
}

TEST(oauth_session, a_rotated_refresh_token_replaces_the_old_one_in_the_store) {
  scripted_world world;
  world.token_members = R"(,"expires_in":10,"refresh_token":"first")";
  ASSERT_TRUE(world.refused());
  world.pass(seconds(10));
  world.token_members = R"(,"expires_in":10,"refresh_token":"second")";
  ASSERT_TRUE(world.lacking());
  world.restart();
  world.pass(seconds(10));
  ASSERT_TRUE(world.lacking());
  EXPECT_EQ(field(world.token_form(2), "refresh_token"), "second");
}

TEST(oauth_session, a_refresh_that_is_refused_leads_to_a_login_once_the_server_asks) {
  scripted_world world;
  world.token_members = R"(,"expires_in":10,"refresh_token":"once")";
  ASSERT_TRUE(world.refused("Bearer scope=a"));
  world.places.put("https://as.example/token", [&world](const small_request& asked, const std::stop_token&) {
    if (field(asked.body.value_or(""), "grant_type") == "refresh_token") return json(R"({"error":"invalid_grant"})", 400);
    return json(world.next_token());
  });
  world.pass(seconds(10));
  ASSERT_TRUE(world.lacking());
  EXPECT_EQ(world.token(), "");
  EXPECT_TRUE(world.store->find(server_url)->empty());
  ASSERT_TRUE(world.refused("Bearer scope=a"));
  EXPECT_EQ(world.token(), "token-2");
  EXPECT_EQ(world.user->pages.size(), 2u);
}

TEST(oauth_session, a_server_that_names_its_metadata_only_when_it_refuses_costs_no_login) {
  scripted_world world;
  world.settings.client_id = "by-hand";
  world.places.drop("https://mcp.example/.well-known/oauth-protected-resource/mcp");
  world.places.put("https://mcp.example/custom",
                   json(R"({"resource":"https://mcp.example/mcp","authorization_servers":["https://as.example"]})"));
  const std::string challenge = "Bearer resource_metadata=\"https://mcp.example/custom\"";
  world.token_members = R"(,"expires_in":10,"refresh_token":"again")";
  ASSERT_TRUE(world.refused(challenge));
  world.restart();
  world.pass(seconds(10));
  const auto done = world.lacking();
  ASSERT_TRUE(done) << done.error().public_text;
  EXPECT_EQ(world.token(), "");
  ASSERT_TRUE(world.refused(challenge));
  EXPECT_EQ(world.token(), "token-2");
  EXPECT_EQ(world.user->pages.size(), 1u);
}

TEST(oauth_session, a_refresh_that_fails_for_now_keeps_the_tokens) {
  scripted_world world;
  world.token_members = R"(,"expires_in":10,"refresh_token":"again")";
  ASSERT_TRUE(world.refused());
  world.pass(seconds(10));
  world.places.put("https://as.example/token", json("", 503));
  const auto done = world.lacking();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, errc::source_unavailable);
  ASSERT_EQ(world.store->find(server_url)->size(), 1u);
  EXPECT_EQ(world.store->find(server_url)->front().tokens.refresh_token, "again");
}

TEST(oauth_session, only_a_refusal_of_the_tokens_or_the_client_makes_them_forgotten) {
  const auto refreshes = [](const small_response& answer) {
    auto world = std::make_unique<scripted_world>();
    world->token_members = R"(,"expires_in":10,"refresh_token":"again")";
    EXPECT_TRUE(world->refused());
    world->pass(seconds(10));
    world->places.put("https://as.example/token", answer);
    const auto done = world->lacking();
    const bool is_kept = world->store->find(server_url)->size() == 1;
    return std::pair(done ? std::optional<errc>() : done.error().code, is_kept);
  };
  const auto error = [](const std::string& name) { return json(R"({"error":")" + name + "\"}", 400); };
  for (const auto* name : {"temporarily_unavailable", "server_error", "slow_down"})
    EXPECT_EQ(refreshes(error(name)), std::pair(std::optional(errc::source_unavailable), true)) << name;
  for (const auto* name : {"invalid_target", "invalid_scope", "of its own"})
    EXPECT_EQ(refreshes(error(name)), std::pair(std::optional(errc::unauthorized), true)) << name;
  EXPECT_EQ(refreshes(json("", 403)), std::pair(std::optional(errc::unauthorized), true));
  for (const auto* name : {"invalid_grant", "invalid_client", "unauthorized_client"})
    EXPECT_EQ(refreshes(error(name)), std::pair(std::optional<errc>(), false)) << name;
  for (const int status : {400, 401})
    EXPECT_EQ(refreshes(json("<html>", status)), std::pair(std::optional<errc>(), false)) << status;
}

TEST(oauth_session, what_another_process_has_refreshed_is_taken_over) {
  scripted_world world;
  world.token_members = R"(,"expires_in":10,"refresh_token":"first")";
  ASSERT_TRUE(world.refused());
  world.pass(seconds(10));
  auto others = world.store->find(server_url)->front();
  others.tokens.access_token = "of another process";
  others.tokens.issued_at += seconds(10);
  others.tokens.expires_at = others.tokens.issued_at + seconds(100);
  ASSERT_TRUE(world.store->put(others));
  ASSERT_TRUE(world.lacking());
  EXPECT_EQ(world.token(), "of another process");
  EXPECT_EQ(world.places.asked("https://as.example/token").size(), 1u);
}

TEST(oauth_session, a_refresh_race_that_was_lost_takes_what_the_winner_got) {
  scripted_world world;
  world.token_members = R"(,"expires_in":10,"refresh_token":"first")";
  ASSERT_TRUE(world.refused());
  world.pass(seconds(10));
  world.places.put("https://as.example/token", [&world](const small_request&, const std::stop_token&) {
    auto others = world.store->find(server_url)->front();
    others.tokens.access_token = "of the winner";
    others.tokens.issued_at += seconds(10);
    others.tokens.expires_at = others.tokens.issued_at + seconds(100);
    EXPECT_TRUE(world.store->put(others));
    return json(R"({"error":"invalid_grant"})", 400);
  });
  ASSERT_TRUE(world.lacking());
  EXPECT_EQ(world.token(), "of the winner");
  EXPECT_EQ(world.store->find(server_url)->size(), 1u);
}

TEST(oauth_session, a_login_of_another_process_is_found_when_the_server_refuses) {
  for (const int status : {401, 403}) {
    scripted_world world;
    world.settings.login = nullptr;
    ASSERT_TRUE(world.lacking());
    EXPECT_FALSE(world.refused("Bearer scope=a", status));
    token_record others;
    others.key = {login_server_url, server_url, "theirs", "b"};
    others.tokens.access_token = "of another process";
    ASSERT_TRUE(world.store->put(others));
    const auto done = world.refused("Bearer scope=a", status);
    ASSERT_TRUE(done) << done.error().public_text;
    EXPECT_EQ(world.token(), "of another process");
    // The same is no help a second time, and neither is one of before.
    EXPECT_FALSE(world.refused("Bearer scope=a", status, 2));
    others.key.client_id = "of before";
    others.tokens.access_token = "older";
    others.tokens.issued_at -= seconds(1);
    ASSERT_TRUE(world.store->put(others));
    EXPECT_FALSE(world.refused("Bearer scope=a", status, 3));
    EXPECT_EQ(world.token(), "of another process");
  }
}

TEST(oauth_session, one_with_an_older_token_takes_what_a_log_in_has_got_since) {
  scripted_world world;
  ASSERT_TRUE(world.refused("Bearer scope=a"));
  auto others = world.store->find(server_url)->front();
  others.key.scope = "a b";
  others.tokens.access_token = "of another process";
  others.tokens.issued_at += seconds(1);
  ASSERT_TRUE(world.store->put(others));
  ASSERT_TRUE(world.refused("Bearer error=\"insufficient_scope\", scope=\"b\"", 403));
  EXPECT_EQ(world.token(), "of another process");
  EXPECT_EQ(world.user->pages.size(), 1u);
}

TEST(oauth_session, a_valid_token_that_is_refused_is_refreshed_and_then_replaced_by_a_login) {
  scripted_world world;
  world.token_members = R"(,"expires_in":3600,"refresh_token":"again")";
  ASSERT_TRUE(world.refused());
  ASSERT_TRUE(world.refused());
  EXPECT_EQ(world.token(), "token-2");
  EXPECT_EQ(world.user->pages.size(), 1u);
  ASSERT_TRUE(world.refused("Bearer", 401, 2));
  EXPECT_EQ(world.token(), "token-3");
  EXPECT_EQ(world.user->pages.size(), 2u);
  const auto last = world.refused("Bearer", 401, 3);
  ASSERT_FALSE(last);
  EXPECT_EQ(last.error().code, errc::unauthorized);
  EXPECT_NE(last.error().public_text.find("has just issued"), std::string::npos);
  EXPECT_EQ(world.user->pages.size(), 2u);
}

}  // namespace
