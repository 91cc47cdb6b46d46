/// Where servers publish what they say of themselves.
#include "base/uri/web_url.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace {

using hondana::uri::issuer_metadata_urls;

TEST(issuer_metadata, is_looked_for_where_the_specification_says) {
  EXPECT_EQ(issuer_metadata_urls("https://a.example/tenant1"),
            (std::vector<std::string>{"https://a.example/.well-known/oauth-authorization-server/tenant1",
                                      "https://a.example/.well-known/openid-configuration/tenant1",
                                      "https://a.example/tenant1/.well-known/openid-configuration"}));
  const std::vector<std::string> plain{"https://a.example:8443/.well-known/oauth-authorization-server",
                                       "https://a.example:8443/.well-known/openid-configuration"};
  EXPECT_EQ(issuer_metadata_urls("https://a.example:8443"), plain);
  EXPECT_EQ(issuer_metadata_urls("https://a.example:8443/"), plain);
}

}  // namespace
