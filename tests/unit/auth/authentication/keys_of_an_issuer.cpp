/// The keys that tokens are checked by: looked for, rotated, withdrawn, and out of reach.
#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "base/json/base64.hpp"
#include "deadline.hpp"
#include "unit/auth/authentication/tokens_of_an_issuer.hpp"

namespace {

using hondana::auth_result;
using hondana::caller_info;
using hondana::value;
using hondana::authentication::resource_server;
using hondana_test::issuer;
using hondana_test::keys_url;
using hondana_test::soon;
using hondana_test::tokens_of_an_issuer;
using hondana_test::with_token;

TEST_F(tokens_of_an_issuer, signed_by_unknown_keys_make_three_fetches_however_many_there_are) {
  ASSERT_TRUE(ask(token()));
  EXPECT_EQ(issuer_.asked(keys_url), 1u);
  const auto forged = [this](int number) {
    const auto whole = token();
    return hondana::json::encode_base64url(R"({"alg":"EdDSA","kid":"forged)" + std::to_string(number) + R"("})") +
           whole.substr(whole.find('.'));
  };
  std::vector<std::thread> flood;
  for (int thread = 0; thread < 4; ++thread) {
    flood.emplace_back([&, thread] {
      for (int turn = 0; turn < 250; ++turn) {
        const auto bad = forged(1000 * thread + turn);
        auto said = server_.try_authenticate(with_token(bad));
        if (!said) said = server_.authenticate(with_token(bad), soon());
        ASSERT_FALSE(*said);
        // While the keys are fetched nobody can tell.
        EXPECT_TRUE(said->error().error == "invalid_token" || said->error().status == 503);
      }
    });
  }
  for (auto& one : flood) one.join();
  EXPECT_EQ(issuer_.asked(keys_url), 1u + 3u);
  // A good token is not held up by it, and after a while more looks are taken.
  EXPECT_TRUE(*server_.try_authenticate(with_token(token({{"sub", "bob"}}))));
  EXPECT_TRUE(server_.try_authenticate(with_token(forged(1))));
  time_.pass(std::chrono::seconds(30));
  expect_refused(forged(2), "does not publish");
  expect_refused(forged(3), "does not publish");
  EXPECT_EQ(issuer_.asked(keys_url), 1u + 3u + 2u);
}

TEST_F(tokens_of_an_issuer, of_keys_that_were_rotated_twice_are_taken_at_once) {
  ASSERT_TRUE(ask(token()));
  for (const std::string next : {"second", "third"}) {
    issuer_.add_key(next);
    const auto said = ask(token({}, next));
    EXPECT_TRUE(said) << next << ": " << said.error().description;
  }
  EXPECT_EQ(issuer_.asked(keys_url), 3u);
}

TEST_F(tokens_of_an_issuer, are_judged_by_the_keys_at_hand_when_new_ones_are_long_in_coming) {
  ASSERT_TRUE(ask(token()));
  time_.pass(std::chrono::minutes(19));
  // What is refused has no keys fetched.
  const auto bad = server_.try_authenticate(with_token(token({{"aud", "https://other.example.com"}})));
  ASSERT_TRUE(bad && !*bad);
  EXPECT_EQ(issuer_.asked(keys_url), 1u);
  std::promise<void> go_on;
  issuer_.serve(keys_url, [going = go_on.get_future().share()](const auto&) -> hondana::result<issuer::small_answer> {
    going.wait();
    return hondana::fail(hondana::errc::timed_out, "no answer");
  });
  // None of these waits for the server that hangs.
  for (const auto* const who : {"alice", "bob", "carol"}) {
    const auto next = server_.try_authenticate(with_token(token({{"sub", who}})));
    EXPECT_TRUE(next && *next) << who;
  }
  EXPECT_TRUE(hondana_test::eventually([&] { return issuer_.asked(keys_url) == 2; }));
  go_on.set_value();
}

// attacks: a token of a withdrawn key, sent to a server that nobody has asked for hours
TEST_F(tokens_of_an_issuer, of_a_key_that_was_withdrawn_while_nobody_asked_are_refused) {
  ASSERT_TRUE(ask(token()));
  issuer_.add_key("second");
  issuer_.withdraw_key("first");
  time_.pass(std::chrono::hours(6));
  expect_refused(token(), "does not publish");
  EXPECT_EQ(issuer_.asked(keys_url), 3u) << "once since it is time to, and once for the key that is not there";
  EXPECT_TRUE(ask(token({}, "second")));
}

TEST_F(tokens_of_an_issuer, of_an_issuer_that_is_away_are_taken_for_a_day_by_keys_that_were_looked_for) {
  ASSERT_TRUE(ask(token()));
  issuer_.serve(keys_url, 500, "");
  time_.pass(std::chrono::hours(6));
  EXPECT_FALSE(server_.try_authenticate(with_token(token()))) << "nobody has looked for hours";
  ASSERT_TRUE(ask(token()));
  EXPECT_EQ(issuer_.asked(keys_url), 2u);
  time_.pass(std::chrono::minutes(4));
  const auto next = server_.try_authenticate(with_token(token({{"sub", "bob"}})));
  EXPECT_TRUE(next && *next) << "it was looked just now, and is again behind everybody's back";
  time_.pass(std::chrono::hours(18));
  EXPECT_EQ(refused(token()).status, 503);
}

// attacks: keeping new keys out by tokens of keys that nobody has
TEST_F(tokens_of_an_issuer, of_a_new_key_are_asked_to_come_back_while_too_many_unknown_ones_were_looked_for) {
  ASSERT_TRUE(ask(token()));
  for (int number = 0; number < 3; ++number) {
    const auto whole = token();
    expect_refused(hondana::json::encode_base64url(R"({"alg":"EdDSA","kid":"forged)" + std::to_string(number) + R"("})") +
                       whole.substr(whole.find('.')),
                   "does not publish");
  }
  time_.pass(std::chrono::seconds(10));
  issuer_.add_key("second");
  const auto good = token({}, "second");
  for (const bool is_at_once : {true, false}) {
    const auto said = is_at_once
                          ? server_.try_authenticate(with_token(good)).value_or(auth_result(hondana::authenticated_caller()))
                          : server_.authenticate(with_token(good), soon());
    ASSERT_FALSE(said);
    EXPECT_EQ(said.error().status, 503) << said.error().description;
    EXPECT_EQ(said.error().retry_after, std::chrono::seconds(20));
  }
  time_.pass(std::chrono::seconds(20));
  EXPECT_TRUE(ask(good));
}

TEST_F(tokens_of_an_issuer, of_a_new_key_that_cannot_be_looked_for_are_asked_to_come_back) {
  ASSERT_TRUE(ask(token()));
  issuer_.add_key("second");
  issuer_.serve(keys_url, 500, "");
  const auto why = refused(token({}, "second"));
  EXPECT_EQ(why.status, 503) << why.description;
  EXPECT_TRUE(why.retry_after);
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
  ASSERT_TRUE(*server_.try_authenticate(with_token(old)));
  issuer_.add_key("second");
  issuer_.withdraw_key("first");
  EXPECT_TRUE(*server_.try_authenticate(with_token(old)));  // nobody has heard of it yet
  ASSERT_TRUE(ask(token({}, "second")));
  expect_refused(old, "does not publish");
}

TEST_F(tokens_of_an_issuer, without_a_key_id_are_tried_with_every_key_of_their_algorithm) {
  const auto pem = hondana_test::new_pem();
  const auto key = hondana::jose::signing_key::from_pem(pem);
  ASSERT_TRUE(key);
  hondana_test::issuer other;
  const auto jwk = key->public_jwk("x");
  ASSERT_TRUE(jwk);
  other.serve(keys_url, 200, value(value::object{{"keys", value::array{other.jwk("first"), *jwk}}}).to_text());
  resource_server server(options(), other.caller(), time_.clocks());
  const auto nameless = key->sign(value(claims()));
  ASSERT_TRUE(nameless);
  EXPECT_TRUE(server.authenticate(with_token(*nameless), soon()));
}

TEST_F(tokens_of_an_issuer, that_nobody_can_check_now_are_answered_with_try_later) {
  issuer_.serve(keys_url, 500, "");
  const auto why = refused(token());
  EXPECT_EQ(why.status, 503);
  EXPECT_EQ(why.error, "");
  EXPECT_TRUE(why.retry_after);
  const auto calls = issuer_.asked(keys_url);
  EXPECT_EQ(refused(token()).status, 503);
  EXPECT_EQ(issuer_.asked(keys_url), calls);
  time_.pass(std::chrono::seconds(5));
  issuer_.add_key("second");
  EXPECT_TRUE(ask(token()));
}

}  // namespace
