/// Tokens: which requests say them, and what becomes of refusals.
#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "transport/http_client/response_head.hpp"
#include "unit/transport/http_client/protected_talk.hpp"
#include "unit/transport/http_client/set_variable.hpp"

namespace {

using hondana::errc;
using hondana_test::answering;
using hondana_test::asking;
using hondana_test::call;
using hondana_test::gives;
using hondana_test::guarded_by;
using hondana_test::heard_request;
using hondana_test::kept_words;
using hondana_test::protected_talk;
using hondana_test::scripted_connection;
using hondana_test::scripted_server;
using hondana_test::scripted_tokens;
using hondana_test::set_variable;
using hondana_test::wants_scope;

TEST(http_tokens, the_token_at_hand_goes_with_each_request) {
  protected_talk with(guarded_by("first"), "first", gives({}));
  with.channel->send(call(1));
  ASSERT_TRUE(with.heard.ending_of(1));
  with.channel->send(call(2));
  ASSERT_TRUE(with.heard.ending_of(2));
  EXPECT_EQ(with.heard.messages(2).size(), 2u);
  for (const auto& one : with.server.requests(2)) EXPECT_EQ(one.field("authorization"), "Bearer first");
  EXPECT_TRUE(with.tokens->asked(0).empty());
}

TEST(http_tokens, a_proxy_of_the_environment_does_not_get_to_read_them) {
  const scripted_server proxy(
      [](const heard_request&, scripted_connection& to) { return to.answer(502, "text/plain", "I am the proxy"); });
  const set_variable there("http_proxy", proxy.url(""));
  protected_talk with(guarded_by("first"), "first", gives({}), false, std::nullopt);
  with.channel->send(call(1));
  ASSERT_TRUE(with.heard.ending_of(1));
  EXPECT_EQ(with.heard.messages(1).size(), 1u);
  EXPECT_EQ(with.server.connections(), 1u);
  EXPECT_EQ(proxy.connections(), 0u);
}

TEST(http_tokens, what_the_server_says_of_a_token_is_told_with_why_there_is_no_other) {
  const auto refusing = [](std::string body, std::string fields) {
    return [=](const heard_request&, scripted_connection& to) { return to.answer(401, "application/json", body, fields); };
  };
  protected_talk by_challenge(
      refusing("no", "WWW-Authenticate: Bearer error=\"invalid_token\", error_description=\"It is for another.\"\r\n"), "first",
      gives({}));
  by_challenge.channel->send(call(1));
  const auto refused = by_challenge.heard.ending_of(1);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->reason.public_text, "nobody logs in any more; the server says: It is for another.");
  protected_talk by_body(refusing(R"({"jsonrpc":"2.0","error":{"code":-32600,"message":"Show a certificate."}})", ""), "first",
                         gives({}));
  by_body.channel->send(call(1));
  const auto unknown = by_body.heard.ending_of(1);
  ASSERT_TRUE(unknown);
  EXPECT_EQ(unknown->reason.public_text, "nobody logs in any more; the server says: Show a certificate.");
}

// attacks: a server that sends back the token it was sent
TEST(http_tokens, a_reason_with_the_token_in_it_is_told_without) {
  const auto echo = [](const heard_request& asked, scripted_connection& to) {
    return to.answer(401, "application/json", R"({"error":{"message":"no )" + asked.field("authorization") + R"("}})");
  };
  protected_talk with(echo, "first-token", gives({}));
  with.channel->send(call(1));
  const auto refused = with.heard.ending_of(1);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->reason.public_text, "nobody logs in any more; the server says: no Bearer …");
  using hondana::transport::http_client::extract_reason;
  const std::string secret(40, 's');
  const auto cut = extract_reason({"Bearer error_description=\"" + std::string(290, 'x') + secret + secret + '"'}, "", secret);
  EXPECT_EQ(cut, std::string(290, 'x') + "……");
}

TEST(http_tokens, reasons_of_refusals_are_found_and_cut) {
  using hondana::transport::http_client::extract_reason;
  EXPECT_EQ(extract_reason({"Basic realm=\"x\"", "Bearer error_description=\"one\""}, R"({"error":{"message":"two"}})"), "one");
  EXPECT_EQ(extract_reason({}, R"({"error":{"message":"two"}})"), "two");
  for (const auto* none : {"", "no", "[]", R"({"error":"invalid_token"})", R"({"error":{"message":1}})", "{}"})
    EXPECT_EQ(extract_reason({"Bearer"}, none), "") << none;
  EXPECT_EQ(extract_reason({"Bearer error_description=\"" + std::string(1000, 'x') + '"'}, "").size(), 300u);
}

TEST(http_tokens, a_401_is_answered_by_a_new_token_and_the_same_request) {
  protected_talk with(guarded_by("second"), "first", gives({"second"}));
  auto message = call(1);
  message.headers = {{"Mcp-Method", "ping"}};
  // Large enough to fill sockets.
  message.text = asking(1) + std::string(1u << 20, ' ');
  with.channel->send(std::move(message));
  ASSERT_TRUE(with.heard.ending_of(1));
  ASSERT_EQ(with.heard.messages(1).size(), 1u);
  EXPECT_EQ(with.heard.messages(1)[0].text, answering(1));
  const auto asked = with.server.requests(2);
  ASSERT_EQ(asked.size(), 2u);
  EXPECT_EQ(asked[0].body, asked[1].body);
  EXPECT_EQ(asked[1].field("authorization"), "Bearer second");
  EXPECT_EQ(asked[1].field("mcp-method"), "ping");
  // The refused answer was read to its end.
  EXPECT_EQ(with.server.connections(), 1u);
  const auto why = with.tokens->asked(1).at(0);
  EXPECT_EQ(why.url, with.server.url());
  EXPECT_EQ(why.status, 401);
  EXPECT_EQ(why.token, "first");
  EXPECT_EQ(why.attempt, 1);
  ASSERT_EQ(why.challenges.size(), 1u);
  EXPECT_EQ(why.challenges[0], "Bearer resource_metadata=\"https://a.example/m\", scope=\"read\"");
}

TEST(http_tokens, where_there_is_none_at_hand_one_is_obtained_before_anything_is_sent) {
  protected_talk with(guarded_by("first"), std::nullopt, gives({"first"}));
  with.channel->send(call(1));
  ASSERT_TRUE(with.heard.ending_of(1));
  EXPECT_EQ(with.server.requests(1).size(), 1u);
  const auto why = with.tokens->asked(1).at(0);
  EXPECT_EQ(why.status, std::nullopt);
  EXPECT_EQ(why.token, std::nullopt);
  EXPECT_TRUE(why.challenges.empty());
}

TEST(http_tokens, an_empty_token_sends_none_until_the_server_wants_one) {
  protected_talk with(guarded_by("first"), "", gives({"first"}));
  with.channel->send(call(1));
  ASSERT_TRUE(with.heard.ending_of(1));
  const auto asked = with.server.requests(2);
  EXPECT_FALSE(asked.at(0).fields.contains("authorization"));
  EXPECT_EQ(asked.at(1).field("authorization"), "Bearer first");
}

TEST(http_tokens, a_403_for_a_lack_of_scopes_steps_up_and_any_other_is_told) {
  const auto plays = [](const heard_request& asked, scripted_connection& to) {
    if (asked.field("mcp-name") == "never") return to.answer(403, "text/plain", "", "WWW-Authenticate: Bearer\r\n");
    if (asked.field("authorization") != "Bearer more") return to.answer(403, "text/plain", "", wants_scope);
    return to.answer(200, "application/json", answering(1));
  };
  protected_talk with(plays, "less", gives({"more"}));
  with.channel->send(call(1));
  ASSERT_TRUE(with.heard.ending_of(1));
  EXPECT_EQ(with.heard.messages(1).size(), 1u);
  EXPECT_EQ(with.tokens->asked(1).at(0).status, 403);
  auto other = call(2);
  other.headers = {{"Mcp-Name", "never"}};
  with.channel->send(std::move(other));
  const auto how = with.heard.ending_of(2);
  ASSERT_TRUE(how);
  EXPECT_EQ(how->http_status, 403);
  EXPECT_EQ(how->reason.code, errc::unauthorized);
  EXPECT_EQ(with.tokens->asked(1).size(), 1u);
}

TEST(http_tokens, a_server_that_refuses_for_ever_is_asked_four_times) {
  protected_talk with(guarded_by("never", std::string(200'000, 'x')), "a", gives({"b", "c", "d", "e", "f"}));
  with.channel->send(call(1));
  const auto how = with.heard.ending_of(1);
  ASSERT_TRUE(how);
  EXPECT_EQ(how->http_status, 401);
  EXPECT_EQ(how->reason.code, errc::unauthorized);
  EXPECT_EQ(how->challenges.size(), 1u);
  EXPECT_EQ(with.server.requests("POST", 4).size(), 4u);
  const auto asked = with.tokens->asked(3);
  ASSERT_EQ(asked.size(), 3u);
  EXPECT_EQ(asked[2].attempt, 3);
  EXPECT_EQ(asked[2].token, "c");
}

TEST(http_tokens, what_a_source_says_why_not_is_the_failure_of_the_call) {
  protected_talk with(guarded_by("never"), "secret-token", gives({}));
  with.channel->send(call(1));
  const auto how = with.heard.ending_of(1);
  ASSERT_TRUE(how);
  EXPECT_EQ(how->http_status, 0);
  EXPECT_EQ(how->reason.code, errc::unauthorized);
  EXPECT_EQ(how->reason.public_text, "nobody logs in any more");
}

TEST(http_tokens, a_token_that_would_be_more_than_a_line_is_sent_to_nobody) {
  protected_talk with(guarded_by("x"), "x\r\nEvil: yes", gives({}));
  with.channel->send(call(1));
  const auto how = with.heard.ending_of(1);
  ASSERT_TRUE(how);
  EXPECT_EQ(how->reason.code, errc::unauthorized);
  EXPECT_EQ(how->reason.public_text.find("Evil"), std::string::npos) << how->reason.public_text;
  EXPECT_EQ(with.server.connections(), 0u);
}

TEST(http_tokens, the_token_goes_to_no_other_origin) {
  scripted_server other(guarded_by("first"));
  const auto elsewhere = "Location: " + other.url() + "\r\n";
  protected_talk with([&](const heard_request&, scripted_connection& to) { return to.answer(307, "", "", elsewhere); }, "first",
                      gives({}));
  with.channel->send(call(1));
  const auto how = with.heard.ending_of(1);
  ASSERT_TRUE(how);
  EXPECT_EQ(how->reason.code, errc::protocol_error);
  EXPECT_EQ(other.connections(), 0u);
}

TEST(http_tokens, a_redirect_within_the_origin_keeps_the_token) {
  protected_talk with(
      [](const heard_request& asked, scripted_connection& to) {
        if (asked.target == "/mcp") return to.answer(308, "", "", "Location: /mcp/\r\n");
        return guarded_by("second")(asked, to);
      },
      "first", gives({"second"}));
  with.channel->send(call(1));
  ASSERT_TRUE(with.heard.ending_of(1));
  EXPECT_EQ(with.heard.messages(1).size(), 1u);
  const auto asked = with.server.requests(3);
  ASSERT_EQ(asked.size(), 3u);
  EXPECT_EQ(asked[0].field("authorization"), "Bearer first");
  EXPECT_EQ(asked[1].field("authorization"), "Bearer first");
  EXPECT_EQ(asked[2].field("authorization"), "Bearer second");
}

TEST(http_tokens, an_authorization_header_beside_a_source_is_refused) {
  hondana::http_target target;
  target.url = "http://127.0.0.1:1/mcp";
  target.headers = {{"AUTHORIZATION", "Bearer x"}};
  target.tokens = std::make_shared<scripted_tokens>("y", gives({}));
  kept_words heard;
  const auto made = hondana::transport::http_client::make_http(target, heard, {}, {});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, errc::invalid_argument);
  EXPECT_NE(made.error().public_text.find("exclude each other"), std::string::npos);
}

}  // namespace
