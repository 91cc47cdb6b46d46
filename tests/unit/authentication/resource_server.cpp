/// Tokens of an authorization server: those that are good, and those that must not be believed.
#include "authentication/resource_server.hpp"

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <thread>

#include "json/base64.hpp"
#include "unit/authentication/issuer.hpp"

namespace {

using hondana::authenticated;
using hondana::caller;
using hondana::challenge;
using hondana::oauth_options;
using hondana::value;
using hondana::authentication::resource_server;
using hondana::jose::algorithm;
using hondana_test::issuer;
using hondana_test::issuer_url;
using hondana_test::keys_url;
using hondana_test::resource_url;
using hondana_test::soon;
using hondana_test::still_time;
using hondana_test::with_token;

class tokens_of_an_issuer : public testing::Test {
 protected:
  static oauth_options options() {
    oauth_options out;
    out.issuer = issuer_url;
    out.resource = resource_url;
    out.scopes = {"read"};
    out.all_scopes = {"read", "write"};
    return out;
  }
  [[nodiscard]] value::object claims(value::object more = {}) {
    value::object out{{"iss", issuer_url},    {"aud", resource_url},   {"sub", "alice"},
                      {"scope", "read list"}, {"client_id", "editor"}, {"exp", time_.now() + 600}};
    for (auto& [name, as] : more) {
      bool is_there = false;
      for (auto& [known, before] : out) {
        if (known != name) continue;
        before = as;
        is_there = true;
      }
      if (!is_there) out.emplace_back(name, as);
    }
    return out;
  }
  std::string token(value::object more = {}, const std::string& key = "first") {
    return issuer_.sign(key, claims(std::move(more)));
  }
  authenticated ask(const std::string& token) {
    if (auto said = server_.known(with_token(token))) return std::move(*said);
    return server_.find_out(with_token(token), soon());
  }
  challenge refused(const std::string& token) {
    const auto said = ask(token);
    EXPECT_FALSE(said) << said->identity;
    return said ? challenge() : said.error();
  }
  void expect_refused(const std::string& token, const std::string& word) {
    const auto why = refused(token);
    EXPECT_EQ(why.status, 401);
    EXPECT_EQ(why.error, "invalid_token");
    EXPECT_NE(why.description.find(word), std::string::npos) << why.description;
    EXPECT_EQ(why.description.find(token), std::string::npos);
    EXPECT_EQ(why.scopes, std::vector<std::string>{"read"});
  }

  still_time time_;
  issuer issuer_;
  resource_server server_{options(), issuer_.caller(), time_.clocks()};
};

TEST_F(tokens_of_an_issuer, say_who_asks_with_scopes_and_claims) {
  for (const auto by : {algorithm::rs256, algorithm::es256, algorithm::eddsa}) {
    const std::string key(name_of(by));
    issuer_.add_key(key, by);
    resource_server server(options(), issuer_.caller(), time_.clocks());
    const auto said = server.find_out(with_token(token({}, key)), soon());
    ASSERT_TRUE(said) << said.error().description;
    EXPECT_EQ(said->identity, "https://login.example.com#alice");
    EXPECT_EQ(said->address, "192.0.2.7");
    ASSERT_TRUE(said->proof);
    EXPECT_EQ(said->proof->client, "editor");
    EXPECT_EQ(said->proof->scopes, (std::vector<std::string>{"read", "list"}));
    EXPECT_EQ(said->proof->claims.string_at("sub").value_or(""), "alice");
  }
}

TEST_F(tokens_of_an_issuer, scopes_may_be_an_array_and_a_program_may_stand_for_itself) {
  const auto by_array = ask(token({{"scope", nullptr}, {"scp", value::array{"a", "b c"}}}));
  ASSERT_TRUE(by_array) << by_array.error().description;
  EXPECT_EQ(by_array->proof->scopes, (std::vector<std::string>{"a", "b", "c"}));
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
  EXPECT_FALSE(server_.known(with_token(first)));  // there are no keys yet
  ASSERT_TRUE(ask(first));
  const auto other = server_.known(with_token(token({{"sub", "bob"}})));
  ASSERT_TRUE(other && *other);
  EXPECT_EQ((*other)->identity, "https://login.example.com#bob");
  EXPECT_EQ(issuer_.asked(keys_url), 1u);
}

TEST_F(tokens_of_an_issuer, without_one_are_asked_for_with_the_scopes_and_no_error) {
  const auto said = server_.known({});
  ASSERT_TRUE(said && !*said);
  EXPECT_EQ(said->error().status, 401);
  EXPECT_EQ(said->error().error, "");
  EXPECT_EQ(said->error().scopes, std::vector<std::string>{"read"});
  const auto told = server_.metadata();
  ASSERT_TRUE(told);
  EXPECT_EQ(told->resource, resource_url);
  EXPECT_EQ(told->authorization_servers, std::vector<std::string>{issuer_url});
  EXPECT_EQ(told->scopes, (std::vector<std::string>{"read", "write"}));
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
  expect_refused(token({{"iss", "https://evil.example.com"}}), "another issuer");
  const auto before = issuer_.asked(keys_url);
  issuer_.add_key("theirs");
  expect_refused(token({{"iss", "https://evil.example.com"}}, "theirs"), "another issuer");
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
    expect_refused(hondana::json::base64url(R"({"alg":")" + alg + R"(","kid":"first"})") + '.' + payload + '.', "RS256");
  }
}

TEST_F(tokens_of_an_issuer, signed_with_the_public_key_as_a_shared_secret_are_refused) {
  issuer_.add_key("rsa", algorithm::rs256);
  ASSERT_TRUE(ask(token({}, "rsa")));
  const auto secret = issuer_.jwk("rsa").to_text();
  const auto text =
      hondana::json::base64url(R"({"alg":"HS256","kid":"rsa"})") + '.' + hondana::json::base64url(value(claims()).to_text());
  std::string code(32, '\0');
  ASSERT_NE(
      HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()), reinterpret_cast<const unsigned char*>(text.data()),
           text.size(), reinterpret_cast<unsigned char*>(code.data()), nullptr),
      nullptr);
  expect_refused(text + '.' + hondana::json::base64url(code), "RS256");
}

TEST_F(tokens_of_an_issuer, whose_claims_or_signature_were_changed_are_refused) {
  const auto whole = token();
  ASSERT_TRUE(ask(whole));
  const auto dot = whole.rfind('.');
  const auto mine = hondana::json::base64url(value(claims({{"sub", "mallory"}})).to_text());
  expect_refused(whole.substr(0, whole.find('.') + 1) + mine + whole.substr(dot), "not signed");
  auto cut = whole;
  cut[dot + 5] = cut[dot + 5] == 'A' ? 'B' : 'A';
  expect_refused(cut, "not signed");
}

TEST_F(tokens_of_an_issuer, of_other_kinds_are_refused) {
  const auto signed_as = [this](const std::string& type) {
    // The header is not what is checked first, so that no signature is needed.
    const auto whole = token();
    return hondana::json::base64url(R"({"alg":"EdDSA","kid":"first","typ":")" + type + R"("})") + whole.substr(whole.find('.'));
  };
  expect_refused(signed_as("logout+jwt"), "kind");
  expect_refused(signed_as("dpop+jwt"), "kind");
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
  EXPECT_TRUE(*server_.known(with_token(long_lived)));
}

TEST_F(tokens_of_an_issuer, signed_by_an_unknown_key_make_one_fetch_however_many_there_are) {
  ASSERT_TRUE(ask(token()));
  EXPECT_EQ(issuer_.asked(keys_url), 1u);
  const auto forged = [this](int number) {
    const auto whole = token();
    return hondana::json::base64url(R"({"alg":"EdDSA","kid":"forged)" + std::to_string(number) + R"("})") +
           whole.substr(whole.find('.'));
  };
  std::vector<std::thread> flood;
  for (int thread = 0; thread < 4; ++thread) {
    flood.emplace_back([&, thread] {
      for (int turn = 0; turn < 250; ++turn) {
        const auto bad = forged(1000 * thread + turn);
        auto said = server_.known(with_token(bad));
        if (!said) said = server_.find_out(with_token(bad), soon());
        ASSERT_FALSE(*said);
        // While the keys are fetched nobody can tell.
        EXPECT_TRUE(said->error().error == "invalid_token" || said->error().status == 503);
      }
    });
  }
  for (auto& one : flood) one.join();
  EXPECT_EQ(issuer_.asked(keys_url), 2u);
  // A good token is not held up by it, and after a while one more look is taken.
  EXPECT_TRUE(*server_.known(with_token(token({{"sub", "bob"}}))));
  EXPECT_TRUE(server_.known(with_token(forged(1))));
  time_.pass(std::chrono::seconds(30));
  expect_refused(forged(2), "does not publish");
  expect_refused(forged(3), "does not publish");
  EXPECT_EQ(issuer_.asked(keys_url), 3u);
}

TEST_F(tokens_of_an_issuer, are_judged_by_the_keys_at_hand_when_new_ones_are_long_in_coming) {
  ASSERT_TRUE(ask(token()));
  time_.pass(std::chrono::minutes(20));
  // What is refused has no keys fetched.
  const auto bad = server_.known(with_token(token({{"aud", "https://other.example.com"}})));
  ASSERT_TRUE(bad && !*bad);
  EXPECT_EQ(issuer_.asked(keys_url), 1u);
  issuer_.serve(keys_url, [](const hondana_test::issuer::small_request& of) -> hondana::result<issuer::small_answer> {
    EXPECT_LE(of.time, resource_server::fresher_keys_wait);
    return hondana::fail(hondana::errc::timed_out, "no answer");
  });
  EXPECT_TRUE(ask(token()));
  EXPECT_EQ(issuer_.asked(keys_url), 2u);
  const auto next = server_.known(with_token(token({{"sub", "bob"}})));
  ASSERT_TRUE(next && *next);
  EXPECT_EQ(issuer_.asked(keys_url), 2u);
}

TEST_F(tokens_of_an_issuer, signed_by_a_new_key_are_taken_after_one_fetch) {
  ASSERT_TRUE(ask(token()));
  issuer_.add_key("second");
  const auto said = ask(token({}, "second"));
  ASSERT_TRUE(said) << said.error().description;
  EXPECT_EQ(issuer_.asked(keys_url), 2u);
  EXPECT_TRUE(ask(token()));
}

TEST_F(tokens_of_an_issuer, are_forgotten_the_moment_their_key_has_left) {
  const auto old = token();
  ASSERT_TRUE(ask(old));
  ASSERT_TRUE(*server_.known(with_token(old)));
  issuer_.add_key("second");
  issuer_.withdraw_key("first");
  EXPECT_TRUE(*server_.known(with_token(old)));  // nobody has heard of it yet
  ASSERT_TRUE(ask(token({}, "second")));
  expect_refused(old, "does not publish");
}

TEST_F(tokens_of_an_issuer, without_a_key_id_are_tried_with_every_key_of_their_algorithm) {
  const auto pem = hondana_test::new_pem();
  const auto key = hondana::jose::signing_key::of_pem(pem);
  ASSERT_TRUE(key);
  hondana_test::issuer other;
  const auto jwk = key->public_jwk("x");
  ASSERT_TRUE(jwk);
  other.serve(keys_url, 200, value(value::object{{"keys", value::array{other.jwk("first"), *jwk}}}).to_text());
  resource_server server(options(), other.caller(), time_.clocks());
  const auto nameless = key->sign(value(claims()));
  ASSERT_TRUE(nameless);
  EXPECT_TRUE(server.find_out(with_token(*nameless), soon()));
}

TEST_F(tokens_of_an_issuer, that_nobody_can_check_now_are_answered_with_try_later) {
  issuer_.serve(keys_url, 500, "");
  const auto why = refused(token());
  EXPECT_EQ(why.status, 503);
  EXPECT_EQ(why.error, "");
  EXPECT_TRUE(why.retry);
  const auto calls = issuer_.asked(keys_url);
  EXPECT_EQ(refused(token()).status, 503);
  EXPECT_EQ(issuer_.asked(keys_url), calls);
  time_.pass(std::chrono::seconds(5));
  issuer_.add_key("second");
  EXPECT_TRUE(ask(token()));
}

TEST(oauth_authenticator, is_refused_options_that_cannot_be) {
  const auto why = [](auto change) {
    oauth_options of;
    of.issuer = issuer_url;
    of.resource = resource_url;
    change(of);
    const auto made = hondana::make_oauth_authenticator(of);
    return made ? std::string("made") : made.error().public_text;
  };
  EXPECT_EQ(why([](oauth_options&) {}), "made");
  EXPECT_NE(why([](oauth_options& of) { of.issuer = "login"; }).find("issuer"), std::string::npos);
  EXPECT_NE(why([](oauth_options& of) { of.issuer = "https://a.example/?x"; }).find("issuer"), std::string::npos);
  EXPECT_NE(why([](oauth_options& of) { of.issuer = "https://u:p@a.example/"; }).find("issuer"), std::string::npos);
  EXPECT_NE(why([](oauth_options& of) { of.resource = ""; }).find("resource"), std::string::npos);
  EXPECT_NE(why([](oauth_options& of) { of.resource = "https://a.example/#x"; }).find("resource"), std::string::npos);
  EXPECT_NE(why([](oauth_options& of) { of.keys = "file:///etc/passwd"; }).find("keys"), std::string::npos);
  EXPECT_NE(why([](oauth_options& of) { of.skew = std::chrono::hours(1); }).find("skew"), std::string::npos);
  EXPECT_NE(why([](oauth_options& of) { of.scopes = {"a b"}; }).find("scope"), std::string::npos);
  EXPECT_NE(why([](oauth_options& of) { of.introspection.endpoint = "https://a.example/i"; }).find("secret"),
            std::string::npos);
}

}  // namespace
