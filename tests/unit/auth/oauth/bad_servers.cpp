/// Servers, stores and users that do what they must not.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "auth/oauth/session.hpp"
#include "unit/auth/oauth/scripted_places.hpp"

namespace {

using namespace hondana_test;
using hondana::token_record;

/// That the request fails, nobody is shown a page, and no token is asked for.
hondana::failure refusal_of(scripted_world& world) {
  const auto done = world.refused("Bearer scope=a");
  EXPECT_FALSE(done);
  EXPECT_TRUE(world.user->pages.empty());
  EXPECT_TRUE(world.places.asked("https://as.example/token").empty());
  return done ? hondana::failure{} : done.error();
}

TEST(oauth_bad_servers, metadata_of_another_resource_is_refused) {
  for (const auto* resource :
       {"https://evil.example/mcp", "https://mcp.example/other", "http://mcp.example/mcp", "https://mcp.example/mc"}) {
    scripted_world world;
    world.publish(R"({"resource":")" + std::string(resource) + R"(","authorization_servers":["https://as.example"]})");
    const auto why = refusal_of(world);
    EXPECT_EQ(why.code, errc::unauthorized);
    EXPECT_NE(why.public_text.find("belongs to another server, \"" + std::string(resource) + "\", not to "), std::string::npos)
        << why.public_text;
    EXPECT_NE(why.public_text.find("use its URL"), std::string::npos) << why.public_text;
  }
}

TEST(oauth_bad_servers, metadata_of_another_issuer_is_refused) {
  scripted_world world;
  world.places.put("https://as.example/.well-known/oauth-authorization-server",
                   json(R"({"issuer":"https://honest.example","authorization_endpoint":"https://as.example/authorize",)"
                        R"("token_endpoint":"https://as.example/token","code_challenge_methods_supported":["S256"]})"));
  const auto why = refusal_of(world);
  EXPECT_EQ(why.code, errc::protocol_error);
  EXPECT_NE(why.public_text.find("its issuer is \"https://honest.example\""), std::string::npos) << why.public_text;
}

TEST(oauth_bad_servers, pages_that_no_browser_shall_be_given_are_refused) {
  for (const auto* page :
       {"javascript:alert(document.domain)", "data:text/html,x", "file:///etc/passwd", "https://as.example/$(touch${IFS}x)",
        "https://as.example/a?x=`id`", "calculator:", "http://as.example/authorize"}) {
    scripted_world world;
    world.places.put("https://as.example/.well-known/oauth-authorization-server",
                     json(R"({"issuer":"https://as.example","token_endpoint":"https://as.example/token",)"
                          R"("code_challenge_methods_supported":["S256"],"authorization_endpoint":")" +
                          std::string(page) + "\"}"));
    const auto why = refusal_of(world);
    EXPECT_EQ(why.code, errc::protocol_error);
    EXPECT_NE(why.public_text.find("authorization_endpoint cannot be used"), std::string::npos) << why.public_text;
  }
}

TEST(oauth_bad_servers, one_without_pkce_is_refused) {
  scripted_world world;
  world.places.put("https://as.example/.well-known/oauth-authorization-server",
                   json(R"({"issuer":"https://as.example","authorization_endpoint":"https://as.example/authorize",)"
                        R"("token_endpoint":"https://as.example/token"})"));
  const auto why = refusal_of(world);
  EXPECT_EQ(why.code, errc::unsupported);
  EXPECT_NE(why.public_text.find("PKCE"), std::string::npos) << why.public_text;
}

TEST(oauth_bad_servers, a_page_for_every_path_is_no_metadata) {
  scripted_world world;
  small_response page;
  page.status = 200;
  page.media_type = "text/html";
  page.body = "<html>";
  for (const auto* url :
       {"https://as.example/.well-known/oauth-authorization-server", "https://as.example/.well-known/openid-configuration"})
    world.places.put(url, page);
  const auto why = refusal_of(world);
  EXPECT_EQ(why.code, errc::source_unavailable);
  EXPECT_NE(why.public_text.find("openid-configuration: status 200, but not JSON"), std::string::npos) << why.public_text;
}

TEST(oauth_bad_servers, one_that_fails_is_not_taken_for_one_that_publishes_nothing) {
  scripted_world world;
  world.places.put("https://mcp.example/.well-known/oauth-protected-resource/mcp", json("", 502));
  const auto why = refusal_of(world);
  EXPECT_EQ(why.code, errc::source_unavailable);
  EXPECT_NE(why.public_text.find("status 502"), std::string::npos);
  EXPECT_EQ(world.places.urls().size(), 1u);
}

TEST(oauth_bad_servers, one_without_registration_says_what_to_configure) {
  scripted_world world;
  world.places.put("https://as.example/.well-known/oauth-authorization-server",
                   json(R"({"issuer":"https://as.example","authorization_endpoint":"https://as.example/authorize",)"
                        R"("token_endpoint":"https://as.example/token","code_challenge_methods_supported":["S256"]})"));
  const auto why = refusal_of(world);
  EXPECT_EQ(why.code, errc::unauthorized);
  EXPECT_NE(why.public_text.find("http://127.0.0.1:7000/back, and configure its client id"), std::string::npos)
      << why.public_text;
}

TEST(oauth_bad_servers, a_refused_registration_says_why) {
  scripted_world world;
  world.places.put("https://as.example/register", json(R"({"error":"invalid_redirect_uri"})", 400));
  const auto why = refusal_of(world);
  EXPECT_EQ(why.code, errc::unauthorized);
  EXPECT_NE(why.public_text.find("invalid_redirect_uri"), std::string::npos);
}

TEST(oauth_bad_servers, one_that_knows_no_oauth_at_all_is_told_apart) {
  scripted_world world;
  world.places.drop("https://mcp.example/.well-known/oauth-protected-resource/mcp");
  const auto why = refusal_of(world);
  EXPECT_EQ(why.code, errc::unauthorized);
  EXPECT_NE(why.public_text.find("names no authorization server"), std::string::npos) << why.public_text;
}

TEST(oauth_bad_servers, a_code_for_a_wrong_state_or_of_a_wrong_issuer_is_sent_nowhere) {
  for (const auto* end : {"?code=c&state=another", "?code=c", "?error=access_denied"}) {
    scripted_world world;
    world.user->plays = [&world, end](const std::string&, const std::stop_token&) -> result<std::string> {
      return world.user->redirect_uri + end;
    };
    const auto done = world.refused();
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, errc::access_denied);
    EXPECT_TRUE(world.places.asked("https://as.example/token").empty());
  }
  scripted_world world;
  world.user->more = "&iss=https%3A%2F%2Fevil.example";
  EXPECT_FALSE(world.refused());
  EXPECT_TRUE(world.places.asked("https://as.example/token").empty());
}

TEST(oauth_bad_servers, garbage_for_a_token_leaves_none) {
  for (const auto* text : {"<html>", "{}", R"({"access_token":"x","token_type":"mac"})"}) {
    scripted_world world;
    world.places.put("https://as.example/token", json(text));
    const auto done = world.refused();
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, errc::protocol_error);
    EXPECT_EQ(world.session().token(), "");
    EXPECT_TRUE(world.store->find(server_url)->empty());
  }
}

TEST(oauth_bad_servers, a_place_to_come_back_to_that_others_can_see_is_refused) {
  for (const auto* uri : {"http://app.example/back", "http://127.0.0.1:1/back?x=y", "javascript:x", ""}) {
    scripted_world world;
    world.user->redirect_uri = uri;
    EXPECT_EQ(refusal_of(world).code, errc::invalid_argument) << uri;
  }
}

TEST(oauth_bad_servers, a_user_who_does_not_come_back_is_told_of) {
  scripted_world world;
  world.user->plays = [](const std::string&, const std::stop_token&) -> result<std::string> {
    return hondana::fail(errc::timed_out, "nobody came back");
  };
  const auto done = world.refused();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().public_text, "nobody came back");
  // What has timed out is tried again by itself, and she would be asked each time.
  EXPECT_EQ(done.error().code, errc::unauthorized);
}

/// Fails whatever it is asked, when told to.
class broken_store final : public hondana::token_store {
 public:
  result<std::vector<token_record>> find(const std::string&) override {
    if (fails_reading) return fail();
    return std::vector<token_record>();
  }
  result<void> put(const token_record&) override { return fail(); }
  result<void> remove(const hondana::token_key&) override { return fail(); }
  result<std::shared_ptr<void>> lock(const std::string&, std::chrono::milliseconds, const std::stop_token&) override {
    return fail();
  }
  result<std::vector<hondana::client_registration>> registrations(const std::string&) override {
    return std::vector<hondana::client_registration>();
  }
  result<void> put_registration(const std::string&, const hondana::client_registration&) override { return fail(); }
  result<void> remove_registration(const std::string&, const std::string&) override { return fail(); }

  bool fails_reading = false;

 private:
  static tl::unexpected<hondana::failure> fail() { return hondana::fail(errc::source_unavailable, "the keyring is locked"); }
};

TEST(oauth_bad_servers, a_store_that_cannot_write_fails_a_login_by_hand_and_no_call) {
  scripted_world world;
  world.settings.store = std::make_shared<broken_store>();
  ASSERT_TRUE(world.refused());
  EXPECT_EQ(world.session().token(), "token-1");
  EXPECT_NE(world.said().find("the registration cannot be stored: the keyring is locked"), std::string::npos);
  EXPECT_NE(world.said().find("the token cannot be stored: the keyring is locked"), std::string::npos);
  const auto done = world.session().log_in({});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().public_text, "the keyring is locked");
}

TEST(oauth_bad_servers, a_store_that_cannot_read_fails_before_anybody_is_asked) {
  scripted_world world;
  const auto store = std::make_shared<broken_store>();
  store->fails_reading = true;
  world.settings.store = store;
  // Before the server has asked for a token, there is just none.
  ASSERT_TRUE(world.lacking());
  EXPECT_EQ(world.token(), "");
  EXPECT_NE(world.said().find("no stored login is used: the keyring is locked"), std::string::npos);
  EXPECT_EQ(refusal_of(world).public_text, "the keyring is locked");
}

}  // namespace
