/// Logging in, refreshing, stepping up and logging out.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "oauth/secrets.hpp"
#include "oauth/session.hpp"
#include "unit/oauth/scripted_places.hpp"

namespace {

using namespace hondana_test;
using hondana::kept_tokens;
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
  const auto refreshes = [](const small_answer& answer) {
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
  others.tokens.since += seconds(10);
  others.tokens.expires = others.tokens.since + seconds(100);
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
    others.tokens.since += seconds(10);
    others.tokens.expires = others.tokens.since + seconds(100);
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
    kept_tokens others;
    others.key = {issuer_url, server_url, "theirs", "b"};
    others.tokens.access_token = "of another process";
    ASSERT_TRUE(world.store->put(others));
    const auto done = world.refused("Bearer scope=a", status);
    ASSERT_TRUE(done) << done.error().public_text;
    EXPECT_EQ(world.token(), "of another process");
    // The same is no help a second time, and neither is one of before.
    EXPECT_FALSE(world.refused("Bearer scope=a", status, 2));
    others.key.client_id = "of before";
    others.tokens.access_token = "older";
    others.tokens.since -= seconds(1);
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
  others.tokens.since += seconds(1);
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
  EXPECT_NE(last.error().public_text.find("gave just now"), std::string::npos);
  EXPECT_EQ(world.user->pages.size(), 2u);
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

TEST(oauth_session, where_nobody_can_log_in_the_advice_is_given) {
  scripted_world world;
  world.settings.login = nullptr;
  world.settings.advice = "run this and that";
  const auto done = world.refused("Bearer scope=\"a b\"");
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, errc::unauthorized);
  EXPECT_NE(done.error().public_text.find("(scopes: a b): run this and that"), std::string::npos) << done.error().public_text;
  ASSERT_TRUE(done.error().scopes);
  EXPECT_EQ(*done.error().scopes, (std::vector<std::string>{"a", "b"}));
}

TEST(oauth_session, a_login_by_hand_asks_the_server_what_it_wants) {
  scripted_world world;
  auto refusal = json("{}", 401);
  refusal.challenges = {"Bearer scope=\"wanted\""};
  world.places.put(server_url, refusal);
  const auto done = world.session().log_in({});
  ASSERT_TRUE(done) << done.error().public_text;
  EXPECT_EQ(field(query_of(world.user->pages.at(0)), "scope"), "wanted");
  EXPECT_EQ(world.session().current()->key, (hondana::token_key{issuer_url, server_url, "registered", "wanted"}));
  EXPECT_EQ(world.session().current()->tokens.access_token, "");
}

TEST(oauth_session, a_login_by_hand_at_a_server_that_wants_nobody_is_refused) {
  scripted_world world;
  world.places.drop("https://mcp.example/.well-known/oauth-protected-resource/mcp");
  world.places.put(server_url, json(R"({"jsonrpc":"2.0","id":1,"result":{}})"));
  const auto done = world.session().log_in({});
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().public_text.find("does not ask who you are"), std::string::npos) << done.error().public_text;
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
  EXPECT_EQ(world.store->registrations(issuer_url)->size(), 1u);
  EXPECT_EQ(world.session().log_out(false, {}), false);
}

TEST(oauth_session, logging_out_of_all_forgets_a_registration_without_tokens) {
  scripted_world world;
  ASSERT_TRUE(world.store->put_registration(issuer_url, {"left", "", {}, "", ""}));
  EXPECT_EQ(world.session().log_out(true, {}), false);
  EXPECT_TRUE(world.store->registrations(issuer_url)->empty());
}

TEST(oauth_session, logging_out_forgets_even_when_the_authorization_server_cannot_be_told) {
  scripted_world world;
  ASSERT_TRUE(world.refused());
  world.places.put("https://as.example/.well-known/oauth-authorization-server", json("", 500));
  EXPECT_EQ(world.session().log_out(true, {}), true);
  EXPECT_TRUE(world.store->find(server_url)->empty());
  EXPECT_TRUE(world.store->registrations(issuer_url)->empty());
  EXPECT_NE(world.said().find("https://as.example was not told"), std::string::npos) << world.said();
}

}  // namespace
