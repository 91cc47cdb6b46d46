/// Registrations, client authentication and token answers.
#include <gtest/gtest.h>

#include <string>

#include "auth/oauth/client_identity.hpp"
#include "auth/oauth/metadata.hpp"
#include "auth/oauth/token_requests.hpp"
#include "unit/auth/oauth/scripted_places.hpp"

namespace {

using namespace hondana::oauth;
using hondana::errc;
using hondana_test::json;

constexpr auto now = seconds_since_epoch(std::chrono::seconds(1'000));

TEST(oauth_tokens, are_read) {
  const auto got =
      read_tokens(json(R"({"access_token":"a","token_type":"bearer","expires_in":"60","refresh_token":"r","scope":"y x"})"),
                  {"x"}, "https://as.example", now);
  ASSERT_TRUE(got);
  EXPECT_EQ(got->access_token, "a");
  EXPECT_EQ(got->refresh_token, "r");
  EXPECT_EQ(got->expires_at, now + std::chrono::seconds(60));
  EXPECT_EQ(got->scope, "x y");
  EXPECT_EQ(got->issued_at, now);
}

TEST(oauth_tokens, what_is_not_said_is_what_was_asked_for_and_unknown) {
  const auto got = read_tokens(json(R"({"access_token":"a","token_type":"Bearer"})"), {"b", "a"}, "https://as.example", now);
  ASSERT_TRUE(got);
  EXPECT_EQ(got->scope, "a b");
  EXPECT_FALSE(got->expires_at);
}

TEST(oauth_tokens, an_endless_life_is_cut_and_none_is_unknown) {
  const auto life = [](const std::string& of) {
    const auto got = read_tokens(json(R"({"access_token":"a","token_type":"Bearer","expires_in":)" + of + "}"), {},
                                 "https://as.example", now);
    EXPECT_TRUE(got) << of;
    return got ? got->expires_at : std::nullopt;
  };
  EXPECT_EQ(life("9223372036854775807"), now + std::chrono::hours(24 * 366));
  EXPECT_EQ(life("3599.5"), now + std::chrono::seconds(3599));
  EXPECT_FALSE(life("0"));
}

TEST(oauth_tokens, garbage_and_other_types_are_refused_without_repeating_them) {
  for (const auto& text :
       {std::string("<html>the-secret</html>"), std::string("[\"the-secret\"]"), std::string(R"({"token_type":"Bearer"})"),
        std::string(R"({"access_token":7,"token_type":"Bearer"})"), std::string(R"({"access_token":"the-secret"})"),
        std::string(R"({"access_token":"the-secret","token_type":"DPoP"})"),
        std::string(R"({"access_token":"the-secret\r\nX: y","token_type":"Bearer"})"),
        std::string(R"({"access_token":"","token_type":"Bearer"})"),
        std::string(R"({"access_token":"the-secret","token_type":"Bearer","expires_in":-1})"),
        std::string(R"({"access_token":"the-secret","token_type":"Bearer","expires_in":"soon"})"),
        std::string(R"({"access_token":"the-secret","token_type":"Bearer","refresh_token":[]})"),
        std::string(R"({"access_token":"the-secret","token_type":"Bearer","scope":"a \" b"})"),
        R"({"token_type":"Bearer","access_token":")" + std::string(20'000, 'x') + "\"}"}) {
    const auto got = read_tokens(json(text), {}, "https://as.example", now);
    ASSERT_FALSE(got) << text.substr(0, 80);
    EXPECT_EQ(got.error().reason.code, errc::protocol_error) << text.substr(0, 80);
    EXPECT_TRUE(got.error().error_code.empty());
    EXPECT_EQ(got.error().reason.public_text.find("the-secret"), std::string::npos);
  }
}

TEST(oauth_tokens, refusals_are_told_apart) {
  const auto error = [](const hondana_test::small_response& answer) {
    const auto got = read_tokens(answer, {}, "https://as.example", now);
    EXPECT_FALSE(got);
    return got ? token_rejection{} : got.error();
  };
  EXPECT_EQ(error(json(R"({"error":"invalid_grant","error_description":"\u001b[2Jgone"})", 400)).error_code, "invalid_grant");
  EXPECT_EQ(
      error(json(R"({"error":"invalid_grant","error_description":"\u001b[2Jgone"})", 400)).reason.public_text.find('\x1b'),
      std::string::npos);
  EXPECT_EQ(error(json(R"({"error":"bad_verification_code"})", 200)).error_code, "bad_verification_code");
  EXPECT_EQ(error(json("no", 401)).reason.code, errc::unauthorized);
  EXPECT_EQ(error(json("{}", 503)).reason.code, errc::source_unavailable);
  EXPECT_EQ(error(json(R"({"error":"slow_down"})", 429)).reason.code, errc::source_unavailable);
}

TEST(oauth_registration, says_what_the_newest_revision_wants) {
  auto at = default_metadata("https://as.example");
  at.methods = {"client_secret_post", "client_secret_basic"};
  const auto own = hondana::value::parse(registration_request("me", "http://localhost:1/x", at).value_or(""));
  ASSERT_TRUE(own);
  EXPECT_EQ(own->string_at("application_type").value_or(""), "native");
  EXPECT_EQ(own->string_at("token_endpoint_auth_method").value_or(""), "client_secret_basic");
  EXPECT_EQ(own->string_at("/redirect_uris/0").value_or(""), "http://localhost:1/x");
  EXPECT_EQ(own->string_at("/grant_types/1").value_or(""), "refresh_token");
  EXPECT_EQ(own->string_at("/response_types/0").value_or(""), "code");
  at.grants = {"authorization_code"};
  const auto web = hondana::value::parse(registration_request("me", "https://app.example/x", at).value_or(""));
  EXPECT_EQ(web->string_at("application_type").value_or(""), "web");
  EXPECT_EQ(web->array_at("grant_types").value_or(hondana::value::array()).size(), 1u);
  at.methods = {"tls_client_auth"};
  EXPECT_FALSE(registration_request("me", "http://localhost:1/x", at));
}

TEST(oauth_registration, is_read_and_its_expiry_too) {
  const auto got = read_registration(
      json(
          R"({"client_id":"c","client_secret":"s","client_secret_expires_at":1001,"token_endpoint_auth_method":"client_secret_post"})",
          201),
      "http://localhost/x", "https://as.example");
  ASSERT_TRUE(got);
  EXPECT_EQ(*got, (hondana::client_registration{"c", "s", now + std::chrono::seconds(1), "client_secret_post",
                                                "http://localhost/x"}));
  EXPECT_FALSE(read_registration(json(R"({"client_id":"c","client_secret_expires_at":0})"), "x", "y")->secret_expires_at);
}

TEST(oauth_registration, refusals_and_garbage_say_what_to_do) {
  const auto refused = read_registration(json(R"({"error":"invalid_redirect_uri","error_description":"no http"})", 400), "x",
                                         "https://as.example");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::unauthorized);
  EXPECT_NE(refused.error().public_text.find("invalid_redirect_uri: no http"), std::string::npos);
  EXPECT_NE(refused.error().public_text.find("configure its client id"), std::string::npos);
  EXPECT_EQ(read_registration(json("<html>", 403), "x", "https://as.example").error().code, errc::unauthorized);
  for (const auto* text :
       {"", "{}", R"({"client_id":""})", R"({"client_id":"a\nb"})", R"({"client_id":"c","client_secret":7})",
        R"({"client_id":"c","client_secret_expires_at":-1})", R"({"client_id":"c","token_endpoint_auth_method":1})"}) {
    const auto got = read_registration(json(text, 201), "x", "https://as.example");
    ASSERT_FALSE(got) << text;
    EXPECT_EQ(got.error().code, errc::protocol_error) << text;
  }
}

server_metadata taking(std::vector<std::string> methods) {
  auto out = default_metadata("https://as.example");
  out.methods = std::move(methods);
  return out;
}

TEST(oauth_identity, the_method_is_one_that_both_know) {
  client_identity with_secret{"me", "s", {}, {}, {}};
  const client_identity without{"me", {}, {}, {}, {}};
  EXPECT_EQ(choose_method(with_secret, taking({"client_secret_post", "client_secret_basic"})).value_or(""),
            "client_secret_basic");
  EXPECT_EQ(choose_method(with_secret, taking({"client_secret_post", "none"})).value_or(""), "client_secret_post");
  EXPECT_EQ(choose_method(with_secret, taking({"none"})).value_or(""), "none");
  EXPECT_EQ(choose_method(with_secret, default_metadata("https://as.example")).value_or(""), "client_secret_basic");
  EXPECT_EQ(choose_method(without, default_metadata("https://as.example")).value_or(""), "none");
  with_secret.method = "client_secret_post";
  EXPECT_EQ(choose_method(with_secret, taking({"client_secret_basic"})).value_or(""), "client_secret_post");
  const auto refused = choose_method(without, taking({"client_secret_basic", "tls_client_auth"}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::unsupported);
  EXPECT_NE(refused.error().public_text.find("client_secret_basic, tls_client_auth"), std::string::npos);
}

TEST(oauth_identity, basic_credentials_are_encoded_as_forms_first) {
  const client_identity who{"a:b", "s p\xe6\x9c\xac", {}, {}, {}};
  const auto got = authenticated_request("https://as.example/token", {{"x", "y"}}, who, taking({"client_secret_basic"}), now);
  ASSERT_TRUE(got);
  EXPECT_EQ(got->body, "x=y");
  const auto found =
      std::find_if(got->headers.begin(), got->headers.end(), [](const auto& one) { return one.first == "Authorization"; });
  ASSERT_NE(found, got->headers.end());
  EXPECT_EQ(found->second, "Basic YSUzQWI6cyUyMHAlRTYlOUMlQUM=");  // a%3Ab:s%20p%E6%9C%AC
}

TEST(oauth_identity, a_posted_secret_stands_in_the_form_alone) {
  const auto got =
      authenticated_request("https://as.example/token", {}, {"me", "s&t", {}, {}, {}}, taking({"client_secret_post"}), now);
  ASSERT_TRUE(got);
  EXPECT_EQ(got->body, "client_id=me&client_secret=s%26t");
  EXPECT_EQ(got->url, "https://as.example/token");
}

}  // namespace
