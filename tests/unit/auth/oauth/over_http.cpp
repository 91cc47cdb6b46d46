/// Sessions as embedders have them, over real sockets.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include <hondana/authorization.hpp>

#include "deadline.hpp"
#include "unit/auth/oauth/scripted_places.hpp"
#include "unit/transport/http_client/scripted_server.hpp"

namespace {

using namespace hondana_test;
using hondana::oauth_client_options;
using hondana::oauth_session;

/// An MCP server and authorization server in one, whose metadata has `more` behind its usual members.
scripted_server::script playing(std::string more = {}) {
  return [=](const heard_request& asked, scripted_connection& to) {
    const std::string own = "http://" + asked.field("host");
    const auto say = [&](const std::string& text, int status = 200) { return to.answer(status, "application/json", text); };
    if (asked.target == "/.well-known/oauth-protected-resource/mcp")
      return say(R"({"resource":")" + own + R"(/mcp","authorization_servers":[")" + own + "\"]}");
    if (asked.target == "/.well-known/oauth-authorization-server")
      return say(R"({"issuer":")" + own + R"(","authorization_endpoint":")" + own + R"(/authorize","token_endpoint":")" + own +
                 R"(/token","registration_endpoint":")" + own + R"(/register","code_challenge_methods_supported":["S256"])" +
                 more + "}");
    if (asked.target == "/register") return say(R"({"client_id":"me"})", 201);
    if (asked.target == "/token") return say(R"({"access_token":"the-token","token_type":"Bearer"})");
    return to.answer(404, "text/plain", "");
  };
}

oauth_client_options with_user() {
  oauth_client_options out;
  out.login = std::make_shared<scripted_user>();
  out.request_timeout = event_deadline;
  return out;
}

result<void> refused(oauth_session& session, const std::string& challenge = "Bearer", const std::stop_token& stop = {}) {
  return session.obtain({session.resource(), 401, {challenge}, {}, 1}, stop);
}

TEST(oauth_over_http, a_login_from_end_to_end) {
  scripted_server server(playing());
  const auto session = oauth_session::create(server.url(), with_user());
  ASSERT_TRUE(session) << session.error().public_text;
  EXPECT_FALSE((*session)->token());
  const auto done = refused(**session);
  ASSERT_TRUE(done) << done.error().public_text;
  EXPECT_EQ((*session)->token(), "the-token");
  const auto posted = server.requests("POST", 2);
  ASSERT_EQ(posted.size(), 2u);
  EXPECT_EQ(posted[0].field("content-type"), "application/json");
  EXPECT_EQ(posted[1].field("content-type"), "application/x-www-form-urlencoded");
  EXPECT_EQ(field(posted[1].body, "resource"), server.url());
}

TEST(oauth_over_http, metadata_of_a_megabyte_is_refused) {
  const scripted_server server(playing(R"(,"x":")" + std::string(1 << 20, 'x') + '"'));
  const auto session = oauth_session::create(server.url(), with_user());
  const auto done = refused(**session);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, errc::response_too_large);
}

TEST(oauth_over_http, a_redirect_is_followed_nowhere) {
  const scripted_server other(
      [](const heard_request&, scripted_connection& to) { return to.answer(200, "application/json", "{}"); });
  const scripted_server server([&other](const heard_request&, scripted_connection& to) {
    return to.answer(302, "", "", "Location: " + other.url() + "\r\n");
  });
  const auto session = oauth_session::create(server.url(), with_user());
  const auto done = refused(**session);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, errc::unauthorized);
  EXPECT_EQ(other.connections(), 0u);
}

TEST(oauth_over_http, an_authorization_server_that_hangs_is_given_up) {
  const scripted_server server([](const heard_request&, scripted_connection& to) { return !to.sees_the_end(); });
  auto settings = with_user();
  settings.request_timeout = std::chrono::milliseconds(100);
  const auto session = oauth_session::create(server.url(), settings);
  const auto done = refused(**session);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, errc::timed_out);
}

TEST(oauth_over_http, an_authorization_server_that_hangs_is_left_when_the_caller_stops) {
  scripted_server server([](const heard_request&, scripted_connection& to) { return !to.sees_the_end(); });
  auto settings = with_user();
  settings.request_timeout = std::chrono::minutes(10);
  const auto session = oauth_session::create(server.url(), settings);
  std::stop_source stop;
  std::jthread caller([&] {
    const auto done = refused(**session, "Bearer", stop.get_token());
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, errc::cancelled);
  });
  ASSERT_EQ(server.requests(1).size(), 1u);
  stop.request_stop();
}

TEST(oauth_over_http, metadata_in_a_private_network_is_not_asked_for) {
  scripted_server server(playing());
  const auto session = oauth_session::create(server.url(), with_user());
  // The server names a place that nobody here has; its own is asked instead.
  const auto done = refused(**session, "Bearer resource_metadata=\"https://169.254.169.254/latest/meta-data\"");
  EXPECT_TRUE(done) << done.error().public_text;
}

TEST(oauth_over_http, an_authorization_server_in_a_private_network_is_not_asked_unless_it_is_configured) {
  const scripted_server server([](const heard_request& asked, scripted_connection& to) {
    return to.answer(
        200, "application/json",
        R"({"resource":"http://)" + asked.field("host") + R"(/mcp","authorization_servers":["https://10.255.255.1"]})");
  });
  const auto session = oauth_session::create(server.url(), with_user());
  const auto done = refused(**session);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, errc::source_unavailable);
  EXPECT_NE(done.error().public_text.find("private network"), std::string::npos) << done.error().public_text;
}

TEST(oauth_settings, that_cannot_be_are_refused_before_anything_is_sent) {
  const auto refused_with = [](const std::string& url, auto change) {
    oauth_client_options settings;
    change(settings);
    const auto got = oauth_session::create(url, settings);
    EXPECT_FALSE(got);
    if (got) return std::string();
    EXPECT_EQ(got.error().code, errc::invalid_argument);
    EXPECT_EQ(got.error().public_text.find("the-secret"), std::string::npos);
    return got.error().public_text;
  };
  const auto nothing = [](oauth_client_options&) {};
  EXPECT_NE(refused_with("http://mcp.example/mcp", nothing).find("use an https: URL"), std::string::npos);
  EXPECT_NE(refused_with("stdio:x", nothing).find("not an http: or https: URL"), std::string::npos);
  const auto refused_for = [&](auto change) { return refused_with(server_url, change); };
  EXPECT_NE(refused_for([](auto& s) { s.client_secret = "the-secret"; }), "");
  EXPECT_NE(refused_for([](auto& s) {
              s.client_id = "a";
              s.client_secret = "the-secret";
            }).find("issuer"),
            std::string::npos);
  EXPECT_NE(refused_for([](auto& s) {
              s.client_id = "a";
              s.client_secret = "the-secret";
              s.private_key = "the-secret";
            }),
            "");
  EXPECT_NE(refused_for([](auto& s) { s.private_key = "the-secret"; }), "");
  EXPECT_NE(refused_for([](auto& s) { s.grant = hondana::oauth_grant::client_credentials; }), "");
  EXPECT_NE(refused_for([](auto& s) { s.metadata_url = "https://app.example"; }), "");
  EXPECT_NE(refused_for([](auto& s) { s.metadata_url = "http://127.0.0.1/client.json"; }), "");
  EXPECT_NE(refused_for([](auto& s) { s.issuer = "javascript:x"; }), "");
  EXPECT_NE(refused_for([](auto& s) { s.scopes = {"a b"}; }), "");
}

TEST(oauth_settings, say_who_gets_a_secret) {
  oauth_client_options settings;
  settings.client_id = "a";
  settings.client_secret = "the-secret";
  settings.issuer = login_server_url;
  EXPECT_TRUE(oauth_session::create(server_url, settings));
  settings.issuer.reset();
  settings.trusts_any_issuer = true;
  EXPECT_TRUE(oauth_session::create(server_url, settings));
}

}  // namespace
