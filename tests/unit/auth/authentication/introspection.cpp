/// Tokens that the authorization server is asked about.
#include "auth/authentication/authorization_server.hpp"

#include <gtest/gtest.h>

#include <future>

#include "auth/authentication/resource_server.hpp"
#include "deadline.hpp"
#include "unit/auth/authentication/issuer.hpp"

namespace {

using hondana::auth_result;
using hondana::errc;
using hondana::fail;
using hondana::result;
using hondana::value;
using hondana::authentication::read_introspection;
using hondana::authentication::resource_server;
using hondana::transport::http_client::small_request;
using hondana::transport::http_client::small_response;
using hondana_test::introspection_url;
using hondana_test::issuer;
using hondana_test::issuer_url;
using hondana_test::keys_url;
using hondana_test::resource_url;
using hondana_test::soon;
using hondana_test::still_time;
using hondana_test::with_token;

class introspected_tokens : public testing::Test {
 protected:
  hondana::oauth_authenticator_options options(bool is_for_all = false) {
    hondana::oauth_authenticator_options out;
    out.issuer = issuer_url;
    out.resource = resource_url;
    out.introspection = hondana::introspection_options{introspection_url, "shelf", "s3cret/+", is_for_all};
    out.log = [this](std::string_view line) { log_ += std::string(line) + '\n'; };
    return out;
  }
  auth_result ask(const std::string& token) {
    if (auto said = server_.try_authenticate(with_token(token))) return std::move(*said);
    return server_.authenticate(with_token(token), soon());
  }
  void says(const std::string& text, int status = 200) { issuer_.serve(introspection_url, status, text); }
  void expect_refused(const std::string& word) {
    time_.pass(resource_server::rejection_ttl);
    const auto said = ask("opaque");
    ASSERT_FALSE(said);
    EXPECT_EQ(said.error().status, 401);
    EXPECT_EQ(said.error().error, "invalid_token");
    EXPECT_NE(said.error().description.find(word), std::string::npos) << said.error().description;
  }
  void expect_unknown() {
    const auto said = ask("opaque");
    ASSERT_FALSE(said);
    EXPECT_EQ(said.error().status, 503);
    EXPECT_TRUE(said.error().retry_after);
    EXPECT_EQ(log_.find("opaque"), std::string::npos) << log_;
    EXPECT_EQ(log_.find("s3cret"), std::string::npos) << log_;
  }

  still_time time_;
  issuer issuer_;
  std::string log_;
  resource_server server_{options(), issuer_.caller(), time_.clocks()};
};

TEST_F(introspected_tokens, are_asked_about_with_our_credentials_and_remembered_for_half_a_minute) {
  says(R"({"active":true,"aud":"https://shelf.example.com/mcp","sub":"alice","scope":"read","client_id":"editor"})");
  const auto said = ask("opaque-1");
  ASSERT_TRUE(said) << said.error().description;
  EXPECT_EQ(said->identity, "https://login.example.com#alice");
  EXPECT_EQ(said->auth_info->scopes, std::vector<std::string>{"read"});
  const auto sent = issuer_.requests().at(0);
  EXPECT_EQ(sent.body, "token=opaque-1&token_type_hint=access_token");
  // base64 of "shelf:s3cret%2F%2B"
  EXPECT_EQ(sent.headers.at(2).second, "Basic c2hlbGY6czNjcmV0JTJGJTJC");
  time_.pass(std::chrono::seconds(29));
  EXPECT_TRUE(*server_.try_authenticate(with_token("opaque-1")));
  EXPECT_EQ(issuer_.asked(introspection_url), 1u);
  says(R"({"active":false})");
  time_.pass(std::chrono::seconds(1));
  EXPECT_FALSE(server_.try_authenticate(with_token("opaque-1")));
  EXPECT_FALSE(ask("opaque-1"));
  EXPECT_EQ(issuer_.asked(introspection_url), 2u);
}

TEST_F(introspected_tokens, that_are_not_active_or_for_others_are_refused) {
  says(R"({"active":false,"sub":"alice"})");
  expect_refused("not active");
  says(R"({"active":true,"sub":"alice","aud":"https://other.example.com"})");
  expect_refused("another audience");
  says(R"({"active":true,"aud":"https://shelf.example.com/mcp","sub":"alice","iss":"https://evil.example.com"})");
  expect_refused("was not issued by");
  says(R"({"active":true,"aud":"https://shelf.example.com/mcp","sub":"alice","exp":)" + std::to_string(time_.now() - 60) + "}");
  expect_refused("expired");
  says(R"({"active":true,"aud":"https://shelf.example.com/mcp"})");
  expect_refused("sub");
}

// requires: */authorization.audience
TEST_F(introspected_tokens, whose_audience_is_not_said_are_refused_unless_the_operator_takes_them) {
  says(R"({"active":true,"sub":"alice","client_id":"editor"})");
  expect_refused("the audience of the token");
  says(R"({"active":true,"sub":"alice","aud":null})");
  expect_refused("another audience");
  auto lenient = options();
  lenient.introspection->audience_is_optional = true;
  resource_server server(lenient, issuer_.caller(), time_.clocks());
  EXPECT_FALSE(server.authenticate(with_token("opaque"), soon()));
  says(R"({"active":true,"sub":"alice","client_id":"editor"})");
  EXPECT_TRUE(server.authenticate(with_token("another"), soon()));
}

TEST_F(introspected_tokens, of_other_kinds_are_refused) {
  const auto with = [this](const std::string& kind) {
    says(R"({"active":true,"sub":"alice","aud":"https://shelf.example.com/mcp",)" + kind + '}');
  };
  for (const std::string kind : {R"("token_type":"refresh_token")", R"("typ":"Refresh")", R"("token_use":"id")",
                                 R"("token_type":"Bearer","typ":"ID")", R"("token_type":"DPoP")", R"("token_type":7)"}) {
    with(kind);
    expect_refused("not an access token");
  }
  int number = 0;
  for (const std::string kind : {R"("token_type":"Bearer")", R"("token_type":"access_token","typ":"at+jwt")",
                                 R"("typ":"Bearer","token_use":"access")"}) {
    with(kind);
    EXPECT_TRUE(ask("good-" + std::to_string(++number))) << kind;
  }
}

TEST_F(introspected_tokens, may_have_two_dots) {
  says(R"({"active":true,"aud":"https://shelf.example.com/mcp","sub":"alice"})");
  EXPECT_TRUE(ask("v1.opaque.token"));
  EXPECT_TRUE(ask("W10.e30.x"));  // its first part is [], no header
  EXPECT_EQ(issuer_.asked(introspection_url), 2u);
  // What says that it is signed is judged as such, well or not.
  EXPECT_FALSE(ask("eyJhbGciOiJub25lIn0.e30."));
  EXPECT_EQ(issuer_.asked(introspection_url), 2u);
}

TEST_F(introspected_tokens, are_remembered_no_longer_than_until_they_expire) {
  says(R"({"active":true,"aud":"https://shelf.example.com/mcp","sub":"alice","exp":)" + std::to_string(time_.now() + 5) + "}");
  ASSERT_TRUE(ask("opaque"));
  time_.pass(std::chrono::seconds(6));
  EXPECT_FALSE(server_.try_authenticate(with_token("opaque")));
}

TEST_F(introspected_tokens, hold_for_half_a_minute) {
  says(R"({"active":true,"sub":"alice","aud":"https://shelf.example.com/mcp"})");
  const auto said = ask("opaque");
  ASSERT_TRUE(said) << said.error().description;
  EXPECT_EQ(said->expires_at - time_.clocks().steady(), resource_server::introspection_ttl);
}

TEST_F(introspected_tokens, that_garbage_is_said_about_are_answered_with_try_later) {
  for (const std::string text : {"", "garbage", "[]", "{}", R"({"active":"true"})", R"({"active":1})", R"({"active":true)"}) {
    says(text);
    expect_unknown();
  }
  says(R"({"active":true,"aud":"https://shelf.example.com/mcp","sub":")" + std::string(70'000, 'a') + "\"}");
  expect_unknown();
}

TEST_F(introspected_tokens, that_the_server_fails_or_hangs_about_are_answered_with_try_later) {
  says("", 500);
  expect_unknown();
  says("", 401);
  expect_unknown();
  EXPECT_NE(log_.find("client id and secret"), std::string::npos) << log_;
  issuer_.serve(introspection_url, [](const small_request& asked) -> result<small_response> {
    EXPECT_LE(asked.timeout, std::chrono::seconds(10));
    return fail(errc::timed_out, "no answer");
  });
  expect_unknown();
  says(R"({"active":true,"aud":"https://shelf.example.com/mcp","sub":"alice"})");
  EXPECT_TRUE(ask("opaque"));
  EXPECT_NE(log_.find("again"), std::string::npos) << log_;
}

TEST_F(introspected_tokens, are_those_that_keys_cannot_check_unless_all_are_to_be) {
  says(R"({"active":true,"aud":"https://shelf.example.com/mcp","sub":"by asking"})");
  const auto jwt =
      issuer_.sign("first", {{"iss", issuer_url}, {"aud", resource_url}, {"sub", "by key"}, {"exp", time_.now() + 60}});
  EXPECT_EQ(ask(jwt)->identity, "https://login.example.com#by key");
  EXPECT_EQ(issuer_.asked(introspection_url), 0u);
  resource_server asking(options(true), issuer_.caller(), time_.clocks());
  EXPECT_EQ(asking.authenticate(with_token(jwt), soon())->identity, "https://login.example.com#by asking");
}

TEST_F(introspected_tokens, that_were_refused_are_not_asked_about_again_for_a_few_seconds) {
  says(R"({"active":false})");
  EXPECT_FALSE(ask("bad"));
  for (int turn = 0; turn < 100; ++turn) {
    const auto said = server_.try_authenticate(with_token("bad"));  // takes no thread
    ASSERT_TRUE(said && !*said);
    EXPECT_EQ(said->error().error, "invalid_token");
  }
  EXPECT_EQ(issuer_.asked(introspection_url), 1u);
  time_.pass(resource_server::rejection_ttl);
  EXPECT_FALSE(server_.try_authenticate(with_token("bad")));
  // What could not be found out is no refusal.
  says("", 500);
  EXPECT_EQ(ask("other").error().status, 503);
  says(R"({"active":true,"aud":"https://shelf.example.com/mcp","sub":"alice"})");
  EXPECT_TRUE(ask("other"));
}

TEST_F(introspected_tokens, that_several_requests_send_at_once_are_asked_about_once) {
  std::promise<void> begun;
  std::promise<void> go_on;
  issuer_.serve(introspection_url, [&, going = go_on.get_future().share()](const small_request&) -> result<small_response> {
    begun.set_value();  // a second time throws
    going.wait();
    return small_response{
        200, "application/json", R"({"active":true,"aud":"https://shelf.example.com/mcp","sub":"a"})", {}, {}};
  });
  const auto ask_for_one = [this] { return server_.authenticate(with_token("opaque"), soon()); };
  auto first = std::async(std::launch::async, ask_for_one);
  begun.get_future().wait();
  auto second = std::async(std::launch::async, ask_for_one);
  go_on.set_value();
  EXPECT_TRUE(first.get());
  EXPECT_TRUE(second.get());
  EXPECT_EQ(issuer_.asked(introspection_url), 1u);
}

TEST(one_a_token, waits_for_who_is_inside_with_the_same_and_for_nobody_else) {
  hondana::authentication::single_flight turns;
  const auto one = hondana::bytes::sha256_of("one");
  const auto other = hondana::bytes::sha256_of("other");
  ASSERT_TRUE(turns.enter(one, soon()));
  EXPECT_TRUE(turns.enter(other, soon()));
  EXPECT_FALSE(turns.enter(one, std::chrono::steady_clock::now()));
  auto waits = std::async(std::launch::async, [&] { return turns.enter(one, soon()); });
  EXPECT_TRUE(hondana_test::eventually([&] { return turns.waiting() == 1; }));
  turns.leave(one);
  EXPECT_FALSE(waits.get());
  EXPECT_TRUE(turns.enter(one, soon()));
}

TEST_F(introspected_tokens, of_our_own_files_are_told_to_nobody) {
  says(R"({"active":true,"aud":"https://shelf.example.com/mcp","sub":"alice"})");
  const auto said = ask("hondana_that-was-revoked");
  ASSERT_FALSE(said);
  EXPECT_EQ(said.error().error, "invalid_token");
  EXPECT_TRUE(issuer_.requests().empty());
}

TEST(introspection_answer, is_an_object_that_says_whether_it_is_active) {
  EXPECT_TRUE(read_introspection(R"({"active":true})"));
  EXPECT_EQ(read_introspection(R"({"active":null})").error().code, errc::protocol_error);
  EXPECT_EQ(read_introspection("null").error().code, errc::protocol_error);
}

}  // namespace
