/// Who we are, at which authorization server.
#include <gtest/gtest.h>
#include <openssl/ec.h>
#include <openssl/pem.h>

#include <string>
#include <vector>

#include "auth/jose/jwt.hpp"
#include "auth/jose/openssl_signature.hpp"
#include "auth/oauth/session.hpp"
#include "unit/auth/oauth/scripted_places.hpp"

namespace {

using namespace hondana_test;
using hondana::oauth_grant;
using std::chrono::seconds;

/// A key of P-256.
std::string machine_key() {
  const hondana::jose::key_pointer key(EVP_EC_gen("P-256"));
  const hondana::jose::bio_pointer into(BIO_new(BIO_s_mem()));
  EXPECT_EQ(PEM_write_bio_PKCS8PrivateKey(into.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr), 1);
  char* bytes = nullptr;
  const auto size = BIO_get_mem_data(into.get(), &bytes);
  return {bytes, static_cast<std::size_t>(size)};
}

TEST(oauth_clients, a_registration_serves_again_and_one_for_another_place_does_not) {
  scripted_world world;
  ASSERT_TRUE(world.refused());
  ASSERT_TRUE(world.refused());
  EXPECT_EQ(world.places.asked("https://as.example/register").size(), 1u);
  EXPECT_EQ(world.user->before, (std::vector<std::string>{"", "http://127.0.0.1:7000/back"}));
  world.user->redirect_uri = "http://127.0.0.1:7001/back";
  ASSERT_TRUE(world.refused());
  EXPECT_EQ(world.places.asked("https://as.example/register").size(), 2u);
}

TEST(oauth_clients, a_registration_whose_secret_has_expired_is_made_anew) {
  scripted_world world;
  world.places.put("https://as.example/register",
                   json(R"({"client_id":"r","client_secret":"s","client_secret_expires_at":1800000100})", 201));
  ASSERT_TRUE(world.refused());
  world.pass(seconds(100));
  ASSERT_TRUE(world.refused());
  EXPECT_EQ(world.places.asked("https://as.example/register").size(), 2u);
}

TEST(oauth_clients, of_a_registration_only_what_can_be_kept_is_taken) {
  scripted_world world;
  world.places.put("https://as.example/register",
                   json(R"({"client_id":"r","client_secret":"s","client_secret_expires_at":1900000000000,)"
                        R"("token_endpoint_auth_method":")" +
                            std::string(100'000, 'm') + "\"}",
                        201));
  ASSERT_TRUE(world.refused());
  const auto kept = world.store->registrations(login_server_url)->at(0);
  EXPECT_EQ(kept.auth_method, std::nullopt);
  EXPECT_EQ(kept.secret_expires_at->time_since_epoch(), seconds(253'402'300'799));
}

TEST(oauth_clients, a_client_that_the_server_has_forgotten_is_registered_anew_at_the_next_login) {
  scripted_world world;
  ASSERT_TRUE(world.refused());
  world.places.put("https://as.example/token", json(R"({"error":"invalid_client"})", 401));
  EXPECT_FALSE(world.refused());
  EXPECT_TRUE(world.store->registrations(login_server_url)->empty());
}

TEST(oauth_clients, a_client_that_the_server_has_forgotten_costs_one_refresh) {
  scripted_world world;
  world.token_members = R"(,"expires_in":10,"refresh_token":"again")";
  ASSERT_TRUE(world.refused());
  world.pass(seconds(10));
  world.places.put("https://as.example/token", [&world](const small_request& asked, const std::stop_token&) {
    if (field(asked.body.value_or(""), "grant_type") == "refresh_token") return json(R"({"error":"invalid_client"})", 401);
    return json(world.next_token());
  });
  ASSERT_TRUE(world.lacking());
  ASSERT_TRUE(world.refused());
  EXPECT_EQ(world.token(), "token-2");
  EXPECT_EQ(world.places.asked("https://as.example/register").size(), 2u);
}

TEST(oauth_clients, one_whose_user_never_came_back_is_registered_anew_and_goes_on_with_what_it_has) {
  scripted_world world;
  world.places.put("https://as.example/register", json(R"({"client_id":"first","client_secret":"s"})", 201));
  world.token_members = R"(,"expires_in":10,"refresh_token":"again")";
  ASSERT_TRUE(world.refused("Bearer scope=a"));
  world.user->plays = [](const std::string&, const std::stop_token&) -> result<std::string> {
    return hondana::fail(errc::timed_out, "nobody came back");
  };
  EXPECT_FALSE(world.refused("Bearer error=\"insufficient_scope\", scope=b", 403));
  world.pass(seconds(10));
  ASSERT_TRUE(world.lacking());
  EXPECT_EQ(world.token(), "token-2");
  EXPECT_EQ(world.places.asked("https://as.example/token").back().headers.back().second, "Basic Zmlyc3Q6cw==");
  world.user->plays = {};
  ASSERT_TRUE(world.session().log_in({}));
  EXPECT_EQ(world.places.asked("https://as.example/register").size(), 2u);
}

TEST(oauth_clients, one_more_registration_at_an_issuer_leaves_the_tokens_of_the_first) {
  scripted_world world;
  world.places.put("https://as.example/register", json(R"({"client_id":"first","client_secret":"s"})", 201));
  world.token_members = R"(,"expires_in":10,"refresh_token":"again")";
  ASSERT_TRUE(world.refused());
  // For another server, with another place to come back to.
  ASSERT_TRUE(world.store->put_registration(login_server_url, {"second", "t", {}, "", "http://127.0.0.1:7001/back"}));
  world.pass(seconds(10));
  ASSERT_TRUE(world.lacking());
  EXPECT_EQ(world.places.asked("https://as.example/token").back().headers.back().second, "Basic Zmlyc3Q6cw==");
  // Without any it is a public client.
  ASSERT_TRUE(world.store->remove_registration(login_server_url, "first"));
  world.pass(seconds(10));
  ASSERT_TRUE(world.lacking());
  EXPECT_EQ(field(world.token_form(2), "client_id"), "first");
  EXPECT_EQ(world.token(), "token-3");
}

TEST(oauth_clients, one_whose_secret_has_gone_with_its_registration_logs_in_again) {
  scripted_world world;
  world.places.put("https://as.example/register", json(R"({"client_id":"first","client_secret":"s"})", 201));
  world.places.put("https://as.example/.well-known/oauth-authorization-server",
                   json(R"({"issuer":"https://as.example","authorization_endpoint":"https://as.example/authorize",)"
                        R"("token_endpoint":"https://as.example/token","registration_endpoint":"https://as.example/register",)"
                        R"("token_endpoint_auth_methods_supported":["client_secret_basic"],)"
                        R"("code_challenge_methods_supported":["S256"]})"));
  world.token_members = R"(,"expires_in":10,"refresh_token":"again")";
  ASSERT_TRUE(world.refused());
  ASSERT_TRUE(world.store->remove_registration(login_server_url, "first"));
  world.pass(seconds(10));
  ASSERT_TRUE(world.lacking());
  EXPECT_EQ(world.token(), "");
  EXPECT_EQ(world.places.asked("https://as.example/token").size(), 1u);
}

TEST(oauth_clients, another_issuer_gets_a_registration_of_its_own_and_nothing_of_the_first) {
  scripted_world world;
  world.token_members = R"(,"refresh_token":"of the first")";
  ASSERT_TRUE(world.refused("Bearer scope=a"));
  world.publish(R"({"resource":"https://mcp.example/mcp","authorization_servers":["https://new.example"]})");
  world.places.put("https://new.example/.well-known/oauth-authorization-server",
                   json(R"({"issuer":"https://new.example","authorization_endpoint":"https://new.example/a",)"
                        R"("token_endpoint":"https://new.example/t","registration_endpoint":"https://new.example/r",)"
                        R"("code_challenge_methods_supported":["S256"]})"));
  world.places.put("https://new.example/r", json(R"({"client_id":"new"})", 201));
  world.places.put("https://new.example/t", json(R"({"access_token":"new-token","token_type":"Bearer"})"));
  const auto done = world.refused("Bearer scope=a");
  ASSERT_TRUE(done) << done.error().public_text;
  EXPECT_EQ(world.token(), "new-token");
  EXPECT_EQ(field(query_of(world.user->pages.at(1)), "client_id"), "new");
  for (const auto* url : {"https://new.example/r", "https://new.example/t"}) {
    for (const auto& one : world.places.asked(url)) {
      EXPECT_EQ(one.body.value_or("").find("registered"), std::string::npos);
      EXPECT_EQ(one.body.value_or("").find("of%20the%20first"), std::string::npos);
    }
  }
  ASSERT_EQ(world.store->find(server_url)->size(), 1u);
  EXPECT_EQ(world.store->find(server_url)->front().key.issuer, "https://new.example");
}

TEST(oauth_clients, a_client_registered_by_hand_is_used_at_its_issuer_only) {
  scripted_world world;
  world.settings.client_id = "by-hand";
  world.settings.client_secret = "the-secret";
  ASSERT_TRUE(world.refused());
  EXPECT_EQ(field(query_of(world.user->pages.at(0)), "client_id"), "by-hand");
  EXPECT_TRUE(world.places.asked("https://as.example/register").empty());
  world.publish(R"({"resource":"https://mcp.example/mcp","authorization_servers":["https://evil.example"]})");
  for (const bool is_restarted : {false, true}) {
    if (is_restarted) world.restart();
    ASSERT_TRUE(is_restarted ? world.lacking() : result<void>());
    const auto done = world.refused();
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, errc::unauthorized);
    EXPECT_NE(done.error().public_text.find("registered at https://as.example"), std::string::npos);
  }
  for (const auto& url : world.places.urls()) EXPECT_FALSE(url.starts_with("https://evil.example")) << url;
}

TEST(oauth_clients, among_several_issuers_the_configured_one_is_asked) {
  scripted_world world;
  world.publish(
      R"({"resource":"https://mcp.example/mcp","authorization_servers":["https://other.example","https://as.example"]})");
  world.settings.issuer = login_server_url;
  ASSERT_TRUE(world.refused());
  for (const auto& url : world.places.urls()) EXPECT_FALSE(url.starts_with("https://other.example")) << url;
}

TEST(oauth_clients, a_metadata_document_is_our_name_where_it_is_understood) {
  scripted_world world;
  world.settings.metadata_url = "https://app.example/client.json";
  world.announce(R"(,"client_id_metadata_document_supported":true)");
  ASSERT_TRUE(world.refused());
  EXPECT_EQ(field(query_of(world.user->pages.at(0)), "client_id"), "https://app.example/client.json");
  EXPECT_TRUE(world.places.asked("https://as.example/register").empty());
  scripted_world other;
  other.settings.metadata_url = "https://app.example/client.json";
  ASSERT_TRUE(other.refused());
  EXPECT_EQ(field(query_of(other.user->pages.at(0)), "client_id"), "registered");
}

TEST(oauth_clients, a_machine_proves_itself_with_its_secret) {
  scripted_world world;
  world.settings.grant = oauth_grant::client_credentials;
  world.settings.client_id = "machine";
  world.settings.client_secret = "s";
  world.token_members = R"(,"expires_in":100)";
  ASSERT_TRUE(world.refused("Bearer scope=a"));
  EXPECT_EQ(world.token(), "token-1");
  EXPECT_EQ(field(world.token_form(0), "grant_type"), "client_credentials");
  EXPECT_EQ(field(world.token_form(0), "scope"), "a");
  EXPECT_EQ(field(world.token_form(0), "resource"), server_url);
  EXPECT_EQ(world.places.asked("https://as.example/token").front().headers.back().second, "Basic bWFjaGluZTpz");
  // It needs nobody when that has expired.
  world.pass(seconds(100));
  ASSERT_TRUE(world.lacking());
  EXPECT_EQ(world.token(), "token-2");
  EXPECT_EQ(field(world.token_form(1), "scope"), "a");
  EXPECT_TRUE(world.user->pages.empty());
}

TEST(oauth_clients, a_machine_proves_itself_with_its_key) {
  scripted_world world;
  world.settings.grant = oauth_grant::client_credentials;
  world.settings.client_id = "machine";
  world.settings.key_id = "k1";
  auto key = hondana::jose::signing_key::from_pem(machine_key());
  ASSERT_TRUE(key) << key.error().public_text;
  world.key = *key;
  world.places.put("https://as.example/.well-known/oauth-authorization-server",
                   json(R"({"issuer":"https://as.example","token_endpoint":"https://as.example/token",)"
                        R"("token_endpoint_auth_methods_supported":["private_key_jwt"],)"
                        R"("token_endpoint_auth_signing_alg_values_supported":["ES256"]})"));
  const auto done = world.refused();
  ASSERT_TRUE(done) << done.error().public_text;
  const auto form = world.token_form(0);
  EXPECT_EQ(field(form, "client_assertion_type"), "urn:ietf:params:oauth:client-assertion-type:jwt-bearer");
  const auto proof = hondana::jose::read_token(field(form, "client_assertion"));
  ASSERT_TRUE(proof) << proof.error().public_text;
  EXPECT_EQ(proof->key_id, "k1");
  EXPECT_EQ(proof->claims.string_at("iss").value_or(""), "machine");
  EXPECT_EQ(proof->claims.string_at("sub").value_or(""), "machine");
  EXPECT_EQ(proof->claims.string_at("aud").value_or(""), login_server_url);
  EXPECT_EQ(proof->claims.integer_at("exp").value_or(0), 1'800'000'060);
  const auto jwk = key->public_jwk("k1");
  ASSERT_TRUE(jwk);
  EXPECT_TRUE(hondana::jose::verify(*proof, {*hondana::jose::public_key::from_jwk(*jwk)}));
  EXPECT_EQ(form.find("client_secret"), std::string::npos);
}

TEST(oauth_clients, a_machine_whose_kind_of_key_is_not_taken_says_so) {
  scripted_world world;
  world.settings.grant = oauth_grant::client_credentials;
  world.settings.client_id = "machine";
  world.key = *hondana::jose::signing_key::from_pem(machine_key());
  world.places.put("https://as.example/.well-known/oauth-authorization-server",
                   json(R"({"issuer":"https://as.example","token_endpoint":"https://as.example/token",)"
                        R"("token_endpoint_auth_methods_supported":["private_key_jwt"],)"
                        R"("token_endpoint_auth_signing_alg_values_supported":["PS512"]})"));
  const auto done = world.refused();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, errc::unsupported);
  EXPECT_NE(done.error().public_text.find("ES256"), std::string::npos);
}

}  // namespace
