/// Clients that somebody has registered by hand and told us.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "auth/oauth/session.hpp"
#include "unit/auth/oauth/scripted_places.hpp"

namespace {

using namespace hondana_test;
using std::chrono::seconds;

/// One that somebody has told us.
hondana::client_registration told(const std::string& id, std::optional<std::string> redirect_uri = {}) {
  hondana::client_registration out;
  out.client_id = id;
  out.client_secret = "the only copy";
  out.redirect_uri = std::move(redirect_uri);
  out.is_manual = true;
  return out;
}

void refuse_everybody(scripted_world& world) {
  world.places.put("https://as.example/token", json(R"({"error":"invalid_client"})", 401));
}
void keep_everybody(scripted_world& world) {
  world.user->plays = [](const std::string&, const std::stop_token&) -> result<std::string> {
    return hondana::fail(errc::timed_out, "nobody came back");
  };
}

// attacks: an authorization server that makes us throw away a secret
TEST(oauth_told_clients, what_somebody_has_told_us_outlives_a_server_that_does_not_know_it) {
  for (const auto& spoil : {refuse_everybody, keep_everybody}) {
    for (const bool has_key_file : {false, true}) {
      scripted_world world;
      auto client = told("by-hand", "http://127.0.0.1:7000/back");
      client.is_manual = !has_key_file;
      if (has_key_file) client.key_file = "/srv/key.pem";
      ASSERT_TRUE(world.store->put_registration(login_server_url, client));
      if (has_key_file) world.settings.client_id = "by-hand";
      spoil(world);
      EXPECT_FALSE(world.refused());
      EXPECT_EQ(field(query_of(world.user->pages.at(0)), "client_id"), "by-hand");
      EXPECT_EQ(*world.store->registrations(login_server_url), (std::vector{client}));
    }
  }
}

TEST(oauth_told_clients, what_a_client_with_a_key_was_told_outlives_a_refused_refresh) {
  scripted_world world;
  world.token_members = R"(,"expires_in":10,"refresh_token":"again")";
  ASSERT_TRUE(world.refused());
  auto client = world.store->registrations(login_server_url)->at(0);
  client.key_file = "/srv/key.pem";
  ASSERT_TRUE(world.store->put_registration(login_server_url, client));
  world.pass(seconds(10));
  refuse_everybody(world);
  static_cast<void>(world.lacking());
  EXPECT_EQ(*world.store->registrations(login_server_url), (std::vector{client}));
}

TEST(oauth_told_clients, a_login_with_a_secret_of_its_own_changes_nothing_that_is_kept) {
  for (const auto& spoil : {refuse_everybody, keep_everybody}) {
    scripted_world world;
    auto kept = told("by-hand", "http://127.0.0.1:7000/back");
    kept.is_manual = false;
    ASSERT_TRUE(world.store->put_registration(login_server_url, kept));
    world.settings.client_id = "by-hand";
    world.settings.client_secret = "mistyped";
    spoil(world);
    EXPECT_FALSE(world.refused());
    EXPECT_EQ(*world.store->registrations(login_server_url), (std::vector{kept}));
  }
}

TEST(oauth_told_clients, a_client_comes_back_to_its_own_place_and_not_to_that_of_another) {
  scripted_world world;
  auto ours = told("ours", "http://127.0.0.1:7001/back");
  ours.key_file = "/srv/key.pem";
  ASSERT_TRUE(world.store->put_registration(login_server_url, ours));
  ASSERT_TRUE(world.store->put_registration(login_server_url, told("another", "http://127.0.0.1:7002/back")));
  world.settings.client_id = "ours";
  ASSERT_TRUE(world.refused());
  EXPECT_EQ(world.user->before, (std::vector<std::string>{"http://127.0.0.1:7001/back"}));
  scripted_world fresh;
  ASSERT_TRUE(fresh.store->put_registration(login_server_url, told("another", "http://127.0.0.1:7002/back")));
  fresh.settings.client_id = "ours";
  ASSERT_TRUE(fresh.refused());
  EXPECT_EQ(fresh.user->before, (std::vector<std::string>{""})) << "the place of a client that it is not";
  scripted_world by_document;
  by_document.settings.metadata_url = "https://app.example/client.json";
  by_document.announce(R"(,"client_id_metadata_document_supported":true)");
  ASSERT_TRUE(by_document.store->put_registration(login_server_url,
                                                  told("https://app.example/client.json", "http://127.0.0.1:7003/back")));
  ASSERT_TRUE(by_document.store->put_registration(login_server_url, told("another", "http://127.0.0.1:7002/back")));
  ASSERT_TRUE(by_document.refused());
  EXPECT_EQ(by_document.user->before, (std::vector<std::string>{"http://127.0.0.1:7003/back"}));
}

}  // namespace
