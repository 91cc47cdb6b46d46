/// An authorization server behind real sockets: what is named by us may be on this machine, what it names may not.
#include <gtest/gtest.h>

#include <hondana/authenticators.hpp>

#include "unit/auth/authentication/issuer.hpp"
#include "unit/transport/http_client/scripted_server.hpp"

namespace {

using hondana::value;
using hondana_test::heard_request;
using hondana_test::issuer;
using hondana_test::resource_url;
using hondana_test::scripted_connection;
using hondana_test::scripted_server;
using hondana_test::with_token;

std::chrono::steady_clock::time_point in_a_moment() {
  return std::chrono::steady_clock::now() + std::chrono::milliseconds(300);
}

/// Metadata that say where the keys are, and keys.
class real_issuer : public testing::Test {
 protected:
  [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(server_.port()); }
  [[nodiscard]] std::string key_set() const {
    return value(value::object{{"keys", value::array{keys_.jwk("first")}}}).to_text();
  }
  [[nodiscard]] std::shared_ptr<hondana::authenticator> judge() {
    hondana::oauth_authenticator_options options;
    options.issuer = url();
    options.resource = resource_url;
    options.log = [this](std::string_view line) { log_ += std::string(line) + '\n'; };
    auto made = hondana::make_oauth_authenticator(options);
    EXPECT_TRUE(made) << made.error().public_text;
    return made.value_or(nullptr);
  }
  [[nodiscard]] std::string token() {
    const auto now = std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch());
    return keys_.sign("first", {{"iss", url()}, {"aud", resource_url}, {"sub", "alice"}, {"exp", now.count() + 3600}});
  }

  issuer keys_;
  std::string log_;
  std::string keys_place_;
  scripted_server::script keys_script_ = [this](const heard_request&, scripted_connection& to) {
    return to.answer(200, "application/json", key_set(), "Cache-Control: max-age=600\r\n");
  };
  scripted_server server_{[this](const heard_request& asked, scripted_connection& to) {
    if (asked.target == "/.well-known/oauth-authorization-server") {
      const auto place = keys_place_.empty() ? url() + "/keys" : keys_place_;
      return to.answer(200, "application/json", R"({"issuer":")" + url() + R"(","jwks_uri":")" + place + "\"}");
    }
    if (asked.target == "/keys") return keys_script_(asked, to);
    return to.answer(404, "text/plain", "");
  }};
};

TEST_F(real_issuer, is_found_and_its_tokens_are_taken) {
  const auto whom = judge();
  const auto mine = token();
  EXPECT_FALSE(whom->try_authenticate(with_token(mine)));
  const auto said = whom->authenticate(with_token(mine), hondana_test::soon());
  ASSERT_TRUE(said) << said.error().description << log_;
  EXPECT_EQ(said->identity, url() + "#alice");
  EXPECT_TRUE(*whom->try_authenticate(with_token(mine)));
  EXPECT_EQ(server_.connections(), 2u);
}

TEST_F(real_issuer, that_names_keys_on_a_private_address_is_not_followed_there) {
  scripted_server inside(
      [](const heard_request&, scripted_connection& to) { return to.answer(200, "application/json", "{}"); });
  const auto port = std::to_string(inside.port());
  const std::vector<std::string> elsewhere{"https://localhost:" + port + "/keys",
                                           "http://localhost:" + port + "/keys",
                                           "https://[::1]:" + port + "/keys",
                                           "https://10.0.0.1/keys",
                                           "https://169.254.169.254/latest",
                                           "https://[::ffff:10.0.0.1]/keys",
                                           "file:///etc/passwd",
                                           "https://0x0a000001/k"};
  for (const auto& place : elsewhere) {
    keys_place_ = place;
    log_.clear();
    const auto said = judge()->authenticate(with_token(token()), hondana_test::soon());
    ASSERT_FALSE(said) << place;
    EXPECT_EQ(said.error().status, 503) << place;
    EXPECT_NE(log_.find("cannot call"), std::string::npos) << place << log_;
  }
  EXPECT_EQ(inside.connections(), 0u);
}

TEST_F(real_issuer, whose_keys_redirect_is_not_followed) {
  scripted_server inside(
      [](const heard_request&, scripted_connection& to) { return to.answer(200, "application/json", "{}"); });
  keys_script_ = [&inside](const heard_request&, scripted_connection& to) {
    return to.answer(302, "", "", "Location: " + inside.url("/keys") + "\r\n");
  };
  const auto said = judge()->authenticate(with_token(token()), hondana_test::soon());
  ASSERT_FALSE(said);
  EXPECT_EQ(said.error().status, 503);
  EXPECT_NE(log_.find("redirect"), std::string::npos) << log_;
  EXPECT_EQ(inside.connections(), 0u);
}

TEST_F(real_issuer, that_hangs_is_given_up_by_the_deadline) {
  keys_script_ = [](const heard_request&, scripted_connection& to) {
    static_cast<void>(to.sees_the_end());
    return false;
  };
  const auto said = judge()->authenticate(with_token(token()), in_a_moment());
  ASSERT_FALSE(said);
  EXPECT_EQ(said.error().status, 503);
}

TEST_F(real_issuer, whose_keys_never_end_is_given_up) {
  keys_script_ = [](const heard_request&, scripted_connection& to) {
    to.send("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n");
    while (to.send(std::string(10'000, ' '))) {
    }
    return false;
  };
  const auto said = judge()->authenticate(with_token(token()), hondana_test::soon());
  ASSERT_FALSE(said);
  EXPECT_EQ(said.error().status, 503);
  EXPECT_NE(log_.find("longer than"), std::string::npos) << log_;
}

}  // namespace
