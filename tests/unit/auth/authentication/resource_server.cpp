/// Tokens of an authorization server: those that are good, and those that must not be believed.
#include "auth/authentication/resource_server.hpp"

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "base/json/base64.hpp"
#include "unit/auth/authentication/tokens_of_an_issuer.hpp"

namespace {

using hondana::caller_info;
using hondana::oauth_authenticator_options;
using hondana::value;
using hondana::authentication::resource_server;
using hondana::jose::algorithm;
using hondana_test::issuer_url;
using hondana_test::keys_url;
using hondana_test::resource_url;
using hondana_test::soon;
using hondana_test::tokens_of_an_issuer;
using hondana_test::with_token;

TEST_F(tokens_of_an_issuer, say_who_asks_with_scopes_and_claims) {
  for (const auto by : {algorithm::rs256, algorithm::es256, algorithm::eddsa}) {
    const std::string key(name_of(by));
    issuer_.add_key(key, by);
    resource_server server(options(), issuer_.caller(), time_.clocks());
    const auto said = server.authenticate(with_token(token({}, key)), soon());
    ASSERT_TRUE(said) << said.error().description;
    EXPECT_EQ(said->identity, "https://login.example.com#alice");
    EXPECT_EQ(said->address, "192.0.2.7");
    ASSERT_TRUE(said->auth_info);
    EXPECT_EQ(said->auth_info->client, "editor");
    EXPECT_EQ(said->auth_info->scopes, (std::vector<std::string>{"read", "list"}));
    EXPECT_EQ(said->auth_info->claims->string_at("sub").value_or(""), "alice");
  }
}

TEST_F(tokens_of_an_issuer, scopes_may_be_an_array_and_a_program_may_stand_for_itself) {
  const auto by_array = ask(token({{"scope", nullptr}, {"scp", value::array{"a", "b c"}}}));
  ASSERT_TRUE(by_array) << by_array.error().description;
  EXPECT_EQ(by_array->auth_info->scopes, (std::vector<std::string>{"a", "b", "c"}));
  auto of_nobody = claims({{"client_id", "backup"}});
  std::erase_if(of_nobody, [](const auto& one) { return one.first == "sub"; });
  const auto machine = ask(issuer_.sign("first", of_nobody));
  ASSERT_TRUE(machine) << machine.error().description;
  EXPECT_EQ(machine->identity, "https://login.example.com?client=backup");
  std::erase_if(of_nobody, [](const auto& one) { return one.first == "client_id"; });
  expect_refused(issuer_.sign("first", of_nobody), "sub");
}

TEST_F(tokens_of_an_issuer, whose_subject_is_no_name_are_not_taken_for_their_client) {
  for (const auto& subject : {value(1), value(2), value(""), value(nullptr), value("a\nb"), value(value::array{"alice"})})
    expect_refused(token({{"sub", subject}, {"client_id", "backup"}}), "sub");
}

TEST_F(tokens_of_an_issuer, are_known_without_waiting_once_their_key_is_here) {
  const auto first = token();
  EXPECT_FALSE(server_.try_authenticate(with_token(first)));  // there are no keys yet
  ASSERT_TRUE(ask(first));
  const auto other = server_.try_authenticate(with_token(token({{"sub", "bob"}})));
  ASSERT_TRUE(other && *other);
  EXPECT_EQ((*other)->identity, "https://login.example.com#bob");
  EXPECT_EQ(issuer_.asked(keys_url), 1u);
}

TEST_F(tokens_of_an_issuer, without_one_are_asked_for_with_the_scopes_and_no_error) {
  const auto said = server_.try_authenticate({});
  ASSERT_TRUE(said && !*said);
  EXPECT_EQ(said->error().status, 401);
  EXPECT_EQ(said->error().error, "");
  EXPECT_EQ(said->error().scopes, std::vector<std::string>{"read"});
  const auto told = server_.metadata();
  ASSERT_TRUE(told);
  EXPECT_EQ(told->resource, resource_url);
  EXPECT_EQ(told->authorization_servers, std::vector<std::string>{issuer_url});
  EXPECT_EQ(told->supported_scopes, (std::vector<std::string>{"read", "write"}));
}

// requires: */authorization.audience
TEST_F(tokens_of_an_issuer, for_another_audience_are_refused) {
  expect_refused(token({{"aud", "https://other.example.com/mcp"}}), "another audience");
  expect_refused(token({{"aud", value::array{"a", "b"}}}), "another audience");
  expect_refused(token({{"aud", nullptr}}), "another audience");
  // Its host alone is another server.
  expect_refused(token({{"aud", "https://shelf.example.com"}}), "another audience");
}

TEST_F(tokens_of_an_issuer, of_another_issuer_are_refused_and_look_for_no_key) {
  expect_refused(token({{"iss", "https://evil.example.com"}}), "was not issued by");
  const auto before = issuer_.asked(keys_url);
  issuer_.add_key("theirs");
  expect_refused(token({{"iss", "https://evil.example.com"}}, "theirs"), "was not issued by");
  EXPECT_EQ(issuer_.asked(keys_url), before);
}

TEST_F(tokens_of_an_issuer, that_have_expired_or_are_not_valid_yet_are_refused_with_some_skew) {
  expect_refused(token({{"exp", time_.now() - 31}}), "expired");
  EXPECT_TRUE(ask(token({{"exp", time_.now() - 20}})));
  expect_refused(token({{"nbf", time_.now() + 40}}), "not valid yet");
  EXPECT_TRUE(ask(token({{"nbf", time_.now() + 20}})));
  expect_refused(token({{"exp", nullptr}}), "exp");
}

TEST_F(tokens_of_an_issuer, signed_by_nothing_are_refused) {
  const auto whole = token();
  const auto payload = whole.substr(whole.find('.') + 1, whole.rfind('.') - whole.find('.') - 1);
  for (const std::string alg : {"none", "None", "NONE", ""}) {
    expect_refused(hondana::json::encode_base64url(R"({"alg":")" + alg + R"(","kid":"first"})") + '.' + payload + '.', "RS256");
  }
}

TEST_F(tokens_of_an_issuer, signed_with_the_public_key_as_a_shared_secret_are_refused) {
  issuer_.add_key("rsa", algorithm::rs256);
  ASSERT_TRUE(ask(token({}, "rsa")));
  const auto secret = issuer_.jwk("rsa").to_text();
  const auto text = hondana::json::encode_base64url(R"({"alg":"HS256","kid":"rsa"})") + '.' +
                    hondana::json::encode_base64url(value(claims()).to_text());
  std::string code(32, '\0');
  ASSERT_NE(
      HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()), reinterpret_cast<const unsigned char*>(text.data()),
           text.size(), reinterpret_cast<unsigned char*>(code.data()), nullptr),
      nullptr);
  expect_refused(text + '.' + hondana::json::encode_base64url(code), "RS256");
}

TEST_F(tokens_of_an_issuer, whose_claims_or_signature_were_changed_are_refused) {
  const auto whole = token();
  ASSERT_TRUE(ask(whole));
  const auto dot = whole.rfind('.');
  const auto mine = hondana::json::encode_base64url(value(claims({{"sub", "mallory"}})).to_text());
  expect_refused(whole.substr(0, whole.find('.') + 1) + mine + whole.substr(dot), "not signed");
  auto cut = whole;
  cut[dot + 5] = cut[dot + 5] == 'A' ? 'B' : 'A';
  expect_refused(cut, "not signed");
}

TEST_F(tokens_of_an_issuer, of_other_kinds_are_refused) {
  const auto signed_as = [this](const std::string& type) {
    // The header is not what is checked first, so that no signature is needed.
    const auto whole = token();
    return hondana::json::encode_base64url(R"({"alg":"EdDSA","kid":"first","typ":")" + type + R"("})") +
           whole.substr(whole.find('.'));
  };
  expect_refused(signed_as("logout+jwt"), "not an access token");
  expect_refused(signed_as("dpop+jwt"), "not an access token");
  expect_refused(signed_as("application/AT+JWT"), "not signed");
  expect_refused("hello", "three parts");
  expect_refused("a.b.c.d.e", "encrypted");
  expect_refused(std::string(17'000, 'a'), "too long");
  expect_refused("with space", "characters");
}

TEST_F(tokens_of_an_issuer, are_remembered_for_a_minute_and_not_beyond_their_expiry) {
  const auto long_lived = token();
  const auto short_lived = token({{"exp", time_.now() + 10}});
  ASSERT_TRUE(ask(long_lived));
  ASSERT_TRUE(ask(short_lived));
  time_.pass(std::chrono::seconds(41));
  expect_refused(short_lived, "expired");
  EXPECT_TRUE(*server_.try_authenticate(with_token(long_lived)));
}

TEST_F(tokens_of_an_issuer, hold_for_a_minute_and_not_beyond_their_expiry_and_skew) {
  const auto holds = [this](const std::string& token) {
    const auto said = ask(token);
    return said ? std::chrono::duration_cast<std::chrono::seconds>(said->expires_at - time_.clocks().steady()).count() : -1;
  };
  const auto lasting = token();
  EXPECT_EQ(holds(lasting), 60);
  time_.pass(std::chrono::seconds(10));
  EXPECT_EQ(holds(lasting), 50) << "what is remembered holds no longer than when it was found out";
  EXPECT_EQ(holds(token({{"exp", time_.now() + 5}})), 35);
  EXPECT_EQ(holds(token({{"exp", time_.now() - 20}})), 10) << "clocks may be apart";
}

TEST(oauth_authenticator, is_refused_options_that_cannot_be) {
  const auto why = [](auto change) {
    oauth_authenticator_options of;
    of.issuer = issuer_url;
    of.resource = resource_url;
    change(of);
    const auto made = hondana::make_oauth_authenticator(of);
    return made ? std::string("made") : made.error().public_text;
  };
  EXPECT_EQ(why([](oauth_authenticator_options&) {}), "made");
  EXPECT_NE(why([](oauth_authenticator_options& of) { of.issuer = "login"; }).find("issuer"), std::string::npos);
  EXPECT_NE(why([](oauth_authenticator_options& of) { of.issuer = "https://a.example/?x"; }).find("issuer"), std::string::npos);
  EXPECT_NE(why([](oauth_authenticator_options& of) { of.issuer = "https://u:p@a.example/"; }).find("issuer"),
            std::string::npos);
  EXPECT_NE(why([](oauth_authenticator_options& of) { of.resource = ""; }).find("resource"), std::string::npos);
  EXPECT_NE(why([](oauth_authenticator_options& of) { of.resource = "https://a.example/#x"; }).find("resource"),
            std::string::npos);
  EXPECT_NE(why([](oauth_authenticator_options& of) { of.jwks_uri = "file:///etc/passwd"; }).find("jwks_uri"),
            std::string::npos);
  EXPECT_NE(why([](oauth_authenticator_options& of) { of.clock_skew = std::chrono::hours(1); }).find("skew"),
            std::string::npos);
  EXPECT_NE(why([](oauth_authenticator_options& of) { of.challenge_scopes = {"a b"}; }).find("scope"), std::string::npos);
  EXPECT_NE(
      why([](oauth_authenticator_options& of) { of.introspection.emplace().endpoint = "https://a.example/i"; }).find("secret"),
      std::string::npos);
}

}  // namespace
