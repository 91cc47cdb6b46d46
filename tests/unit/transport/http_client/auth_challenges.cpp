/// What a server says it wants, taken apart.
#include <string>

#include <gtest/gtest.h>

#include "transport/http_client/response_head.hpp"

namespace {

using hondana::transport::http_client::parse_challenges;
using hondana::transport::http_client::requests_more_scopes;

TEST(auth_challenges, schemes_and_parameters_are_told_apart) {
  const auto all = parse_challenges(
      {R"(Negotiate, NTLM abc==, Basic realm="a, \"b\"" , Bearer Error = "invalid_token" ,scope="x y", Digest)",
       R"(bearer a=b)"});
  ASSERT_EQ(all.size(), 6u);
  EXPECT_EQ(all[0].scheme, "negotiate");
  EXPECT_EQ(all[1].scheme, "ntlm");
  EXPECT_TRUE(all[1].parameters.empty());
  EXPECT_EQ(all[2].parameter("realm"), "a, \"b\"");
  EXPECT_EQ(all[3].scheme, "bearer");
  EXPECT_EQ(all[3].parameter("error"), "invalid_token");
  EXPECT_EQ(all[3].parameter("scope"), "x y");
  EXPECT_EQ(all[3].parameter("realm"), "");
  EXPECT_EQ(all[4].scheme, "digest");
  EXPECT_EQ(all[5].parameter("a"), "b");
}

TEST(auth_challenges, what_is_malformed_is_skipped_and_endless_ones_are_cut) {
  for (const std::string bad : {"", ",,,", "=", "Bearer error=\"insuff", "Bearer =x", "Bearer \x01 error=insufficient_scope",
                                "\"Bearer error=insufficient_scope\"", "error=\"insufficient_scope\""})
    EXPECT_FALSE(requests_more_scopes({bad})) << bad;
  EXPECT_TRUE(requests_more_scopes({"=, Bearer error=insufficient_scope"}));
  std::string many = "Bearer ";
  for (int i = 0; i < 100; ++i) many += "a=b, ";
  for (int i = 0; i < 100; ++i) many += "S x=y, ";
  const auto all = parse_challenges({many});
  EXPECT_LE(all.size(), 32u);
  EXPECT_LE(all.at(0).parameters.size(), 32u);
}

TEST(auth_challenges, only_a_bearer_challenge_of_insufficient_scope_asks_for_more) {
  EXPECT_TRUE(requests_more_scopes({"Basic realm=x", "BEARER ERROR=insufficient_scope"}));
  EXPECT_FALSE(requests_more_scopes({"DPoP error=insufficient_scope"}));
  EXPECT_FALSE(requests_more_scopes({"Bearer error=invalid_token"}));
  EXPECT_FALSE(requests_more_scopes({"Bearer scope=\"insufficient_scope\""}));
}

}  // namespace
