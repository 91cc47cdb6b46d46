/// Servers that go by what a client is connected with, and take no tokens.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hondana/authenticators.hpp>

#include "unit/transport/http_server/client.hpp"
#include "unit/transport/http_server/protected_requests.hpp"
#include "unit/transport/tls/certificates.hpp"

namespace {

using hondana_test::ask;
using hondana_test::bearer;
using hondana_test::challenge_of;
using hondana_test::client;
using hondana_test::guarded;
using hondana_test::post;
using hondana_test::protected_post;
using hondana_test::who;
using testing::HasSubstr;
using testing::Not;

TEST(callers_by_connection, are_not_sent_looking_for_tokens) {
  guarded with;
  with.clerk->takes = false;
  with.clerk->about = std::make_shared<hondana::protected_resource>();
  with.clerk->always_says = hondana::auth_rejection{401, {}, "show a client certificate", {"read"}, {}};
  const auto got = ask(with, protected_post("alice"));
  EXPECT_EQ(got.status, 401);
  EXPECT_FALSE(got.fields.contains("www-authenticate")) << challenge_of(got);
  EXPECT_THAT(got.body, HasSubstr("this server accepts no tokens"));
  EXPECT_THAT(got.body, HasSubstr("Required: show a client certificate."));
  EXPECT_THAT(got.body, Not(HasSubstr("Bearer")));
  with.clerk->always_says = hondana::auth_rejection{403, {}, "not you", {}, {}};
  EXPECT_EQ(challenge_of(ask(with, protected_post("alice"))), "");
}

TEST(callers_by_connection, are_told_so_too_where_the_authenticator_has_no_words) {
  guarded with;
  with.clerk->takes = false;
  const auto got = ask(with, post(who));
  EXPECT_EQ(got.status, 401);
  EXPECT_EQ(challenge_of(got), "");
  EXPECT_THAT(got.body, HasSubstr("for example by a client certificate"));
  EXPECT_THAT(got.body, Not(HasSubstr("Bearer")));
}

TEST(callers_by_connection, that_write_a_token_into_the_url_are_not_told_to_send_it_otherwise) {
  guarded with;
  with.clerk->takes = false;
  auto request = post(who);
  request.replace(request.find("/mcp"), 4, "/mcp?access_token=hush");
  const auto got = ask(with, request);
  EXPECT_EQ(got.status, 400);
  EXPECT_EQ(challenge_of(got), "");
  EXPECT_THAT(got.body, HasSubstr("this server accepts no tokens"));
  EXPECT_THAT(got.body, Not(HasSubstr("Bearer")));
}

}  // namespace
