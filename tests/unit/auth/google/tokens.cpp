/// Access tokens: how they are asked for, how long they are kept, and what is said when there are none.
#include "auth/google/access_tokens.hpp"

#include <chrono>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <hondana/clock.hpp>

#include "auth/google/token_request.hpp"
#include "auth/jose/jwt.hpp"
#include "auth/jose/keys.hpp"
#include "unit/auth/google/token_place.hpp"

namespace {

using hondana::errc;
using hondana::google::explain_rejection;
using hondana::google::make_access_token_source;
using hondana::google::token_settings;
using hondana_test::account_json;
using hondana_test::claims_in;
using hondana_test::error_of;
using hondana_test::own_folder;
using hondana_test::posted;
using hondana_test::soon;
using hondana_test::token_of;
using hondana_test::token_place;
using hondana_test::token_reply;
using hondana_test::user_json;

class google_tokens : public testing::Test {
 protected:
  /// Tokens of a file with this text.
  std::shared_ptr<hondana::google::access_token_source> made(token_place& at, const std::string& json,
                                                             token_settings from = {}) {
    from.locations.file = folder.put("credentials.json", json);
    from.locations.token_url = at.url();
    from.timeout = hondana_test::event_deadline;
    from.locations.advice = "log in with `hondana login --source team`";
    from.log = [this](std::string_view line) {
      const std::lock_guard lock(mutex);
      lines += std::string(line) + '\n';
    };
    auto out = make_access_token_source(std::move(from));
    EXPECT_TRUE(out) << out.error().public_text;
    return out ? *out : nullptr;
  }
  std::string said() {
    const std::lock_guard lock(mutex);
    return lines;
  }
  own_folder folder;
  std::mutex mutex;
  std::string lines;
};

TEST_F(google_tokens, of_a_service_account_are_asked_for_with_a_signed_assertion) {
  token_place at({token_of("t-1")});
  token_settings from;
  from.now = [] { return std::chrono::system_clock::time_point(std::chrono::seconds(1'700'000'000)); };
  const auto tokens = made(at, account_json({}), from);
  EXPECT_EQ(tokens->account(), "");
  const auto got = tokens->token({}, soon());
  ASSERT_TRUE(got) << got.error().public_text;
  EXPECT_EQ(*got, "t-1");
  EXPECT_EQ(tokens->account(), "reader@team.iam.gserviceaccount.com");
  const auto asked = at.server().requests(1).at(0);
  EXPECT_EQ(asked.method, "POST");
  EXPECT_EQ(asked.target, "/token");
  EXPECT_EQ(asked.field("content-type"), "application/x-www-form-urlencoded");
  EXPECT_EQ(posted(asked, "grant_type"), "urn:ietf:params:oauth:grant-type:jwt-bearer");
  const auto claims = claims_in(asked);
  EXPECT_EQ(*claims.string_at("iss"), "reader@team.iam.gserviceaccount.com");
  EXPECT_EQ(*claims.string_at("aud"), at.url());
  EXPECT_EQ(*claims.string_at("scope"), "https://www.googleapis.com/auth/drive.readonly");
  EXPECT_EQ(*claims.integer_at("iat"), 1'700'000'000);
  EXPECT_EQ(*claims.integer_at("exp"), 1'700'003'600);
  EXPECT_EQ(claims.find("sub"), nullptr);
  // The key that the file holds has signed it.
  const auto key = hondana::jose::signing_key::from_pem(hondana_test::rsa_pem());
  const auto checks = hondana::jose::public_key::from_jwk(*key->public_jwk());
  const auto read = hondana::jose::read_token(posted(asked, "assertion"));
  ASSERT_TRUE(read && checks);
  EXPECT_EQ(read->key_id, "key-1");
  EXPECT_TRUE(hondana::jose::verify(*read, {*checks}));
}

TEST_F(google_tokens, name_whom_the_service_account_stands_in_for) {
  token_place at({token_of("t")});
  token_settings from;
  from.subject = "ann@example.com";
  from.requested_scopes = {hondana::google::scope::drive_metadata_readonly};
  const auto tokens = made(at, account_json({}), from);
  ASSERT_TRUE(tokens->token({}, soon()));
  const auto claims = claims_in(at.server().requests(1).at(0));
  EXPECT_EQ(*claims.string_at("sub"), "ann@example.com");
  EXPECT_EQ(*claims.string_at("scope"), "https://www.googleapis.com/auth/drive.metadata.readonly");
  EXPECT_EQ(tokens->account(), "ann@example.com");
}

TEST_F(google_tokens, of_a_person_are_asked_for_with_the_refresh_token) {
  token_place at({token_of("t-1", 3'600, "https://www.googleapis.com/auth/drive.readonly")});
  const auto tokens = made(at, user_json());
  ASSERT_TRUE(tokens->token({}, soon()));
  const auto asked = at.server().requests(1).at(0);
  EXPECT_EQ(posted(asked, "grant_type"), "refresh_token");
  EXPECT_EQ(posted(asked, "refresh_token"), "1//refresh-me");
  EXPECT_EQ(posted(asked, "client_id"), "app.apps.googleusercontent.com");
  EXPECT_EQ(posted(asked, "client_secret"), "s3cret-of-app");
  EXPECT_EQ(posted(asked, "scope"), "https://www.googleapis.com/auth/drive.readonly");
  EXPECT_EQ(said(), "");
}

TEST_F(google_tokens, are_kept_until_a_server_refuses_one) {
  token_place at({token_of("t-1"), token_of("t-2")});
  const auto tokens = made(at, user_json());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(tokens->token({}, soon()).value_or(""), "t-1");
  EXPECT_EQ(at.asked(), 1u);
  tokens->invalidate("another");
  EXPECT_EQ(tokens->token({}, soon()).value_or(""), "t-1");
  tokens->invalidate("t-1");
  EXPECT_EQ(tokens->token({}, soon()).value_or(""), "t-2");
  EXPECT_EQ(at.asked(), 2u);
}

TEST_F(google_tokens, of_a_short_life_are_renewed_before_its_end) {
  hondana::manual_clock clock;
  token_place at({token_of("t-1", 1), token_of("t-2", 3'600)});
  const auto tokens = made(at, user_json());
  EXPECT_EQ(tokens->token({}, soon()).value_or(""), "t-1");
  clock.advance(std::chrono::milliseconds(799));
  EXPECT_EQ(tokens->token({}, soon()).value_or(""), "t-1");
  EXPECT_EQ(at.asked(), 1u);
  clock.advance(std::chrono::milliseconds(1));
  EXPECT_EQ(tokens->token({}, soon()).value_or(""), "t-2");
  EXPECT_EQ(at.asked(), 2u);
}

TEST_F(google_tokens, are_got_by_one_of_many_threads) {
  std::promise<void> all_wait;
  const auto waiting = all_wait.get_future().share();
  token_place at({token_of("t-1")});
  at.before([waiting](const auto&) { waiting.wait_for(hondana_test::event_deadline); });
  const auto tokens = made(at, user_json());
  std::vector<std::future<std::string>> got;
  for (int i = 0; i < 12; ++i)
    got.push_back(std::async(std::launch::async, [&tokens] { return tokens->token({}, soon()).value_or("none"); }));
  EXPECT_EQ(at.server().requests(1).size(), 1u);
  all_wait.set_value();
  for (auto& one : got) EXPECT_EQ(one.get(), "t-1");
  EXPECT_EQ(at.asked(), 1u);
}

TEST_F(google_tokens, are_waited_for_no_longer_than_a_caller_has_and_one_who_leaves_takes_nobody_along) {
  std::promise<void> may_answer;
  const auto answering = may_answer.get_future().share();
  token_place at({token_of("t-1")});
  at.before([answering](const auto&) { answering.wait_for(hondana_test::event_deadline); });
  const auto tokens = made(at, user_json());
  std::stop_source stop;
  auto first = std::async(std::launch::async, [&] { return tokens->token(stop.get_token(), soon()); });
  EXPECT_EQ(at.server().requests(1).size(), 1u);
  const auto late = tokens->token({}, std::chrono::steady_clock::now() + std::chrono::milliseconds(20));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, errc::timed_out);
  auto second = std::async(std::launch::async, [&] { return tokens->token({}, soon()); });
  stop.request_stop();
  const auto left = first.get();
  ASSERT_FALSE(left);
  EXPECT_EQ(left.error().code, errc::cancelled);
  may_answer.set_value();
  const auto got = second.get();
  ASSERT_TRUE(got) << got.error().public_text;
  EXPECT_EQ(*got, "t-1");
}

TEST_F(google_tokens, are_asked_for_with_googles_time_when_this_clock_is_wrong) {
  const auto wrong =
      error_of("invalid_grant",
               "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check "
               "your iat and exp values in the JWT claim.");
  token_place at({{wrong.status, wrong.body, "Date: Tue, 14 Nov 2023 22:13:20 GMT\r\n"}, token_of("t-1"), token_of("t-2")});
  token_settings from;
  // Two hours ahead.
  from.now = [] { return std::chrono::system_clock::time_point(std::chrono::seconds(1'700'007'200)); };
  const auto tokens = made(at, account_json({}), from);
  const auto got = tokens->token({}, soon());
  ASSERT_TRUE(got) << got.error().public_text;
  const auto asked = at.server().requests(2);
  EXPECT_EQ(*claims_in(asked.at(0)).integer_at("iat"), 1'700'007'200);
  EXPECT_EQ(*claims_in(asked.at(1)).integer_at("iat"), 1'700'000'000);
  EXPECT_NE(said().find("clock is 7200 seconds ahead of Google's"), std::string::npos) << said();
  // It is remembered.
  tokens->invalidate("t-1");
  ASSERT_TRUE(tokens->token({}, soon()));
  EXPECT_EQ(*claims_in(at.server().requests(3).at(2)).integer_at("iat"), 1'700'000'000);
}

TEST_F(google_tokens, whose_times_are_never_believed_are_asked_for_twice_and_no_more) {
  const auto wrong = error_of("invalid_grant", "Invalid JWT: check your iat and exp values in a reasonable timeframe");
  token_place at({{wrong.status, wrong.body, "Date: Tue, 14 Nov 2023 22:13:20 GMT\r\n"}});
  const auto tokens = made(at, account_json({}));
  const auto got = tokens->token({}, soon());
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, errc::unauthorized);
  EXPECT_NE(got.error().public_text.find("clock"), std::string::npos) << got.error().public_text;
  EXPECT_EQ(at.asked(), 2u);
}

TEST_F(google_tokens, of_credentials_that_have_changed_are_used_no_longer) {
  token_place at({token_of("of-ann"), token_of("of-bob")});
  const auto tokens = made(at, user_json({}));
  EXPECT_EQ(tokens->token({}, soon()).value(), "of-ann");
  EXPECT_EQ(tokens->token({}, soon()).value(), "of-ann");
  static_cast<void>(folder.put("credentials.json", user_json({}) + "\n"));
  EXPECT_EQ(tokens->token({}, soon()).value(), "of-bob");
}

TEST_F(google_tokens, that_are_refused_for_good_are_not_asked_for_again_until_the_file_changes) {
  const hondana::manual_clock clock;
  token_place at({error_of("invalid_grant", "Token has been expired or revoked."), token_of("t-2")});
  const auto tokens = made(at, user_json());
  for (int i = 0; i < 3; ++i) {
    const auto got = tokens->token({}, soon());
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code, errc::unauthorized);
    EXPECT_NE(got.error().public_text.find("revoked"), std::string::npos);
    EXPECT_NE(got.error().public_text.find("hondana login --source team"), std::string::npos);
  }
  EXPECT_EQ(at.asked(), 1u);
  folder.put("credentials.json", user_json({{"account", "ann@example.com"}}));
  EXPECT_EQ(tokens->token({}, soon()).value_or(""), "t-2");
  EXPECT_EQ(tokens->account(), "ann@example.com");
  EXPECT_NE(said().find("have changed"), std::string::npos);
}

TEST_F(google_tokens, are_asked_for_again_when_the_endpoint_has_a_problem_of_its_own) {
  token_place at({{503, "<html>busy</html>", {}}, error_of("internal_failure", "", 500), token_of("t-1")});
  const auto tokens = made(at, user_json());
  const auto got = tokens->token({}, soon());
  ASSERT_TRUE(got) << got.error().public_text;
  EXPECT_EQ(at.asked(), 3u);
}

TEST_F(google_tokens, for_less_than_was_asked_for_are_none_and_those_for_more_are_told_of) {
  token_place less({token_of("t-1", 3'600, "https://www.googleapis.com/auth/drive.metadata.readonly")});
  const auto got = made(less, user_json())->token({}, soon());
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, errc::unauthorized);
  EXPECT_NE(got.error().public_text.find("less than https://www.googleapis.com/auth/drive.readonly"), std::string::npos);
  token_place more(
      {token_of("t-1", 3'600, "https://www.googleapis.com/auth/drive https://www.googleapis.com/auth/gmail.modify")});
  EXPECT_TRUE(made(more, user_json())->token({}, soon()));
  EXPECT_NE(said().find("grants more than read access"), std::string::npos);
}

TEST_F(google_tokens, are_never_in_what_is_said) {
  for (const auto& reply : {error_of("invalid_grant", "1//refresh-me s3cret-of-app"), token_reply{200, "{}", {}},
                            token_reply{200, R"({"access_token":"ya29.SECRET"})", {}},
                            token_reply{200, R"({"access_token":"ya29.SECRET\n","token_type":"Bearer"})", {}},
                            token_reply{302, "", "Location: https://evil.example/\r\n"}, token_reply{404, "<html>", {}}}) {
    token_place at({reply});
    const auto got = made(at, user_json())->token({}, soon());
    ASSERT_FALSE(got) << reply.body;
    for (const auto* secret : {"SECRET", "refresh-me", "s3cret"})
      EXPECT_EQ(got.error().public_text.find(secret), std::string::npos) << got.error().public_text;
    EXPECT_EQ(got.error().private_text.find("SECRET"), std::string::npos) << got.error().private_text;
    EXPECT_EQ(at.asked(), 1u);
  }
}

TEST_F(google_tokens, with_a_subject_need_a_service_account) {
  token_place at({token_of("t")});
  token_settings from;
  from.subject = "ann@example.com";
  const auto got = made(at, user_json(), from)->token({}, soon());
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, errc::invalid_argument);
  EXPECT_NE(got.error().public_text.find("subject"), std::string::npos);
  EXPECT_EQ(at.asked(), 0u);
  from.locations.token_url = at.url();
  from.proxy = "http://192.0.2.1:3128";
  EXPECT_NE(make_access_token_source(from).error().public_text.find("through a proxy"), std::string::npos);
  from.subject = "no address";
  EXPECT_FALSE(make_access_token_source(from));
}

TEST(google_token_refusals, say_what_to_do) {
  using hondana::google::credentials;
  const auto account = hondana::google::parse_credentials(account_json({}));
  const auto user = hondana::google::parse_credentials(user_json());
  struct one {
    const credentials& who;
    std::string subject, error, description, says;
  };
  const std::vector<one> cases{
      {*account, "ann@example.com", "unauthorized_client", "Client is unauthorized to retrieve access tokens using this method",
       "client ID 1234567890 with exactly these scopes: https://www.googleapis.com/auth/drive.readonly"},
      {*account, "ann@example.com", "invalid_grant", "Invalid email or User ID", "ann@example.com"},
      {*account, {}, "unauthorized_client", "", "check in the Google Cloud console"},
      {*account, {}, "invalid_grant", "Invalid grant: account not found", "deleted or disabled"},
      {*account, {}, "invalid_grant", "Invalid JWT Signature.", "create a new key"},
      {*account, {}, "invalid_scope", "x", "exactly these"},
      {*user, {}, "invalid_grant", "Token has been expired or revoked.", "revoked or has expired"},
      {*user, {}, "invalid_grant", "Bad Request", "log in again"},
      {*user, {}, "invalid_grant", "Account has been deleted", "deleted or disabled"},
      {*user, {}, "invalid_client", "The OAuth client was not found.", "download the client's file"},
      {*user, {}, "deleted_client", "", "download the client's file"},
      {*user, {}, "invalid_scope", "Some requested scopes were invalid", "tick every box"},
      {*user, {}, "admin_policy_enforced", "", "administrator"},
  };
  for (const auto& [who, subject, error, description, says] : cases) {
    const auto reply = error_of(error, description);
    const auto got = explain_rejection(
        400, reply.body, {who, "the file that `credentials` names", {}, subject, {hondana::google::scope::drive_readonly}});
    EXPECT_EQ(got.error_code, error);
    EXPECT_EQ(got.reason.code, errc::unauthorized);
    EXPECT_TRUE(got.is_final);
    EXPECT_NE(got.reason.public_text.find(says), std::string::npos) << got.reason.public_text;
    EXPECT_NE(got.reason.public_text.find("the file that `credentials` names"), std::string::npos);
    EXPECT_NE(got.reason.private_text.find("status 400"), std::string::npos);
  }
  const auto rapt = explain_rejection(
      400,
      R"~({"error":"invalid_grant","error_description":"reauth related error (invalid_rapt)","error_subtype":"invalid_rapt"})~",
      {*user, "it", {}, {}, {}});
  EXPECT_NE(rapt.reason.public_text.find("a new login every few hours"), std::string::npos);
  for (const auto& body : {std::string("<html>"), std::string(100'000, 'x'), std::string(), std::string("\xff\xfe"),
                           std::string(R"({"error":7})"), std::string("[[[[")}) {
    EXPECT_EQ(explain_rejection(400, body, {*user, "it", {}, {}, {}}).reason.code, errc::protocol_error);
    EXPECT_TRUE(explain_rejection(500, body, {*user, "it", {}, {}, {}}).is_transient);
  }
}

TEST(google_dates, are_of_one_form) {
  using hondana::google::parse_http_date;
  EXPECT_EQ(parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT")->time_since_epoch().count(), 784'111'777);
  for (const auto* bad : {"", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "Sun, 31 Feb 1994 08:49:37 GMT",
                          "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 06 Nov 1994 08:-1:37 GMT", "Sun, 06 Nov 1994 08:49:37 UTC",
                          "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 nov 1994 08:49:37 GMT"})
    EXPECT_FALSE(parse_http_date(bad)) << bad;
}

}  // namespace
